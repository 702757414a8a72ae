/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Global data, in the sections that compilers and programs choose: each becomes a map of its own. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 initialised = 0x1122334455667788;
__u32 zero;
static __u16 local = 7;
static volatile __u64 local_zero;
const volatile __u32 constant = 99;
static const volatile char text[] = "constants are in .rodata";
__u8 bytes[13] = {[12] = 12};
struct {
	__u8 small;
	__u64 large;
} structure = {1, 2};
/* Beyond the first of a section. */
__u32 last = 5;

__u32 of_own SEC(".data.own") = 3;
const volatile __u32 of_own_constants SEC(".rodata.own") = 4;

HELPER(165, long, bpf_snprintf, char *to, __u32 size, const char *format, __u64 *values, __u32 bytes);
HELPER(182, long, bpf_strncmp, const char *left, __u32 size, const char *right);

/* One of a function's own, and another of the same name. */
static __noinline __u32 count_up(void)
{
	static __u32 count = 10;

	return ++count;
}

static __noinline __u32 count_down(void)
{
	static __u32 count = 20;

	return --count;
}

/* A pointer to a place in an array: a relocation with an addend. */
static const volatile __u32 table[4] = {10, 20, 30, 40};

static __noinline __u32 look_up(__u32 index)
{
	return index < 4 ? table[index] : 0;
}

SEC("tc")
int globals(struct __sk_buff *skb)
{
	CHECK(initialised == 0x1122334455667788);
	CHECK(zero == 0);
	CHECK(local == 7);
	CHECK(local_zero == 0);
	CHECK(constant == 99);
	CHECK(text[0] == 'c' && text[14] == 'i');
	CHECK(bytes[0] == 0 && bytes[12] == 12);
	CHECK(structure.small == 1 && structure.large == 2);
	CHECK(last == 5);
	CHECK(look_up(2) == 30);
	CHECK(look_up(skb->len >> 6) == 20);
	zero = 1;
	local_zero += 1;
	CHECK(zero == 1 && local_zero == 1);
	return 0;
}

SEC("tc")
int own_sections(struct __sk_buff *skb)
{
	CHECK(of_own == 3);
	CHECK(of_own_constants == 4);
	of_own += 1;
	CHECK(of_own == 4);
	return 0;
}

SEC("tc")
int static_locals(struct __sk_buff *skb)
{
	CHECK(count_up() == 11);
	CHECK(count_up() == 12);
	CHECK(count_down() == 19);
	return 0;
}

/* Texts without a name: in .rodata.str1.1 or so, which the kernel has to know to be constant. */
SEC("tc")
int texts(struct __sk_buff *skb)
{
	static const char format[] = "%d of %s";
	char out[16] = {};
	__u64 values[] = {7, (long)"corpus"};

	CHECK(bpf_snprintf(out, sizeof(out), format, values, sizeof(values)) > 0);
	CHECK(bpf_strncmp(out, 5, "7 of ") == 0);
	CHECK(bpf_strncmp(out, sizeof(out), "7 of ten") != 0);
	return 0;
}
