/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * helpers.h, and what else the kernel offers to BPF programs: all helper functions, all types of maps, the contexts of
 * programs for packets, sockets and control groups, flags and results.
 *
 * Names, numbers, layouts and parameters are those of include/uapi/linux/bpf.h: the enumerations and structs as the BTF
 * of Linux 6.18 has them, the parameters as the descriptions of the helpers say. BpfHeaderTest compares this file with
 * the types of the running kernel. Which kernels have a helper, and which programs may call it, `bpf4j features` tells.
 *
 * Parameters that are structs of the kernel take what a program has in their place: its context, or a map.
 */
#ifndef BPF4J_BPF_H
#define BPF4J_BPF_H

#include <bpf4j/helpers.h>

/* A function or variable of the kernel, and a pointer to one of its objects in a map. */
#define __ksym __attribute__((section(".ksyms")))
#define __kptr __attribute__((btf_type_tag("kptr")))

/* A line in trace_pipe, with at most three values; bpf_trace_vprintk takes more. */
#define bpf_printk(format, ...)                                                                                        \
	({                                                                                                             \
		static const char _format[] = format;                                                                  \
		bpf_trace_printk(_format, sizeof(_format), ##__VA_ARGS__);                                             \
	})

/* Network byte order. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define bpf_htons(value) __builtin_bswap16(value)
#define bpf_htonl(value) __builtin_bswap32(value)
#else
#define bpf_htons(value) ((__u16)(value))
#define bpf_htonl(value) ((__u32)(value))
#endif
#define bpf_ntohs(value) bpf_htons(value)
#define bpf_ntohl(value) bpf_htonl(value)

/* Results of programs for TC, macros of include/uapi/linux/pkt_cls.h. */
#define TC_ACT_UNSPEC (-1)
#define TC_ACT_OK 0
#define TC_ACT_SHOT 2
#define TC_ACT_STOLEN 4
#define TC_ACT_REDIRECT 7

#ifndef __VMLINUX_H__ /* vmlinux.h has these */
typedef __u16 __be16;
typedef __u32 __be32;

/* enum bpf_map_type: those that helpers.h does not have */
enum {
	BPF_MAP_TYPE_UNSPEC = 0, BPF_MAP_TYPE_PROG_ARRAY = 3, BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_CGROUP_ARRAY = 8, BPF_MAP_TYPE_LRU_PERCPU_HASH = 10, BPF_MAP_TYPE_LPM_TRIE = 11,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12, BPF_MAP_TYPE_HASH_OF_MAPS = 13, BPF_MAP_TYPE_DEVMAP = 14,
	BPF_MAP_TYPE_SOCKMAP = 15, BPF_MAP_TYPE_CPUMAP = 16, BPF_MAP_TYPE_XSKMAP = 17, BPF_MAP_TYPE_SOCKHASH = 18,
	BPF_MAP_TYPE_CGROUP_STORAGE_DEPRECATED = 19, BPF_MAP_TYPE_CGROUP_STORAGE = 19,
	BPF_MAP_TYPE_REUSEPORT_SOCKARRAY = 20, BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE_DEPRECATED = 21,
	BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE = 21, BPF_MAP_TYPE_QUEUE = 22, BPF_MAP_TYPE_STACK = 23,
	BPF_MAP_TYPE_SK_STORAGE = 24, BPF_MAP_TYPE_DEVMAP_HASH = 25, BPF_MAP_TYPE_STRUCT_OPS = 26,
	BPF_MAP_TYPE_INODE_STORAGE = 28, BPF_MAP_TYPE_TASK_STORAGE = 29, BPF_MAP_TYPE_BLOOM_FILTER = 30,
	BPF_MAP_TYPE_USER_RINGBUF = 31, BPF_MAP_TYPE_CGRP_STORAGE = 32, BPF_MAP_TYPE_ARENA = 33,
};
/* bpf_perf_event_output */
enum {
	BPF_F_INDEX_MASK = 4294967295ULL, BPF_F_CURRENT_CPU = 4294967295ULL,
	BPF_F_CTXLEN_MASK = 4503595332403200ULL,
};
enum { BPF_F_GET_BRANCH_RECORDS_SIZE = 1 };
/* results of XDP programs */
enum xdp_action { XDP_ABORTED = 0, XDP_DROP = 1, XDP_PASS = 2, XDP_TX = 3, XDP_REDIRECT = 4 };
enum { BPF_F_LOCK = 4 };
/* flags of maps */
enum {
	BPF_F_NO_PREALLOC = 1, BPF_F_NO_COMMON_LRU = 2, BPF_F_NUMA_NODE = 4, BPF_F_RDONLY = 8, BPF_F_WRONLY = 16,
	BPF_F_STACK_BUILD_ID = 32, BPF_F_ZERO_SEED = 64, BPF_F_RDONLY_PROG = 128, BPF_F_WRONLY_PROG = 256,
	BPF_F_CLONE = 512, BPF_F_MMAPABLE = 1024, BPF_F_PRESERVE_ELEMS = 2048, BPF_F_INNER_MAP = 4096,
	BPF_F_LINK = 8192, BPF_F_PATH_FD = 16384, BPF_F_VTYPE_BTF_OBJ_FD = 32768, BPF_F_TOKEN_FD = 65536,
	BPF_F_SEGV_ON_FAULT = 131072, BPF_F_NO_USER_CONV = 262144,
};
/* results of sk_skb, sk_msg, sk_lookup and sk_reuseport programs */
enum sk_action { SK_DROP = 0, SK_PASS = 1 };
/* bpf_timer_start */
enum { BPF_F_TIMER_ABS = 1, BPF_F_TIMER_CPU_PIN = 2 };
enum { BPF_F_PAD_ZEROS = 1 };
/* bpf_ringbuf_query */
enum { BPF_RB_RING_SIZE = 1, BPF_RB_CONS_POS = 2, BPF_RB_PROD_POS = 3 };
/* bpf_sk_storage_get and the like */
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_F_INGRESS = 1, BPF_F_BROADCAST = 8, BPF_F_EXCLUDE_INGRESS = 16 };
/* bpf_get_stackid and bpf_get_stack */
enum {
	BPF_F_SKIP_FIELD_MASK = 255, BPF_F_USER_STACK = 256, BPF_F_FAST_STACK_CMP = 512, BPF_F_REUSE_STACKID = 1024,
	BPF_F_USER_BUILD_ID = 2048,
};
enum { BPF_F_SYSCTL_BASE_NAME = 1 };
enum { BPF_F_BPRM_SECUREEXEC = 1 };
/* op of struct bpf_sock_ops */
enum {
	BPF_SOCK_OPS_VOID = 0, BPF_SOCK_OPS_TIMEOUT_INIT = 1, BPF_SOCK_OPS_RWND_INIT = 2,
	BPF_SOCK_OPS_TCP_CONNECT_CB = 3, BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB = 4,
	BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB = 5, BPF_SOCK_OPS_NEEDS_ECN = 6, BPF_SOCK_OPS_BASE_RTT = 7,
	BPF_SOCK_OPS_RTO_CB = 8, BPF_SOCK_OPS_RETRANS_CB = 9, BPF_SOCK_OPS_STATE_CB = 10,
	BPF_SOCK_OPS_TCP_LISTEN_CB = 11, BPF_SOCK_OPS_RTT_CB = 12, BPF_SOCK_OPS_PARSE_HDR_OPT_CB = 13,
	BPF_SOCK_OPS_HDR_OPT_LEN_CB = 14, BPF_SOCK_OPS_WRITE_HDR_OPT_CB = 15, BPF_SOCK_OPS_TSTAMP_SCHED_CB = 16,
	BPF_SOCK_OPS_TSTAMP_SND_SW_CB = 17, BPF_SOCK_OPS_TSTAMP_SND_HW_CB = 18, BPF_SOCK_OPS_TSTAMP_ACK_CB = 19,
	BPF_SOCK_OPS_TSTAMP_SENDMSG_CB = 20,
};
/* results of flow dissectors and light-weight tunnels */
enum bpf_ret_code {
	BPF_OK = 0, BPF_DROP = 2, BPF_REDIRECT = 7, BPF_LWT_REROUTE = 128, BPF_FLOW_DISSECTOR_CONTINUE = 129,
};
enum {
	BPF_FLOW_DISSECTOR_F_PARSE_1ST_FRAG = 1, BPF_FLOW_DISSECTOR_F_STOP_AT_FLOW_LABEL = 2,
	BPF_FLOW_DISSECTOR_F_STOP_AT_ENCAP = 4,
};
/* results of tcx programs */
enum tcx_action_base { TCX_NEXT = -1, TCX_PASS = 0, TCX_DROP = 2, TCX_REDIRECT = 7 };
enum { BPF_F_RECOMPUTE_CSUM = 1, BPF_F_INVALIDATE_HASH = 2 };
enum { BPF_F_HDR_FIELD_MASK = 15 };
enum { BPF_F_PSEUDO_HDR = 16, BPF_F_MARK_MANGLED_0 = 32, BPF_F_MARK_ENFORCE = 64, BPF_F_IPV6 = 128 };
enum { BPF_F_TUNINFO_IPV6 = 1 };
enum { BPF_F_ZERO_CSUM_TX = 2, BPF_F_DONT_FRAGMENT = 4, BPF_F_SEQ_NUMBER = 8, BPF_F_NO_TUNNEL_KEY = 16 };
enum { BPF_F_TUNINFO_FLAGS = 16 };
enum { BPF_CSUM_LEVEL_QUERY = 0, BPF_CSUM_LEVEL_INC = 1, BPF_CSUM_LEVEL_DEC = 2, BPF_CSUM_LEVEL_RESET = 3 };
enum {
	BPF_F_ADJ_ROOM_FIXED_GSO = 1, BPF_F_ADJ_ROOM_ENCAP_L3_IPV4 = 2, BPF_F_ADJ_ROOM_ENCAP_L3_IPV6 = 4,
	BPF_F_ADJ_ROOM_ENCAP_L4_GRE = 8, BPF_F_ADJ_ROOM_ENCAP_L4_UDP = 16, BPF_F_ADJ_ROOM_NO_CSUM_RESET = 32,
	BPF_F_ADJ_ROOM_ENCAP_L2_ETH = 64, BPF_F_ADJ_ROOM_DECAP_L3_IPV4 = 128, BPF_F_ADJ_ROOM_DECAP_L3_IPV6 = 256,
};
enum { BPF_ADJ_ROOM_ENCAP_L2_MASK = 255, BPF_ADJ_ROOM_ENCAP_L2_SHIFT = 56 };
enum { BPF_SK_LOOKUP_F_REPLACE = 1, BPF_SK_LOOKUP_F_NO_REUSEPORT = 2 };
enum bpf_adj_room_mode { BPF_ADJ_ROOM_NET = 0, BPF_ADJ_ROOM_MAC = 1 };
enum bpf_hdr_start_off { BPF_HDR_START_MAC = 0, BPF_HDR_START_NET = 1 };
enum bpf_lwt_encap_mode { BPF_LWT_ENCAP_SEG6 = 0, BPF_LWT_ENCAP_SEG6_INLINE = 1, BPF_LWT_ENCAP_IP = 2 };
enum {
	BPF_SKB_TSTAMP_UNSPEC = 0, BPF_SKB_TSTAMP_DELIVERY_MONO = 1, BPF_SKB_CLOCK_REALTIME = 0,
	BPF_SKB_CLOCK_MONOTONIC = 1, BPF_SKB_CLOCK_TAI = 2,
};
/* bpf_sock_ops_cb_flags_set */
enum {
	BPF_SOCK_OPS_RTO_CB_FLAG = 1, BPF_SOCK_OPS_RETRANS_CB_FLAG = 2, BPF_SOCK_OPS_STATE_CB_FLAG = 4,
	BPF_SOCK_OPS_RTT_CB_FLAG = 8, BPF_SOCK_OPS_PARSE_ALL_HDR_OPT_CB_FLAG = 16,
	BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG = 32, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG = 64,
	BPF_SOCK_OPS_ALL_CB_FLAGS = 127,
};
enum { BPF_LOAD_HDR_OPT_TCP_SYN = 1 };
enum {
	BPF_FIB_LOOKUP_DIRECT = 1, BPF_FIB_LOOKUP_OUTPUT = 2, BPF_FIB_LOOKUP_SKIP_NEIGH = 4,
	BPF_FIB_LOOKUP_TBID = 8, BPF_FIB_LOOKUP_SRC = 16, BPF_FIB_LOOKUP_MARK = 32,
};
/* results of bpf_fib_lookup */
enum {
	BPF_FIB_LKUP_RET_SUCCESS = 0, BPF_FIB_LKUP_RET_BLACKHOLE = 1, BPF_FIB_LKUP_RET_UNREACHABLE = 2,
	BPF_FIB_LKUP_RET_PROHIBIT = 3, BPF_FIB_LKUP_RET_NOT_FWDED = 4, BPF_FIB_LKUP_RET_FWD_DISABLED = 5,
	BPF_FIB_LKUP_RET_UNSUPP_LWT = 6, BPF_FIB_LKUP_RET_NO_NEIGH = 7, BPF_FIB_LKUP_RET_FRAG_NEEDED = 8,
	BPF_FIB_LKUP_RET_NO_SRC_ADDR = 9,
};
enum bpf_check_mtu_flags { BPF_MTU_CHK_SEGS = 1 };
enum bpf_check_mtu_ret {
	BPF_MTU_CHK_RET_SUCCESS = 0, BPF_MTU_CHK_RET_FRAG_NEEDED = 1, BPF_MTU_CHK_RET_SEGS_TOOBIG = 2,
};
enum { BPF_F_NEIGH = 65536, BPF_F_PEER = 131072, BPF_F_NEXTHOP = 262144 };
enum { BPF_F_CURRENT_NETNS = -1 };
/* states of TCP */
enum {
	BPF_TCP_ESTABLISHED = 1, BPF_TCP_SYN_SENT = 2, BPF_TCP_SYN_RECV = 3, BPF_TCP_FIN_WAIT1 = 4,
	BPF_TCP_FIN_WAIT2 = 5, BPF_TCP_TIME_WAIT = 6, BPF_TCP_CLOSE = 7, BPF_TCP_CLOSE_WAIT = 8,
	BPF_TCP_LAST_ACK = 9, BPF_TCP_LISTEN = 10, BPF_TCP_CLOSING = 11, BPF_TCP_NEW_SYN_RECV = 12,
	BPF_TCP_BOUND_INACTIVE = 13, BPF_TCP_MAX_STATES = 14,
};
enum { BPF_WRITE_HDR_TCP_CURRENT_MSS = 1, BPF_WRITE_HDR_TCP_SYNACK_COOKIE = 2 };

