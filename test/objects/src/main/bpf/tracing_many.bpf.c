/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tracing programs for many functions by one link (Linux 7.2), and for entry and exit of one (Linux 7.0). They
 * count the calls of one process. All are optional.
 */
#include <bpf4j/check.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 entries = 0, exits = 0, both = 0, session = 0;

/* What the links said about the functions, one after the other. */
__u64 cookies = 0;

SEC("?fentry.multi/__x64_sys_getpgi*")
int on_entry(void *ctx)
{
	if (is_target()) {
		atomic_add(&entries, 1);
		cookies = cookies * 10 + bpf_get_attach_cookie(ctx);
	}
	return 0;
}

SEC("?fexit.multi/__x64_sys_getpgi*")
int on_exit(void *ctx)
{
	if (is_target())
		atomic_add(&exits, 1);
	return 0;
}

SEC("?fsession.multi/__x64_sys_getpgi*")
int on_both(void *ctx)
{
	if (is_target())
		atomic_add(&both, 1);
	return 0;
}

SEC("?fsession/__x64_sys_getpgid")
int on_session(void *ctx)
{
	if (is_target())
		atomic_add(&session, 1);
	return 0;
}

SEC("?fentry.multi.s/__x64_sys_getpgid")
int sleepable_on_entry(void *ctx)
{
	if (is_target())
		atomic_add(&entries, 1);
	return 0;
}

SEC("?fexit.multi.s/__x64_sys_getpgid")
int sleepable_on_exit(void *ctx)
{
	if (is_target())
		atomic_add(&exits, 1);
	return 0;
}

SEC("?fsession.multi.s/__x64_sys_getpgid")
int sleepable_on_both(void *ctx)
{
	if (is_target())
		atomic_add(&both, 1);
	return 0;
}

SEC("?fsession.s/__x64_sys_getpgid")
int sleepable_on_session(void *ctx)
{
	if (is_target())
		atomic_add(&session, 1);
	return 0;
}
