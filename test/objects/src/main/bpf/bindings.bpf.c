/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A struct with a member of every kind, and maps of many types, for the classes that are generated from an object. A
 * test run of `check` compares each member of `in` with what user space should have written there, and returns the
 * number of the line that failed; `fill` writes other values into `out`. Members and maps have names that Java does not
 * allow, or that generated classes use themselves.
 */
#include <bpf4j/corpus.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum color { RED, GREEN = 5, BLUE = 7, AZURE = 7 };
enum level { LOW = -2, HIGH = 2 };
enum size { SMALL = 1, HUGE = 0x123456789abcULL };

typedef struct {
	__u16 x;
	__u16 y;
} point;

union address {
	__u32 v4;
	__u8 v6[16];
	struct {
		__u64 high;
		__u64 low;
	} halves;
};

struct inner {
	__u8 class;
	__u32 value; /* after three bytes of padding */
};

struct kinds {
	__u8 u8;
	__s8 s8;
	__u16 u16;
	__s16 s16;
	__u32 u32;
	__s32 s32;
	__u64 u64;
	__s64 s64;
	_Bool flag;
	char letter;
	enum color color;
	enum level level;
	enum size size;
	float ratio;
	double precise;
	char comm[16];
	char lines[2][8];
	__u8 raw[5];
	__u16 ports[3];
	__s16 offsets[2];
	__u32 counts[2][3];
	__s32 deltas[2];
	__u64 slots[4];
	_Bool flags[3];
	enum color colors[2];
	struct inner inner;
	struct inner inners[2];
	point point;
	union address address;
	struct {
		__u32 a;
		__u64 b;
	} nameless;
	union {
		__u32 either;
		__u64 or;
	};
	struct {
		__u32 left;
		__u32 right;
	};
	unsigned int few : 3;
	signed int middle : 7;
	enum color shade : 4;
	_Bool yes : 1;
	__u64 wide : 40;
	void *pointer;
	__int128 large;
	__u32 wait; /* a method of every Java object */
	__u32 segment; /* and of every view */
	__u32 two_words;
	__u32 twoWords;
	__u8 last;
};

struct kinds in = {};
struct kinds out = {};

const volatile __s32 number = 0;
const volatile __u32 unsigned_number = 0;
const volatile char prefix[8] = "";
const volatile __u64 table[3] = {1, 2, 3};
const volatile enum color tint = RED;
const volatile point start = {1, 2};
__u64 total = 0;

extern const int CONFIG_HZ __kconfig __weak;

struct event {
	__u64 number;
	char comm[16];
	enum color color;
};

struct message {
	__u32 length;
	__u16 data[];
};

struct message *unused_message __attribute__((unused));

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} messages SEC(".maps");

struct event *unused_event __attribute__((unused));

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(int));
	__uint(value_size, sizeof(int));
} samples SEC(".maps");

struct endpoint {
	__u8 address[16];
	__u16 port;
};

struct tally {
	__u64 hits;
	__u32 cpu;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, struct endpoint);
	__type(value, struct tally);
} tallies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tally);
} per_cpu SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64[8]);
} histograms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, char[16]);
	__type(value, enum color);
} close SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 16);
	__type(value, struct inner);
} queue SEC(".maps");

#define BITS32(of) (*(volatile __u32 *)&(of))
#define BITS64(of) (*(volatile __u64 *)&(of))

SEC("tc")
int check(struct __sk_buff *skb)
{
	volatile struct kinds *k = &in;

	CHECK(k->u8 == 200);
	CHECK(k->s8 == -100);
	CHECK(k->u16 == 60000);
	CHECK(k->s16 == -30000);
	CHECK(k->u32 == 4000000000u);
	CHECK(k->s32 == -2000000000);
	CHECK(k->u64 == 0xfedcba9876543210ull);
	CHECK(k->s64 == -0x123456789abcdefll);
	CHECK(k->flag == 1);
	CHECK(k->letter == 'x');
	CHECK(k->color == GREEN);
	CHECK(k->level == LOW);
	CHECK(k->size == HUGE);
	CHECK(BITS32(k->ratio) == 0x3fc00000); /* 1.5 */
	CHECK(BITS64(k->precise) == 0xc004000000000000ull); /* -2.5 */
	CHECK(k->comm[0] == 'j' && k->comm[1] == (char)0xc3 && k->comm[2] == (char)0xa4 && k->comm[3] == 0 && k->comm[15] == 0);
	CHECK(k->lines[0][0] == 'a' && k->lines[1][0] == 'b' && k->lines[1][7] == 'i');
	CHECK(k->raw[0] == 1 && k->raw[4] == 255);
	CHECK(k->ports[0] == 65535 && k->ports[2] == 3);
	CHECK(k->offsets[0] == -1 && k->offsets[1] == 2);
	CHECK(k->counts[0][0] == 1 && k->counts[0][2] == 3 && k->counts[1][0] == 4 && k->counts[1][2] == 4294967295u);
	CHECK(k->deltas[0] == -5 && k->deltas[1] == 6);
	CHECK(k->slots[0] == 10 && k->slots[3] == 0xffffffffffffffffull);
	CHECK(k->flags[0] == 1 && k->flags[1] == 0 && k->flags[2] == 1);
	CHECK(k->colors[0] == BLUE && k->colors[1] == 99);
	CHECK(k->inner.class == 11 && k->inner.value == 12);
	CHECK(k->inners[0].class == 21 && k->inners[0].value == 22 && k->inners[1].class == 31 && k->inners[1].value == 32);
	CHECK(k->point.x == 41 && k->point.y == 42);
	CHECK(k->address.halves.high == 51 && k->address.halves.low == 52);
	CHECK(k->nameless.a == 61 && k->nameless.b == 62);
	CHECK(k->or == 0x1111111122222222ull);
	CHECK(k->left == 71 && k->right == 72);
	CHECK(k->few == 5);
	CHECK(k->middle == -33);
	CHECK(k->shade == BLUE);
	CHECK(k->yes == 1);
	CHECK(k->wide == 0xfedcba9876ull);
	CHECK((__u64)k->pointer == 0xffff888012345678ull);
	CHECK(((volatile __u8 *)&k->large)[0] == 0x80 && ((volatile __u8 *)&k->large)[15] == 0x8f);
	CHECK(k->wait == 81 && k->segment == 82 && k->two_words == 83 && k->twoWords == 84);
	CHECK(k->last == 255);
	return 0;
}