/* The contexts of programs. */
struct __sk_buff {
	__u32 len;
	__u32 pkt_type;
	__u32 mark;
	__u32 queue_mapping;
	__u32 protocol;
	__u32 vlan_present;
	__u32 vlan_tci;
	__u32 vlan_proto;
	__u32 priority;
	__u32 ingress_ifindex;
	__u32 ifindex;
	__u32 tc_index;
	__u32 cb[5];
	__u32 hash;
	__u32 tc_classid;
	__u32 data;
	__u32 data_end;
	__u32 napi_id;
	__u32 family;
	__u32 remote_ip4;
	__u32 local_ip4;
	__u32 remote_ip6[4];
	__u32 local_ip6[4];
	__u32 remote_port;
	__u32 local_port;
	__u32 data_meta;
	union {
		struct bpf_flow_keys *flow_keys;
	};
	__u64 tstamp;
	__u32 wire_len;
	__u32 gso_segs;
	union {
		struct bpf_sock *sk;
	};
	__u32 gso_size;
	__u8 tstamp_type;
	__u64 hwtstamp;
};

struct xdp_md {
	__u32 data;
	__u32 data_end;
	__u32 data_meta;
	__u32 ingress_ifindex;
	__u32 rx_queue_index;
	__u32 egress_ifindex;
};

