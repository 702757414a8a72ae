/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Externs that the loader fills in: the kernel's configuration and its symbols. Weak ones that no kernel has
 * are 0.
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The name is what tells it from a number. */
enum libbpf_tristate { TRI_NO = 0, TRI_YES = 1, TRI_MODULE = 2 };

extern int LINUX_KERNEL_VERSION __kconfig;
extern const bool LINUX_HAS_BPF_COOKIE __kconfig __weak;
extern const bool LINUX_HAS_SYSCALL_WRAPPER __kconfig __weak;
extern bool CONFIG_BPF_SYSCALL __kconfig;
extern char CONFIG_BPF_JIT __kconfig;
extern enum libbpf_tristate CONFIG_INET __kconfig;
extern int CONFIG_HZ __kconfig;
extern unsigned long long CONFIG_BASE_SMALL __kconfig __weak;
/* A number of 64 bits, which kernels for s390x may lack. */
extern unsigned long CONFIG_ILLEGAL_POINTER_VALUE __kconfig __weak;
extern short CONFIG_NR_CPUS __kconfig;
extern const char CONFIG_DEFAULT_HOSTNAME[32] __kconfig;
/* Cut to its size, with a NUL at the end. */
extern const char CONFIG_CC_VERSION_TEXT[4] __kconfig;
extern bool CONFIG_BPF4J_NO_SUCH_BOOL __kconfig __weak;
extern long CONFIG_BPF4J_NO_SUCH_NUMBER __kconfig __weak;
extern char CONFIG_BPF4J_NO_SUCH_STRING[10] __kconfig __weak;
extern enum libbpf_tristate CONFIG_BPF4J_NO_SUCH_TRISTATE __kconfig __weak;

extern const void _stext __ksym;
extern const void __start_BTF __ksym __weak;
extern const void bpf4j_no_such_symbol __ksym __weak;

bool has_syscall_wrapper = false;

SEC("syscall")
int kconfig(void *ctx)
{
	CHECK(LINUX_KERNEL_VERSION >= 0x050a00);
	/* Of x86-64, since 4.17. Not a condition, for libbpf can't tell where the kernel has no kprobes. */
	has_syscall_wrapper = LINUX_HAS_SYSCALL_WRAPPER;
	CHECK(LINUX_HAS_BPF_COOKIE == (LINUX_KERNEL_VERSION >= 0x050f00));
	CHECK(CONFIG_BPF_SYSCALL);
	CHECK(CONFIG_BPF_JIT == 'y');
	CHECK(CONFIG_INET == TRI_YES);
	CHECK(CONFIG_HZ == 100 || CONFIG_HZ == 250 || CONFIG_HZ == 300 || CONFIG_HZ == 1000);
	CHECK(CONFIG_BASE_SMALL <= 1);
	CHECK(CONFIG_ILLEGAL_POINTER_VALUE == 0xdead000000000000 ||
	      (LINUX_ELF_MACHINE == 22 && !CONFIG_ILLEGAL_POINTER_VALUE));
	CHECK(CONFIG_NR_CPUS >= 1);
	CHECK(CONFIG_DEFAULT_HOSTNAME[0] == '(');
	CHECK(CONFIG_DEFAULT_HOSTNAME[5] == ')');
	CHECK(CONFIG_DEFAULT_HOSTNAME[6] == 0);
	CHECK(CONFIG_CC_VERSION_TEXT[2] != 0);
	CHECK(CONFIG_CC_VERSION_TEXT[3] == 0);
	CHECK(!CONFIG_BPF4J_NO_SUCH_BOOL);
	CHECK(!CONFIG_BPF4J_NO_SUCH_NUMBER);
	CHECK(!CONFIG_BPF4J_NO_SUCH_STRING[0]);
	CHECK(CONFIG_BPF4J_NO_SUCH_TRISTATE == TRI_NO);
	return 0;
}

SEC("syscall")
int symbols(void *ctx)
{
	__u16 magic = 0;

	CHECK(&_stext);
	/* What the symbol is the address of: the header of the kernel's BTF. */
	CHECK(&__start_BTF);
	CHECK(!bpf_probe_read_kernel(&magic, sizeof(magic), &__start_BTF));
	CHECK(magic == 0xeb9f);
	CHECK(!&bpf4j_no_such_symbol);
	return 0;
}
