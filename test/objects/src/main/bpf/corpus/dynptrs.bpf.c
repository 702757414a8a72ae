/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Pointers to memory of a length that only the kernel knows: of a map, of a ring. */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, char[64]);
} bytes SEC(".maps");

SEC("tc")
int of_map_value(struct __sk_buff *skb)
{
	struct bpf_dynptr pointer;
	__u64 value = 77, back = 0, *slice;
	__u32 zero = 0;
	char *memory = bpf_map_lookup_elem(&bytes, &zero);

	CHECK(memory);
	CHECK(!bpf_dynptr_from_mem(memory, 64, 0, &pointer));
	CHECK(!bpf_dynptr_write(&pointer, 56, &value, sizeof(value), 0));
	CHECK(!bpf_dynptr_read(&back, sizeof(back), &pointer, 56, 0));
	CHECK(back == 77);
	CHECK(bpf_dynptr_read(&back, sizeof(back), &pointer, 57, 0) == -E2BIG);
	slice = bpf_dynptr_data(&pointer, 56, sizeof(*slice));
	CHECK(slice && *slice == 77);
	CHECK(!bpf_dynptr_data(&pointer, 60, 8));
	return 0;
}

SEC("tc")
int of_ring(struct __sk_buff *skb)
{
	struct bpf_dynptr pointer;
	__u64 value = 5;
	__u32 size = skb->len & 0xff;
	long written = 0;

	/* Whether it worked or not, it has to be given back. */
	if (!bpf_ringbuf_reserve_dynptr(&ring, size, 0, &pointer))
		written = bpf_dynptr_write(&pointer, 0, &value, sizeof(value), 0) ? -1 : 1;
	bpf_ringbuf_submit_dynptr(&pointer, 0);
	CHECK(written == 1);
	if (!bpf_ringbuf_reserve_dynptr(&ring, 5000, 0, &pointer))
		written = 2;
	bpf_ringbuf_discard_dynptr(&pointer, 0);
	CHECK(written == 1);
	return 0;
}