struct bpf_sock {
	__u32 bound_dev_if;
	__u32 family;
	__u32 type;
	__u32 protocol;
	__u32 mark;
	__u32 priority;
	__u32 src_ip4;
	__u32 src_ip6[4];
	__u32 src_port;
	__be16 dst_port;
	__u32 dst_ip4;
	__u32 dst_ip6[4];
	__u32 state;
	__s32 rx_queue_mapping;
};

struct bpf_sock_addr {
	__u32 user_family;
	__u32 user_ip4;
	__u32 user_ip6[4];
	__u32 user_port;
	__u32 family;
	__u32 type;
	__u32 protocol;
	__u32 msg_src_ip4;
	__u32 msg_src_ip6[4];
	union {
		struct bpf_sock *sk;
	};
};

struct bpf_sock_ops {
	__u32 op;
	union {
		__u32 args[4];
		__u32 reply;
		__u32 replylong[4];
	};
	__u32 family;
	__u32 remote_ip4;
	__u32 local_ip4;
	__u32 remote_ip6[4];
	__u32 local_ip6[4];
	__u32 remote_port;
	__u32 local_port;
	__u32 is_fullsock;
	__u32 snd_cwnd;
	__u32 srtt_us;
	__u32 bpf_sock_ops_cb_flags;
	__u32 state;
	__u32 rtt_min;
	__u32 snd_ssthresh;
	__u32 rcv_nxt;
	__u32 snd_nxt;
	__u32 snd_una;
	__u32 mss_cache;
	__u32 ecn_flags;
	__u32 rate_delivered;
	__u32 rate_interval_us;
	__u32 packets_out;
	__u32 retrans_out;
	__u32 total_retrans;
	__u32 segs_in;
	__u32 data_segs_in;
	__u32 segs_out;
	__u32 data_segs_out;
	__u32 lost_out;
	__u32 sacked_out;
	__u32 sk_txhash;
	__u64 bytes_received;
	__u64 bytes_acked;
	union {
		struct bpf_sock *sk;
	};
	union {
		void *skb_data;
	};
	union {
		void *skb_data_end;
	};
	__u32 skb_len;
	__u32 skb_tcp_flags;
	__u64 skb_hwtstamp;
};

