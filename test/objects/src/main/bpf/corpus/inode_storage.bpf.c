/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Values that hang on a file's inode: only a program at a security hook has one at hand. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct inode;

struct file {
	struct inode *f_inode;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_INODE_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} of_inode SEC(".maps");

REPORTS

static __always_inline int use(struct inode *inode)
{
	__u64 initial = 9, *value;

	value = bpf_inode_storage_get(&of_inode, inode, &initial, BPF_STORAGE_GET_F_CREATE);
	if (!value) /* another processor has made it meanwhile */
		value = bpf_inode_storage_get(&of_inode, inode, NULL, 0);
	CHECK(value && *value >= 9);
	*value += 1;
	value = bpf_inode_storage_get(&of_inode, inode, NULL, 0);
	CHECK(value && *value >= 10);
	return 0;
}

SEC("lsm/file_open")
int inode_storage(__u64 *ctx)
{
	struct file *file = (void *)ctx[0];

	return report(use(file->f_inode), 0);
}
