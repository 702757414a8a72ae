/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What decodes a remote control: 4 bytes for each pulse or space. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("lirc_mode2")
int remote(__u32 *sample)
{
	return *sample ? 0 : 1;
}