struct sk_msg_md {
	union {
		void *data;
	};
	union {
		void *data_end;
	};
	__u32 family;
	__u32 remote_ip4;
	__u32 local_ip4;
	__u32 remote_ip6[4];
	__u32 local_ip6[4];
	__u32 remote_port;
	__u32 local_port;
	__u32 size;
	union {
		struct bpf_sock *sk;
	};
};

struct sk_reuseport_md {
	union {
		void *data;
	};
	union {
		void *data_end;
	};
	__u32 len;
	__u32 eth_protocol;
	__u32 ip_protocol;
	__u32 bind_inany;
	__u32 hash;
	union {
		struct bpf_sock *sk;
	};
	union {
		struct bpf_sock *migrating_sk;
	};
};

struct bpf_sk_lookup {
	union {
		union {
			struct bpf_sock *sk;
		};
		__u64 cookie;
	};
	__u32 family;
	__u32 protocol;
	__u32 remote_ip4;
	__u32 remote_ip6[4];
	__be16 remote_port;
	__u32 local_ip4;
	__u32 local_ip6[4];
	__u32 local_port;
	__u32 ingress_ifindex;
};

struct bpf_sysctl {
	__u32 write;
	__u32 file_pos;
};

struct bpf_sockopt {
	union {
		struct bpf_sock *sk;
	};
	union {
		void *optval;
	};
	union {
		void *optval_end;
	};
	__s32 level;
	__s32 optname;
	__s32 optlen;
	__s32 retval;
};

struct bpf_cgroup_dev_ctx {
	__u32 access_type;
	__u32 major;
	__u32 minor;
};

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

/* What helpers take and give. */
struct bpf_tcp_sock {
	__u32 snd_cwnd;
	__u32 srtt_us;
	__u32 rtt_min;
	__u32 snd_ssthresh;
	__u32 rcv_nxt;
	__u32 snd_nxt;
	__u32 snd_una;
	__u32 mss_cache;
	__u32 ecn_flags;
	__u32 rate_delivered;
	__u32 rate_interval_us;
	__u32 packets_out;
	__u32 retrans_out;
	__u32 total_retrans;
	__u32 segs_in;
	__u32 data_segs_in;
	__u32 segs_out;
	__u32 data_segs_out;
	__u32 lost_out;
	__u32 sacked_out;
	__u64 bytes_received;
	__u64 bytes_acked;
	__u32 dsack_dups;
	__u32 delivered;
	__u32 delivered_ce;
	__u32 icsk_retransmits;
};

struct bpf_sock_tuple {
	union {
		struct {
			__be32 saddr;
			__be32 daddr;
			__be16 sport;
			__be16 dport;
		} ipv4;
		struct {
			__be32 saddr[4];
			__be32 daddr[4];
			__be16 sport;
			__be16 dport;
		} ipv6;
	};
};

struct bpf_flow_keys {
	__u16 nhoff;
	__u16 thoff;
	__u16 addr_proto;
	__u8 is_frag;
	__u8 is_first_frag;
	__u8 is_encap;
	__u8 ip_proto;
	__be16 n_proto;
	__be16 sport;
	__be16 dport;
	union {
		struct {
			__be32 ipv4_src;
			__be32 ipv4_dst;
		};
		struct {
			__u32 ipv6_src[4];
			__u32 ipv6_dst[4];
		};
	};
	__u32 flags;
	__be32 flow_label;
};

struct bpf_fib_lookup {
	__u8 family;
	__u8 l4_protocol;
	__be16 sport;
	__be16 dport;
	union {
		__u16 tot_len;
		__u16 mtu_result;
	};
	__u32 ifindex;
	union {
		__u8 tos;
		__be32 flowinfo;
		__u32 rt_metric;
	};
	union {
		__be32 ipv4_src;
		__u32 ipv6_src[4];
	};
	union {
		__be32 ipv4_dst;
		__u32 ipv6_dst[4];
	};
	union {
		struct {
			__be16 h_vlan_proto;
			__be16 h_vlan_TCI;
		};
		__u32 tbid;
	};
	union {
		struct {
			__u32 mark;
		};
		struct {
			__u8 smac[6];
			__u8 dmac[6];
		};
	};
};

struct bpf_redir_neigh {
	__u32 nh_family;
	union {
		__be32 ipv4_nh;
		__u32 ipv6_nh[4];
	};
};

struct bpf_tunnel_key {
	__u32 tunnel_id;
	union {
		__u32 remote_ipv4;
		__u32 remote_ipv6[4];
	};
	__u8 tunnel_tos;
	__u8 tunnel_ttl;
	union {
		__u16 tunnel_ext;
		__be16 tunnel_flags;
	};
	__u32 tunnel_label;
	union {
		__u32 local_ipv4;
		__u32 local_ipv6[4];
	};
};

