// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module with a struct of functions that BPF programs implement, since Debian's kernels have none in a module: all of
 * theirs are built in. Who reads /sys/module/bpf4j_ops/parameters/answer calls it.
 */
#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/module.h>
#include <linux/mutex.h>

/* Is copied from programs by name: its members are in another order there. */
struct bpf4j_ops {
	u32 offset;
	void (*forget)(void);
	int (*answer)(int question);
};

static DEFINE_MUTEX(lock);
static struct bpf4j_ops *current_ops;

/* "none" until somebody answers; then the answer to 20, and what is to be added. */
static int read_answer(char *buffer, const struct kernel_param *parameter)
{
	int length;

	mutex_lock(&lock);
	if (current_ops)
		length = sysfs_emit(buffer, "%d\n", current_ops->answer(20) + (int)current_ops->offset);
	else
		length = sysfs_emit(buffer, "none\n");
	mutex_unlock(&lock);
	return length;
}

static const struct kernel_param_ops answer_parameter = {.get = read_answer};

module_param_cb(answer, &answer_parameter, NULL, 0444);

static int ops_init(struct btf *btf)
{
	return 0;
}

static int ops_init_member(const struct btf_type *type, const struct btf_member *member, void *to, const void *from)
{
	const struct bpf4j_ops *given = from;

	if (__btf_member_bit_offset(type, member) != offsetof(struct bpf4j_ops, offset) * 8)
		return 0; /* a function, which the kernel puts there */
	((struct bpf4j_ops *)to)->offset = given->offset;
	return 1;
}

static int ops_reg(void *ops, struct bpf_link *link)
{
	int failed = 0;

	mutex_lock(&lock);
	if (current_ops)
		failed = -EEXIST;
	else
		current_ops = ops;
	mutex_unlock(&lock);
	return failed;
}

static void ops_unreg(void *ops, struct bpf_link *link)
{
	mutex_lock(&lock);
	if (current_ops->forget)
		current_ops->forget();
	current_ops = NULL;
	mutex_unlock(&lock);
}

static bool ops_is_valid_access(int offset, int size, enum bpf_access_type type, const struct bpf_prog *program,
				struct bpf_insn_access_aux *info)
{
	return bpf_tracing_btf_ctx_access(offset, size, type, program, info);
}

static const struct bpf_verifier_ops ops_verifier = {
	.get_func_proto = bpf_base_func_proto,
	.is_valid_access = ops_is_valid_access,
};

static void stub_forget(void)
{
}

static int stub_answer(int question)
{
	return 0;
}

/* What the functions look like, for control-flow integrity. */
static struct bpf4j_ops stubs = {.forget = stub_forget, .answer = stub_answer};

static struct bpf_struct_ops offered = {
	.name = "bpf4j_ops",
	.owner = THIS_MODULE,
	.verifier_ops = &ops_verifier,
	.init = ops_init,
	.init_member = ops_init_member,
	.reg = ops_reg,
	.unreg = ops_unreg,
	.cfi_stubs = &stubs,
};

static int __init offer(void)
{
	return register_bpf_struct_ops(&offered, bpf4j_ops);
}

/* Registered structs can't be taken back, so there is no way out. */
module_init(offer);

MODULE_DESCRIPTION("A struct of functions for the tests of bpf4j");
MODULE_LICENSE("GPL");
