/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Programs at security hooks. They let everything pass. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

REPORTS

SEC("lsm/file_open")
int opens(__u64 *ctx)
{
	/* a file, and what programs before this one returned */
	return report(ctx[0] && (int)ctx[1] == 0 ? 0 : __LINE__, 0);
}

SEC("lsm.s/file_open")
int opens_sleeping(__u64 *ctx)
{
	return report(ctx[0] ? 0 : __LINE__, 0);
}

SEC("lsm_cgroup/socket_bind")
int binds_in_group(__u64 *ctx)
{
	return report(ctx[0] ? 0 : __LINE__, 1);
}
