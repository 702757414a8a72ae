/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Work that is put off to a thread of the kernel, where it may sleep. Linux 6.10. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct bpf_wq {
	__u64 __opaque[2];
} __attribute__((aligned(8)));

struct later {
	__u64 magic;
	struct bpf_wq work;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, int);
	__type(value, struct later);
} queue SEC(".maps");

extern int bpf_wq_init(struct bpf_wq *work, void *map, unsigned int flags) __ksym;
extern int bpf_wq_start(struct bpf_wq *work, unsigned int flags) __ksym;
extern int bpf_wq_set_callback_impl(struct bpf_wq *work, int (*callback)(void *map, int *key, void *value),
				    unsigned int flags, void *none) __ksym __weak;
/* Since Linux 7.0, where the verifier adds the last argument. */
extern int bpf_wq_set_callback(struct bpf_wq *work, int (*callback)(void *map, int *key, void *value),
			       unsigned int flags) __ksym __weak;

REPORTS

static int runs_later(void *map, int *key, void *value)
{
	struct later *later = value;

	report(later->magic == 815 ? 0 : __LINE__, 0);
	return 0;
}

SEC("tc")
int work_queue(struct __sk_buff *skb)
{
	int key = 0;
	struct later *later = bpf_map_lookup_elem(&queue, &key);

	CHECK(later);
	later->magic = 815;
	CHECK(!bpf_wq_init(&later->work, &queue, 0));
	if (bpf_wq_set_callback)
		CHECK(!bpf_wq_set_callback(&later->work, runs_later, 0));
	else
		CHECK(!bpf_wq_set_callback_impl(&later->work, runs_later, 0, NULL));
	CHECK(!bpf_wq_start(&later->work, 0));
	return 0;
}
