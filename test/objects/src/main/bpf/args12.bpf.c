/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * All twelve arguments of each USDT event with the result of reading each, so that a test can tell a
 * value of 0 from an argument that could not be read. Compiled twice, once per layout of the specs
 * (args12.bpf.o: 304 bytes, args12_208.bpf.o: 208 bytes).
 */
#include <bpf4j/usdt.h>
#include <bpf4j/check.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Little-endian on the machines we run on; 216 bytes. */
struct args12_event {
	__u64 cookie;      /*   0 */
	__s32 arg_count;   /*   8: or a negative errno */
	__u32 pid;         /*  12 */
	__s64 results[12]; /*  16: 0 or a negative errno */
	__u64 values[12];  /* 112 */
	__u64 time_ns;     /* 208 */
};

__u64 lost = 0;
/* Events per cookie would need a map; the total is enough to see that nothing was missed. */
__u64 events_seen = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

SEC("usdt")
int args12(struct pt_regs *ctx)
{
	struct __bpf_usdt_spec *spec;
	struct args12_event *event;

	if (!is_target())
		return 0;
	atomic_add(&events_seen, 1);
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		atomic_add(&lost, 1);
		return 0;
	}
	spec = usdt_spec(ctx);
	event->time_ns = bpf_ktime_get_ns();
	event->cookie = usdt_cookie(ctx);
	event->arg_count = usdt_arg_count(ctx);
	event->pid = current_ids().tgid;
	for (int n = 0; n < 12; n++) {
		__u64 value = 0;

		event->results[n] = usdt_arg_of(ctx, spec, n, &value);
		event->values[n] = value;
	}
	bpf_ringbuf_submit(event, 0);
	return 0;
}
