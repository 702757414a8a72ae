/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Externs that the loader fills in. CONFIG_* of every kind (bool, tristate, number, string, and one
 * that no kernel has, which is weak and therefore 0), and the LINUX_* that describe the kernel.
 * The values are copied to .bss, where the test compares them with what /proc says.
 */
#include <bpf4j/check.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* How the loader writes a tristate: the enum's name is what tells it apart from a number. */
enum libbpf_tristate { TRI_NO = 0, TRI_YES = 1, TRI_MODULE = 2 };

extern int LINUX_KERNEL_VERSION __kconfig;
extern const bool LINUX_HAS_BPF_COOKIE __weak __kconfig;
extern const bool LINUX_HAS_SYSCALL_WRAPPER __weak __kconfig;
extern bool CONFIG_BPF_SYSCALL __weak __kconfig;
extern enum libbpf_tristate CONFIG_NET __weak __kconfig;
extern int CONFIG_HZ __weak __kconfig;
extern char CONFIG_DEFAULT_HOSTNAME[16] __weak __kconfig;
extern int CONFIG_BPF4J_NO_SUCH_OPTION __weak __kconfig;

__u32 kernel_version = 0;
__u32 has_cookie = 2;
__u32 has_syscall_wrapper = 2;
__u32 bpf_syscall = 2;
__u32 net = 9;
__u32 hz = 0;
__u8 hostname_first = 0;
__s32 missing = -1;

SEC("uprobe")
int kconfig(struct pt_regs *ctx)
{
	if (!is_target())
		return 0;
	kernel_version = LINUX_KERNEL_VERSION;
	has_cookie = LINUX_HAS_BPF_COOKIE;
	has_syscall_wrapper = LINUX_HAS_SYSCALL_WRAPPER;
	bpf_syscall = CONFIG_BPF_SYSCALL;
	net = CONFIG_NET;
	hz = CONFIG_HZ;
	hostname_first = CONFIG_DEFAULT_HOSTNAME[0];
	missing = CONFIG_BPF4J_NO_SUCH_OPTION;
	atomic_add(&runs, 1);
	return 0;
}
