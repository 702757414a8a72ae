// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The record of test/objects/src/main/bpf/args12.bpf.c, filled in through libbpf's own headers. Compiled by the test,
// with -DSECTION="usdt" or a section that names a probe.
#include <stdbool.h>
#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct args12_event {
    __u64 cookie;
    __s32 arg_count;
    __u32 pid;
    __s64 results[12];
    __u64 values[12];
    __u64 time_ns;
};

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 1 << 16);
} events SEC(".maps");

// The namespace that the test counts processes in: see bpf4j/pidns.h.
const volatile __u64 pidns_device = 0;
const volatile __u64 pidns_inode = 0;

SEC(SECTION)
int libbpf_args12(struct pt_regs *ctx) {
    struct args12_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);

    struct bpf_pidns_info ids = {};

    if (!event) {
        return 0;
    }
    bpf_get_ns_current_pid_tgid(pidns_device, pidns_inode, &ids, sizeof(ids));
    event->cookie = bpf_usdt_cookie(ctx);
    event->arg_count = bpf_usdt_arg_cnt(ctx);
    event->pid = ids.tgid;
    event->time_ns = bpf_ktime_get_ns();
    for (int n = 0; n < 12; n++) {
        long value = 0;

        event->results[n] = bpf_usdt_arg(ctx, n, &value);
        event->values[n] = value;
    }
    bpf_ringbuf_submit(event, 0);
    return 0;
}
