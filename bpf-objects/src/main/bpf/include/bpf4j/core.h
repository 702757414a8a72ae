/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * CO-RE: questions about types that the compiler leaves open, and the loader answers for the kernel at hand.
 *
 * Each of these builtins of clang gives a number that it knows by the program's own declarations, and beside
 * the instruction that loads the number it leaves a relocation of one of the kinds of
 * enum bpf_core_relo_kind (include/uapi/linux/bpf.h). A struct with the attribute preserve_access_index
 * does the same for every access to a member. What follows three underscores in a name is ignored: so a
 * program can have several declarations ("flavours") of one of the kernel's types.
 */
#ifndef BPF4J_CORE_H
#define BPF4J_CORE_H

#define __core __attribute__((preserve_access_index))

/* About a field: an expression such as task->pid, which is not evaluated. */
#define core_field_offset(field) __builtin_preserve_field_info(field, 0)
#define core_field_size(field) __builtin_preserve_field_info(field, 1)
#define core_field_exists(field) __builtin_preserve_field_info(field, 2)
#define core_field_signed(field) __builtin_preserve_field_info(field, 3)
#define core_field_left_shift(field) __builtin_preserve_field_info(field, 4)
#define core_field_right_shift(field) __builtin_preserve_field_info(field, 5)
/* The same for a field of a type for which there is no pointer. */
#define core_field(type, field) (((type *)0)->field)

/* About a type. */
#define core_type_id_local(type) __builtin_btf_type_id(*(type *)0, 0)
#define core_type_id_kernel(type) __builtin_btf_type_id(*(type *)0, 1)
#define core_type_exists(type) __builtin_preserve_type_info(*(type *)0, 0)
#define core_type_size(type) __builtin_preserve_type_info(*(type *)0, 1)
#define core_type_matches(type) __builtin_preserve_type_info(*(type *)0, 2)

/* About a value of an enumeration. */
#define core_enum_value_exists(type, value) __builtin_preserve_enum_value(*(type *)value, 0)
#define core_enum_value(type, value) __builtin_preserve_enum_value(*(type *)value, 1)

/*
 * A bit-field as an unsigned number of 64 bits: what holds it is loaded whole, what is above it shifted out to
 * the left, what is below it to the right. (On big-endian machines the left shift differs, and the loader knows.)
 */
#define core_bit_field(pointer, field)                                                             \
	({                                                                                         \
		const void *at = (const void *)(pointer) + core_field_offset((pointer)->field);    \
		__u64 bits = 0;                                                                    \
                                                                                                   \
		switch (core_field_size((pointer)->field)) {                                       \
		case 1:                                                                            \
			bits = *(const volatile __u8 *)at;                                         \
			break;                                                                     \
		case 2:                                                                            \
			bits = *(const volatile __u16 *)at;                                        \
			break;                                                                     \
		case 4:                                                                            \
			bits = *(const volatile __u32 *)at;                                        \
			break;                                                                     \
		case 8:                                                                            \
			bits = *(const volatile __u64 *)at;                                        \
			break;                                                                     \
		}                                                                                  \
		bits <<= core_field_left_shift((pointer)->field);                                  \
		if (core_field_signed((pointer)->field))                                           \
			bits = (__s64)bits >> core_field_right_shift((pointer)->field);            \
		else                                                                               \
			bits >>= core_field_right_shift((pointer)->field);                         \
		bits;                                                                              \
	})

#endif