struct bpf_xfrm_state {
	__u32 reqid;
	__u32 spi;
	__u16 family;
	__u16 ext;
	union {
		__u32 remote_ipv4;
		__u32 remote_ipv6[4];
	};
};

struct bpf_perf_event_value {
	__u64 counter;
	__u64 enabled;
	__u64 running;
};

struct btf_ptr {
	void *ptr;
	__u32 type_id;
	__u32 flags;
};

struct bpf_spin_lock {
	__u32 val;
};

struct bpf_timer {
	__u64 __opaque[2];
};

struct bpf_dynptr {
	__u64 __opaque[2];
};

#endif

/* The kernel's own structs, whose members differ from kernel to kernel: see core.h. */
struct bpf_perf_event_data;
struct cgroup;
struct file;
struct inode;
struct iphdr;
struct ipv6hdr;
struct linux_binprm;
struct mptcp_sock;
struct path;
struct pt_regs;
struct seq_file;
struct sock;
struct sockaddr;
struct socket;
struct task_struct;
struct tcp6_sock;
struct tcp_request_sock;
struct tcp_sock;
struct tcp_timewait_sock;
struct tcphdr;
struct udp6_sock;
struct unix_sock;

/* All helpers that helpers.h does not have, by their numbers in ___BPF_FUNC_MAPPER. */
HELPER(4, long, bpf_probe_read, void *dst, __u32 size, const void *unsafe_ptr);
HELPER(6, long, bpf_trace_printk, const char *fmt, __u32 fmt_size, ...);
HELPER(7, __u32, bpf_get_prandom_u32, void);
HELPER(9, long, bpf_skb_store_bytes, struct __sk_buff *skb, __u32 offset, const void *from, __u32 len, __u64 flags);
HELPER(10, long, bpf_l3_csum_replace, struct __sk_buff *skb, __u32 offset, __u64 from, __u64 to, __u64 size);
HELPER(11, long, bpf_l4_csum_replace, struct __sk_buff *skb, __u32 offset, __u64 from, __u64 to, __u64 flags);
HELPER(12, long, bpf_tail_call, void *ctx, void *prog_array_map, __u32 index);
HELPER(13, long, bpf_clone_redirect, struct __sk_buff *skb, __u32 ifindex, __u64 flags);
HELPER(17, __u32, bpf_get_cgroup_classid, struct __sk_buff *skb);
HELPER(18, long, bpf_skb_vlan_push, struct __sk_buff *skb, __be16 vlan_proto, __u16 vlan_tci);
HELPER(19, long, bpf_skb_vlan_pop, struct __sk_buff *skb);
HELPER(20, long, bpf_skb_get_tunnel_key, struct __sk_buff *skb, struct bpf_tunnel_key *key, __u32 size,
       __u64 flags);
HELPER(21, long, bpf_skb_set_tunnel_key, struct __sk_buff *skb, struct bpf_tunnel_key *key, __u32 size,
       __u64 flags);
HELPER(22, __u64, bpf_perf_event_read, void *map, __u64 flags);
HELPER(23, long, bpf_redirect, __u32 ifindex, __u64 flags);
HELPER(24, __u32, bpf_get_route_realm, struct __sk_buff *skb);
HELPER(25, long, bpf_perf_event_output, void *ctx, void *map, __u64 flags, void *data, __u64 size);
HELPER(26, long, bpf_skb_load_bytes, const void *skb, __u32 offset, void *to, __u32 len);
HELPER(28, __s64, bpf_csum_diff, __be32 *from, __u32 from_size, __be32 *to, __u32 to_size, __u32 seed);
HELPER(29, long, bpf_skb_get_tunnel_opt, struct __sk_buff *skb, void *opt, __u32 size);
HELPER(30, long, bpf_skb_set_tunnel_opt, struct __sk_buff *skb, void *opt, __u32 size);
HELPER(31, long, bpf_skb_change_proto, struct __sk_buff *skb, __be16 proto, __u64 flags);
HELPER(32, long, bpf_skb_change_type, struct __sk_buff *skb, __u32 type);
HELPER(33, long, bpf_skb_under_cgroup, struct __sk_buff *skb, void *map, __u32 index);
HELPER(34, __u32, bpf_get_hash_recalc, struct __sk_buff *skb);
HELPER(35, __u64, bpf_get_current_task, void);
HELPER(36, long, bpf_probe_write_user, void *dst, const void *src, __u32 len);
HELPER(37, long, bpf_current_task_under_cgroup, void *map, __u32 index);
HELPER(38, long, bpf_skb_change_tail, struct __sk_buff *skb, __u32 len, __u64 flags);
HELPER(39, long, bpf_skb_pull_data, struct __sk_buff *skb, __u32 len);
HELPER(40, __s64, bpf_csum_update, struct __sk_buff *skb, __u32 csum);
HELPER(41, void, bpf_set_hash_invalid, struct __sk_buff *skb);
HELPER(42, long, bpf_get_numa_node_id, void);
HELPER(43, long, bpf_skb_change_head, struct __sk_buff *skb, __u32 len, __u64 flags);
HELPER(44, long, bpf_xdp_adjust_head, struct xdp_md *xdp_md, int delta);
HELPER(45, long, bpf_probe_read_str, void *dst, __u32 size, const void *unsafe_ptr);
HELPER(46, __u64, bpf_get_socket_cookie, struct sock *sk);
HELPER(47, __u32, bpf_get_socket_uid, struct __sk_buff *skb);
HELPER(48, long, bpf_set_hash, struct __sk_buff *skb, __u32 hash);
HELPER(49, long, bpf_setsockopt, void *bpf_socket, int level, int optname, void *optval, int optlen);
HELPER(50, long, bpf_skb_adjust_room, struct __sk_buff *skb, __s32 len_diff, __u32 mode, __u64 flags);
HELPER(51, long, bpf_redirect_map, void *map, __u32 key, __u64 flags);
HELPER(52, long, bpf_sk_redirect_map, struct __sk_buff *skb, void *map, __u32 key, __u64 flags);
HELPER(53, long, bpf_sock_map_update, struct bpf_sock_ops *skops, void *map, void *key, __u64 flags);
HELPER(54, long, bpf_xdp_adjust_meta, struct xdp_md *xdp_md, int delta);
HELPER(55, long, bpf_perf_event_read_value, void *map, __u64 flags, struct bpf_perf_event_value *buf,
       __u32 buf_size);
