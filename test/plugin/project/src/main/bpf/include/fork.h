/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
struct fork {
	__u32 process;
	char comm[16];
};
