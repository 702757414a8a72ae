/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Objects that the program allocates, in a list and a tree of its own; and pointers to the kernel's objects kept
 * in a map. Which type a pointer, a list or a tree is of says the BTF of the object. Linux 6.3.
 */
#include <bpf4j/corpus.h>
#include <bpf4j/core.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct bpf_list_head {
	__u64 __opaque[2];
} __attribute__((aligned(8)));

struct bpf_list_node {
	__u64 __opaque[3];
} __attribute__((aligned(8)));

struct bpf_rb_root {
	__u64 __opaque[2];
} __attribute__((aligned(8)));

struct bpf_rb_node {
	__u64 __opaque[4];
} __attribute__((aligned(8)));

struct item {
	__u64 number;
	struct bpf_list_node node;
};

struct leaf {
	struct bpf_rb_node node;
	__u64 number;
};

extern void *bpf_obj_new_impl(__u64 local_type, void *meta) __ksym;
extern void bpf_obj_drop_impl(void *object, void *meta) __ksym;
extern int bpf_list_push_front_impl(struct bpf_list_head *head, struct bpf_list_node *node, void *meta,
				    __u64 offset) __ksym;
extern struct bpf_list_node *bpf_list_pop_front(struct bpf_list_head *head) __ksym;
extern int bpf_rbtree_add_impl(struct bpf_rb_root *root, struct bpf_rb_node *node,
			       bool (*less)(struct bpf_rb_node *left, const struct bpf_rb_node *right), void *meta,
			       __u64 offset) __ksym;
extern struct bpf_rb_node *bpf_rbtree_first(struct bpf_rb_root *root) __ksym;
extern struct bpf_rb_node *bpf_rbtree_remove(struct bpf_rb_root *root, struct bpf_rb_node *node) __ksym;

private(list) struct bpf_spin_lock list_lock;
private(list) struct bpf_list_head list __contains(item, node);

private(tree) struct bpf_spin_lock tree_lock;
private(tree) struct bpf_rb_root tree __contains(leaf, node);

SEC("tc")
int in_list(struct __sk_buff *skb)
{
	struct item *item = bpf_obj_new_impl(core_type_id_local(struct item), NULL);
	struct bpf_list_node *node;
	__u64 number;

	CHECK(item);
	item->number = 12;
	bpf_spin_lock(&list_lock);
	bpf_list_push_front_impl(&list, &item->node, NULL, 0);
	bpf_spin_unlock(&list_lock);
	bpf_spin_lock(&list_lock);
	node = bpf_list_pop_front(&list);
	bpf_spin_unlock(&list_lock);
	CHECK(node);
	item = container_of(node, struct item, node);
	number = item->number;
	bpf_obj_drop_impl(item, NULL);
	CHECK(number == 12);
	return 0;
}

static bool comes_before(struct bpf_rb_node *left, const struct bpf_rb_node *right)
{
	return container_of(left, struct leaf, node)->number < container_of(right, struct leaf, node)->number;
}

static __always_inline int add(__u64 number)
{
	struct leaf *leaf = bpf_obj_new_impl(core_type_id_local(struct leaf), NULL);

	CHECK(leaf);
	leaf->number = number;
	bpf_spin_lock(&tree_lock);
	bpf_rbtree_add_impl(&tree, &leaf->node, comes_before, NULL, 0);
	bpf_spin_unlock(&tree_lock);
	return 0;
}

static __always_inline __u64 take_first(void)
{
	struct bpf_rb_node *node;
	struct leaf *leaf;
	__u64 number;

	bpf_spin_lock(&tree_lock);
	node = bpf_rbtree_first(&tree);
	if (!node) {
		bpf_spin_unlock(&tree_lock);
		return 0;
	}
	node = bpf_rbtree_remove(&tree, node);
	bpf_spin_unlock(&tree_lock);
	if (!node)
		return 0;
	leaf = container_of(node, struct leaf, node);
	number = leaf->number;
	bpf_obj_drop_impl(leaf, NULL);
	return number;
}

SEC("tc")
int in_tree(struct __sk_buff *skb)
{
	CHECK(!add(30));
	CHECK(!add(10));
	CHECK(!add(20));
	CHECK(take_first() == 10);
	CHECK(take_first() == 20);
	CHECK(take_first() == 30);
	CHECK(take_first() == 0);
	return 0;
}

struct kept {
	struct item __kptr *own;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kept);
} kept SEC(".maps");

SEC("tc")
int in_map(struct __sk_buff *skb)
{
	struct item *item = bpf_obj_new_impl(core_type_id_local(struct item), NULL), *before;
	__u32 key = 0;
	struct kept *value = bpf_map_lookup_elem(&kept, &key);
	__u64 number;

	if (!item)
		return __LINE__;
	if (!value) {
		bpf_obj_drop_impl(item, NULL);
		return __LINE__;
	}
	item->number = 6;
	before = bpf_kptr_xchg(&value->own, item);
	if (before) {
		bpf_obj_drop_impl(before, NULL);
		return __LINE__;
	}
	item = bpf_kptr_xchg(&value->own, NULL);
	CHECK(item);
	number = item->number;
	bpf_obj_drop_impl(item, NULL);
	CHECK(number == 6);
	return 0;
}
