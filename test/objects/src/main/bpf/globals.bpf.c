/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Global data of every kind, read and written by a program that runs when a function of the target
 * is called: .rodata (set before load, then frozen), .data, .bss, sections with names of their own,
 * static variables, strings, arrays and a struct with padding.
 */
#include <bpf4j/check.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct pair {
	__u8 small;
	__u64 large;
};

const volatile __u64 constant = 0x1122334455667788ULL; /* .rodata */
const volatile __u32 table[4] = {1, 2, 3, 4};
const volatile struct pair pair_in = {7, 8};
const volatile char text[8] = "bpf4j";
const volatile __s16 set_before_load = -1; /* the test sets -12345 */

__u64 counter = 40; /* .data */
struct pair pair_out = {1, 2};
__u64 zeroed; /* .bss */
__u8 one_byte;
static volatile __u32 hidden_counter = 5; /* .data, not visible to the linker */

__u32 custom_data SEC(".data.custom") = 100;
const volatile __u32 custom_constant SEC(".rodata.custom") = 200;

SEC("uprobe")
int globals(struct pt_regs *ctx)
{
	__u32 sum = 0;

	if (!is_target())
		return 0;
	CHECK(constant == 0x1122334455667788ULL);
	for (int i = 0; i < 4; i++)
		sum += table[i & 3];
	CHECK(sum == 10);
	CHECK(pair_in.small == 7);
	CHECK(pair_in.large == 8);
	CHECK(text[0] == 'b' && text[4] == 'j' && text[5] == 0);
	CHECK(set_before_load == -12345);
	CHECK(custom_constant == 200);

	atomic_add(&counter, 2);
	atomic_add(&zeroed, 1);
	atomic_add(&custom_data, 1);
	one_byte = 0xa5;
	pair_out.small = pair_in.small + 1;
	pair_out.large = pair_in.large + 1;
	hidden_counter++;
	CHECK(hidden_counter > 5);
	atomic_add(&runs, 1);
	return 0;
}
