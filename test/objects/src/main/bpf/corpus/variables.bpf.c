/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Variables of the kernel with their type. The kernel needs its table of symbols to have variables, too. */
#include <bpf4j/corpus.h>
#include <bpf4j/core.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

extern short CONFIG_NR_CPUS __kconfig;

struct rq {
	int cpu;
} __core;

/* Each processor has its own. */
extern const int bpf_prog_active __ksym;
extern const struct rq runqueues __ksym;
extern const int bpf4j_no_such_variable __ksym __weak;

SEC("syscall")
int variables(void *ctx)
{
	const struct rq *queue = bpf_per_cpu_ptr(&runqueues, 0);
	const int *active;

	CHECK(queue && queue->cpu == 0);
	queue = bpf_this_cpu_ptr(&runqueues);
	CHECK(queue->cpu >= 0 && queue->cpu < CONFIG_NR_CPUS);
	active = bpf_this_cpu_ptr(&bpf_prog_active);
	CHECK(*active >= 0);
	active = bpf_per_cpu_ptr(&bpf_prog_active, 0xffff);
	CHECK(!active);
	CHECK(!&bpf4j_no_such_variable);
	return 0;
}