HELPER(56, long, bpf_perf_prog_read_value, struct bpf_perf_event_data *ctx, struct bpf_perf_event_value *buf,
       __u32 buf_size);
HELPER(57, long, bpf_getsockopt, void *bpf_socket, int level, int optname, void *optval, int optlen);
HELPER(58, long, bpf_override_return, struct pt_regs *regs, __u64 rc);
HELPER(59, long, bpf_sock_ops_cb_flags_set, struct bpf_sock_ops *bpf_sock, int argval);
HELPER(60, long, bpf_msg_redirect_map, struct sk_msg_md *msg, void *map, __u32 key, __u64 flags);
HELPER(61, long, bpf_msg_apply_bytes, struct sk_msg_md *msg, __u32 bytes);
HELPER(62, long, bpf_msg_cork_bytes, struct sk_msg_md *msg, __u32 bytes);
HELPER(63, long, bpf_msg_pull_data, struct sk_msg_md *msg, __u32 start, __u32 end, __u64 flags);
HELPER(64, long, bpf_bind, struct bpf_sock_addr *ctx, struct sockaddr *addr, int addr_len);
HELPER(65, long, bpf_xdp_adjust_tail, struct xdp_md *xdp_md, int delta);
HELPER(66, long, bpf_skb_get_xfrm_state, struct __sk_buff *skb, __u32 index, struct bpf_xfrm_state *xfrm_state,
       __u32 size, __u64 flags);
HELPER(68, long, bpf_skb_load_bytes_relative, const void *skb, __u32 offset, void *to, __u32 len,
       __u32 start_header);
HELPER(69, long, bpf_fib_lookup, void *ctx, struct bpf_fib_lookup *params, int plen, __u32 flags);
HELPER(70, long, bpf_sock_hash_update, struct bpf_sock_ops *skops, void *map, void *key, __u64 flags);
HELPER(71, long, bpf_msg_redirect_hash, struct sk_msg_md *msg, void *map, void *key, __u64 flags);
HELPER(72, long, bpf_sk_redirect_hash, struct __sk_buff *skb, void *map, void *key, __u64 flags);
HELPER(73, long, bpf_lwt_push_encap, struct __sk_buff *skb, __u32 type, void *hdr, __u32 len);
HELPER(74, long, bpf_lwt_seg6_store_bytes, struct __sk_buff *skb, __u32 offset, const void *from, __u32 len);
HELPER(75, long, bpf_lwt_seg6_adjust_srh, struct __sk_buff *skb, __u32 offset, __s32 delta);
HELPER(76, long, bpf_lwt_seg6_action, struct __sk_buff *skb, __u32 action, void *param, __u32 param_len);
HELPER(77, long, bpf_rc_repeat, void *ctx);
HELPER(78, long, bpf_rc_keydown, void *ctx, __u32 protocol, __u64 scancode, __u32 toggle);
HELPER(79, __u64, bpf_skb_cgroup_id, struct __sk_buff *skb);
HELPER(81, void *, bpf_get_local_storage, void *map, __u64 flags);
HELPER(82, long, bpf_sk_select_reuseport, struct sk_reuseport_md *reuse, void *map, void *key, __u64 flags);
HELPER(83, __u64, bpf_skb_ancestor_cgroup_id, struct __sk_buff *skb, int ancestor_level);
HELPER(84, struct bpf_sock *, bpf_sk_lookup_tcp, void *ctx, struct bpf_sock_tuple *tuple, __u32 tuple_size,
       __u64 netns, __u64 flags);
HELPER(85, struct bpf_sock *, bpf_sk_lookup_udp, void *ctx, struct bpf_sock_tuple *tuple, __u32 tuple_size,
       __u64 netns, __u64 flags);
HELPER(86, long, bpf_sk_release, void *sock);
HELPER(87, long, bpf_map_push_elem, void *map, const void *value, __u64 flags);
HELPER(88, long, bpf_map_pop_elem, void *map, void *value);
HELPER(89, long, bpf_map_peek_elem, void *map, void *value);
HELPER(90, long, bpf_msg_push_data, struct sk_msg_md *msg, __u32 start, __u32 len, __u64 flags);
HELPER(91, long, bpf_msg_pop_data, struct sk_msg_md *msg, __u32 start, __u32 len, __u64 flags);
HELPER(92, long, bpf_rc_pointer_rel, void *ctx, __s32 rel_x, __s32 rel_y);
HELPER(93, long, bpf_spin_lock, struct bpf_spin_lock *lock);
HELPER(94, long, bpf_spin_unlock, struct bpf_spin_lock *lock);
HELPER(95, struct bpf_sock *, bpf_sk_fullsock, struct bpf_sock *sk);
HELPER(96, struct bpf_tcp_sock *, bpf_tcp_sock, struct bpf_sock *sk);
HELPER(97, long, bpf_skb_ecn_set_ce, struct __sk_buff *skb);
HELPER(98, struct bpf_sock *, bpf_get_listener_sock, struct bpf_sock *sk);
HELPER(99, struct bpf_sock *, bpf_skc_lookup_tcp, void *ctx, struct bpf_sock_tuple *tuple, __u32 tuple_size,
       __u64 netns, __u64 flags);