/* Whether the bytes of both structs are the same: padding is 0 in either. */
SEC("tc")
int same(struct __sk_buff *skb)
{
	volatile __u8 *left = (volatile __u8 *)&in;
	volatile __u8 *right = (volatile __u8 *)&out;

	for (int i = 0; i < (int)sizeof(in); i++)
		if (left[i] != right[i])
			return 1 + i;
	return 0;
}

SEC("tc")
int fill(struct __sk_buff *skb)
{
	volatile struct kinds *k = &out;

	k->u8 = 201;
	k->s8 = -101;
	k->u16 = 60001;
	k->s16 = -30001;
	k->u32 = 4000000001u;
	k->s32 = -2000000001;
	k->u64 = 0xfedcba9876543211ull;
	k->s64 = -2;
	k->flag = 1;
	k->letter = 'y';
	k->color = 1234567;
	k->level = -77;
	k->size = SMALL;
	BITS32(k->ratio) = 0x40200000; /* 2.5 */
	BITS64(k->precise) = 0x3fe0000000000000ull; /* 0.5 */
	k->comm[0] = 'c';
	k->comm[1] = (char)0xff; /* not UTF-8 */
	k->comm[2] = 'd';
	k->lines[0][0] = 'p';
	k->lines[1][0] = 'q';
	k->raw[0] = 128;
	k->raw[4] = 7;
	k->ports[1] = 50000;
	k->offsets[0] = -300;
	k->counts[1][1] = 4000000000u;
	k->deltas[1] = -9;
	k->slots[2] = 1ull << 63;
	k->flags[1] = 1;
	k->colors[0] = RED;
	k->colors[1] = GREEN;
	k->inner.class = 1;
	k->inner.value = 4000000000u;
	k->inners[1].value = 2;
	k->point.x = 3;
	k->point.y = 65535;
	k->address.v4 = 0xc0a80001;
	k->nameless.a = 4;
	k->nameless.b = 5;
	k->either = 6;
	k->left = 7;
	k->right = 8;
	k->few = 7;
	k->middle = -64;
	k->shade = GREEN;
	k->yes = 1;
	k->wide = 0x8000000001ull;
	k->pointer = (void *)0x1234;
	((volatile __u8 *)&k->large)[3] = 9;
	k->wait = 10;
	k->segment = 11;
	k->two_words = 12;
	k->twoWords = 13;
	k->last = 14;
	return 0;
}

/* Compares what was set before the load. */
SEC("tc")
int constants(struct __sk_buff *skb)
{
	CHECK(number == -42);
	CHECK(unsigned_number == 4000000000u);
	CHECK(prefix[0] == 'G' && prefix[3] == ' ' && prefix[4] == 0);
	CHECK(table[0] == 7 && table[2] == 9);
	CHECK(tint == BLUE);
	CHECK(start.x == 5 && start.y == 6);
	CHECK(CONFIG_HZ == 123);
	total++;
	return 0;
}

/* Reads and writes a map of each type, and sends an event and a message. */
SEC("tc")
int maps(struct __sk_buff *skb)
{
	struct endpoint endpoint = {.address = {1, 2, 3}, .port = 443};
	struct inner inner = {.class = 8, .value = 9};
	char name[16] = "red";
	__u32 zero = 0, one = 1;
	struct tally *tally;
	struct event *event;
	struct message *message;
	struct event sample = {.number = 7, .comm = "perf"};
	enum color *color;
	__u64 *slots;

	tally = bpf_map_lookup_elem(&tallies, &endpoint);
	CHECK(tally && tally->hits == 5 && tally->cpu == 6);
	tally->hits = 55;
	tally = bpf_map_lookup_elem(&per_cpu, &zero);
	CHECK(tally);
	tally->hits = 1000;
	slots = bpf_map_lookup_elem(&histograms, &one);
	CHECK(slots && slots[7] == 70);
	slots[0] = 10;
	color = bpf_map_lookup_elem(&close, name);
	CHECK(color && *color == GREEN);
	*color = 77;
	CHECK(!bpf_map_push_elem(&queue, &inner, 0));

	CHECK(!bpf_perf_event_output(skb, &samples, BPF_F_CURRENT_CPU, &sample, sizeof(sample)));
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	CHECK(event);
	__builtin_memset(event, 0, sizeof(*event));
	event->number = 1ull << 40;
	event->comm[0] = 'e';
	event->color = BLUE;
	bpf_ringbuf_submit(event, 0);

	message = bpf_ringbuf_reserve(&messages, sizeof(*message) + 3 * sizeof(message->data[0]), 0);
	CHECK(message);
	message->length = 3;
	message->data[0] = 1;
	message->data[1] = 65535;
	message->data[2] = 3;
	bpf_ringbuf_submit(message, 0);
	return 0;
}
