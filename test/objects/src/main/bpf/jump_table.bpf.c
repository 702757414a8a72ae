/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A switch by a jump table (Linux 6.19). Compilers make one of a switch with many cases; clang 19 does not, so
 * this is written as they would:
 *
 *   .jumptables   a symbol for each table; 8 bytes an entry: how many bytes from the start of its section the
 *                 instruction is that is jumped to
 *   the code      loads the address of an entry by a relocation with the table's symbol, reads it, and jumps to
 *                 what it read: `gotox r2`, the bytes 0d 02 00 00 00 00 00 00
 */
#include <bpf4j/helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct numbers {
	__u64 index;
};

/* So that the code of the function below is not at the start of its section; neither is its table. */
static __noinline int before(int number)
{
	opaque(number);
	return number + 1;
}

/* 10, 20, 30 or 40 for 0 to 3, and 7 for more. The table's name is local: its relocation names the section. */
static __noinline int chosen(__u64 index)
{
	int result = 7;

	if (index > 3)
		return result;
	asm volatile("r1 = %[index]\n"
		     "r2 = BPF.JT.1.0 ll\n"
		     "r1 <<= 3\n"
		     "r2 += r1\n"
		     "r2 = *(u64 *)(r2 + 0)\n"
		     ".8byte 0x020d\n"
		     ".Lzero%=: %[result] = 10\n goto .Lend%=\n"
		     ".Lone%=: %[result] = 20\n goto .Lend%=\n"
		     ".Ltwo%=: %[result] = 30\n goto .Lend%=\n"
		     ".Lthree%=: %[result] = 40\n"
		     ".Lend%=:\n"
		     ".pushsection .jumptables,\"\",@progbits\n"
		     ".type BPF.JT.1.0,@object\n"
		     ".size BPF.JT.1.0,32\n"
		     "BPF.JT.1.0:\n"
		     ".8byte .Lzero%=-before\n"
		     ".8byte .Lone%=-before\n"
		     ".8byte .Ltwo%=-before\n"
		     ".8byte .Lthree%=-before\n"
		     ".popsection\n"
		     : [result] "+r"(result)
		     : [index] "r"(index)
		     : "r1", "r2");
	return result;
}

/* The index and 1, what the function above says, and 100, 200 or 100 for 0 to 2. */
SEC("?syscall")
int choose(struct numbers *ctx)
{
	__u64 index = ctx->index;
	int result = before(index) + chosen(index);

	if (index > 2)
		return result;
	asm volatile("r1 = %[index]\n"
		     "r2 = BPF.JT.0.0 ll\n"
		     "r1 <<= 3\n"
		     "r2 += r1\n"
		     "r2 = *(u64 *)(r2 + 0)\n"
		     ".8byte 0x020d\n"
		     ".Lone%=: %[result] += 100\n goto .Lend%=\n"
		     ".Ltwo%=: %[result] += 200\n"
		     ".Lend%=:\n"
		     ".pushsection .jumptables,\"\",@progbits\n"
		     ".globl BPF.JT.0.0\n"
		     ".type BPF.JT.0.0,@object\n"
		     ".size BPF.JT.0.0,24\n"
		     "BPF.JT.0.0:\n"
		     ".8byte .Lone%=-choose\n"
		     ".8byte .Ltwo%=-choose\n"
		     ".8byte .Lone%=-choose\n"
		     ".popsection\n"
		     : [result] "+r"(result)
		     : [index] "r"(index)
		     : "r1", "r2");
	return result;
}