HELPER(100, long, bpf_tcp_check_syncookie, void *sk, void *iph, __u32 iph_len, struct tcphdr *th, __u32 th_len);
HELPER(101, long, bpf_sysctl_get_name, struct bpf_sysctl *ctx, char *buf, __u64 buf_len, __u64 flags);
HELPER(102, long, bpf_sysctl_get_current_value, struct bpf_sysctl *ctx, char *buf, __u64 buf_len);
HELPER(103, long, bpf_sysctl_get_new_value, struct bpf_sysctl *ctx, char *buf, __u64 buf_len);
HELPER(104, long, bpf_sysctl_set_new_value, struct bpf_sysctl *ctx, const char *buf, __u64 buf_len);
HELPER(105, long, bpf_strtol, const char *buf, __u64 buf_len, __u64 flags, long *res);
HELPER(106, long, bpf_strtoul, const char *buf, __u64 buf_len, __u64 flags, unsigned long *res);
HELPER(107, void *, bpf_sk_storage_get, void *map, void *sk, void *value, __u64 flags);
HELPER(108, long, bpf_sk_storage_delete, void *map, void *sk);
HELPER(109, long, bpf_send_signal, __u32 sig);
HELPER(110, __s64, bpf_tcp_gen_syncookie, void *sk, void *iph, __u32 iph_len, struct tcphdr *th, __u32 th_len);
HELPER(111, long, bpf_skb_output, void *ctx, void *map, __u64 flags, void *data, __u64 size);
HELPER(115, long, bpf_probe_read_kernel_str, void *dst, __u32 size, const void *unsafe_ptr);
HELPER(116, long, bpf_tcp_send_ack, void *tp, __u32 rcv_nxt);
HELPER(117, long, bpf_send_signal_thread, __u32 sig);
HELPER(118, __u64, bpf_jiffies64, void);
HELPER(119, long, bpf_read_branch_records, struct bpf_perf_event_data *ctx, void *buf, __u32 size, __u64 flags);
HELPER(121, long, bpf_xdp_output, void *ctx, void *map, __u64 flags, void *data, __u64 size);
HELPER(122, __u64, bpf_get_netns_cookie, void *ctx);
HELPER(123, __u64, bpf_get_current_ancestor_cgroup_id, int ancestor_level);
HELPER(124, long, bpf_sk_assign, struct bpf_sk_lookup *ctx, struct bpf_sock *sk, __u64 flags);
HELPER(125, __u64, bpf_ktime_get_boot_ns, void);
HELPER(126, long, bpf_seq_printf, struct seq_file *m, const char *fmt, __u32 fmt_size, const void *data,
       __u32 data_len);
HELPER(127, long, bpf_seq_write, struct seq_file *m, const void *data, __u32 len);
HELPER(128, __u64, bpf_sk_cgroup_id, void *sk);
HELPER(129, __u64, bpf_sk_ancestor_cgroup_id, void *sk, int ancestor_level);
HELPER(135, long, bpf_csum_level, struct __sk_buff *skb, __u64 level);
HELPER(136, struct tcp6_sock *, bpf_skc_to_tcp6_sock, void *sk);
HELPER(137, struct tcp_sock *, bpf_skc_to_tcp_sock, void *sk);
HELPER(138, struct tcp_timewait_sock *, bpf_skc_to_tcp_timewait_sock, void *sk);
HELPER(139, struct tcp_request_sock *, bpf_skc_to_tcp_request_sock, void *sk);
HELPER(140, struct udp6_sock *, bpf_skc_to_udp6_sock, void *sk);
HELPER(141, long, bpf_get_task_stack, struct task_struct *task, void *buf, __u32 size, __u64 flags);
HELPER(142, long, bpf_load_hdr_opt, struct bpf_sock_ops *skops, void *searchby_res, __u32 len, __u64 flags);
HELPER(143, long, bpf_store_hdr_opt, struct bpf_sock_ops *skops, const void *from, __u32 len, __u64 flags);
HELPER(144, long, bpf_reserve_hdr_opt, struct bpf_sock_ops *skops, __u32 len, __u64 flags);
HELPER(145, void *, bpf_inode_storage_get, void *map, void *inode, void *value, __u64 flags);
HELPER(146, int, bpf_inode_storage_delete, void *map, void *inode);
HELPER(147, long, bpf_d_path, struct path *path, char *buf, __u32 sz);
HELPER(148, long, bpf_copy_from_user, void *dst, __u32 size, const void *user_ptr);
HELPER(149, long, bpf_snprintf_btf, char *str, __u32 str_size, struct btf_ptr *ptr, __u32 btf_ptr_size,
       __u64 flags);
HELPER(150, long, bpf_seq_printf_btf, struct seq_file *m, struct btf_ptr *ptr, __u32 ptr_size, __u64 flags);
HELPER(151, __u64, bpf_skb_cgroup_classid, struct __sk_buff *skb);
HELPER(152, long, bpf_redirect_neigh, __u32 ifindex, struct bpf_redir_neigh *params, int plen, __u64 flags);
HELPER(153, void *, bpf_per_cpu_ptr, const void *percpu_ptr, __u32 cpu);
HELPER(154, void *, bpf_this_cpu_ptr, const void *percpu_ptr);
HELPER(155, long, bpf_redirect_peer, __u32 ifindex, __u64 flags);
HELPER(156, void *, bpf_task_storage_get, void *map, struct task_struct *task, void *value, __u64 flags);
HELPER(157, long, bpf_task_storage_delete, void *map, struct task_struct *task);
HELPER(158, struct task_struct *, bpf_get_current_task_btf, void);
HELPER(159, long, bpf_bprm_opts_set, struct linux_binprm *bprm, __u64 flags);
HELPER(160, __u64, bpf_ktime_get_coarse_ns, void);
HELPER(161, long, bpf_ima_inode_hash, struct inode *inode, void *dst, __u32 size);
HELPER(162, struct socket *, bpf_sock_from_file, struct file *file);
HELPER(163, long, bpf_check_mtu, void *ctx, __u32 ifindex, __u32 *mtu_len, __s32 len_diff, __u64 flags);
HELPER(164, long, bpf_for_each_map_elem, void *map, void *callback_fn, void *callback_ctx, __u64 flags);
HELPER(165, long, bpf_snprintf, char *str, __u32 str_size, const char *fmt, __u64 *data, __u32 data_len);
HELPER(166, long, bpf_sys_bpf, __u32 cmd, void *attr, __u32 attr_size);
HELPER(167, long, bpf_btf_find_by_name_kind, char *name, int name_sz, __u32 kind, int flags);
HELPER(168, long, bpf_sys_close, __u32 fd);
HELPER(169, long, bpf_timer_init, struct bpf_timer *timer, void *map, __u64 flags);
HELPER(170, long, bpf_timer_set_callback, struct bpf_timer *timer, void *callback_fn);
HELPER(171, long, bpf_timer_start, struct bpf_timer *timer, __u64 nsecs, __u64 flags);
HELPER(172, long, bpf_timer_cancel, struct bpf_timer *timer);
HELPER(173, __u64, bpf_get_func_ip, void *ctx);
HELPER(175, long, bpf_task_pt_regs, struct task_struct *task);
HELPER(176, long, bpf_get_branch_snapshot, void *entries, __u32 size, __u64 flags);
HELPER(177, long, bpf_trace_vprintk, const char *fmt, __u32 fmt_size, const void *data, __u32 data_len);
HELPER(178, struct unix_sock *, bpf_skc_to_unix_sock, void *sk);
HELPER(179, long, bpf_kallsyms_lookup_name, const char *name, int name_sz, int flags, __u64 *res);
HELPER(180, long, bpf_find_vma, struct task_struct *task, __u64 addr, void *callback_fn, void *callback_ctx,
       __u64 flags);
HELPER(181, long, bpf_loop, __u32 nr_loops, void *callback_fn, void *callback_ctx, __u64 flags);
HELPER(182, long, bpf_strncmp, const char *s1, __u32 s1_sz, const char *s2);
HELPER(183, long, bpf_get_func_arg, void *ctx, __u32 n, __u64 *value);
HELPER(184, long, bpf_get_func_ret, void *ctx, __u64 *value);
HELPER(185, long, bpf_get_func_arg_cnt, void *ctx);
HELPER(186, int, bpf_get_retval, void);
HELPER(187, int, bpf_set_retval, int retval);
HELPER(188, __u64, bpf_xdp_get_buff_len, struct xdp_md *xdp_md);
HELPER(189, long, bpf_xdp_load_bytes, struct xdp_md *xdp_md, __u32 offset, void *buf, __u32 len);
HELPER(190, long, bpf_xdp_store_bytes, struct xdp_md *xdp_md, __u32 offset, void *buf, __u32 len);
HELPER(191, long, bpf_copy_from_user_task, void *dst, __u32 size, const void *user_ptr, struct task_struct *tsk,
       __u64 flags);
HELPER(192, long, bpf_skb_set_tstamp, struct __sk_buff *skb, __u64 tstamp, __u32 tstamp_type);
HELPER(193, long, bpf_ima_file_hash, struct file *file, void *dst, __u32 size);
HELPER(194, void *, bpf_kptr_xchg, void *map_value, void *ptr);
HELPER(195, void *, bpf_map_lookup_percpu_elem, void *map, const void *key, __u32 cpu);
HELPER(196, struct mptcp_sock *, bpf_skc_to_mptcp_sock, void *sk);
HELPER(197, long, bpf_dynptr_from_mem, void *data, __u32 size, __u64 flags, struct bpf_dynptr *ptr);
HELPER(198, long, bpf_ringbuf_reserve_dynptr, void *ringbuf, __u32 size, __u64 flags, struct bpf_dynptr *ptr);
HELPER(199, void, bpf_ringbuf_submit_dynptr, struct bpf_dynptr *ptr, __u64 flags);
HELPER(200, void, bpf_ringbuf_discard_dynptr, struct bpf_dynptr *ptr, __u64 flags);
HELPER(201, long, bpf_dynptr_read, void *dst, __u32 len, struct bpf_dynptr *src, __u32 offset, __u64 flags);
HELPER(202, long, bpf_dynptr_write, struct bpf_dynptr *dst, __u32 offset, void *src, __u32 len, __u64 flags);
HELPER(203, void *, bpf_dynptr_data, struct bpf_dynptr *ptr, __u32 offset, __u32 len);
HELPER(204, __s64, bpf_tcp_raw_gen_syncookie_ipv4, struct iphdr *iph, struct tcphdr *th, __u32 th_len);
HELPER(205, __s64, bpf_tcp_raw_gen_syncookie_ipv6, struct ipv6hdr *iph, struct tcphdr *th, __u32 th_len);
HELPER(206, long, bpf_tcp_raw_check_syncookie_ipv4, struct iphdr *iph, struct tcphdr *th);
HELPER(207, long, bpf_tcp_raw_check_syncookie_ipv6, struct ipv6hdr *iph, struct tcphdr *th);
HELPER(208, __u64, bpf_ktime_get_tai_ns, void);
HELPER(209, long, bpf_user_ringbuf_drain, void *map, void *callback_fn, void *ctx, __u64 flags);
HELPER(210, void *, bpf_cgrp_storage_get, void *map, struct cgroup *cgroup, void *value, __u64 flags);
HELPER(211, long, bpf_cgrp_storage_delete, void *map, struct cgroup *cgroup);

#endif
