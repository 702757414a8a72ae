// SPDX-License-Identifier: Apache-2.0
/*
 * Prints the structs of bpf(2) and perf_event_open(2) as the kernel's own headers lay them out, one a line: name and
 * bytes in hexadecimal. AttrGoldenTest compares them with what the Java encoders write. Pointers are 0xA1, 0xA2, ... in
 * the order in which the encoder allocates what they point at.
 *
 * The headers must be as new as the newest field, which is Linux 7.2 or later; the BTF of a running kernel has them:
 *
 *   bpftool btf dump file /sys/kernel/btf/vmlinux format c > vmlinux.h
 *   gcc -w -include vmlinux.h attr-golden.c -o attr-golden && ./attr-golden > attr-golden.txt
 *
 * and so has Debian's package linux-libc-dev of that version: -include linux/bpf.h -include linux/perf_event.h.
 */
int printf(const char *format, ...);
void *memset(void *to, int byte, unsigned long size);
void *memcpy(void *to, const void *from, unsigned long size);

static void dump(const char *name, const void *struct_, int size)
{
	const unsigned char *bytes = struct_;

	printf("%s ", name);
	for (int i = 0; i < size; i++)
		printf("%02x", bytes[i]);
	printf("\n");
}

int main(void)
{
	union bpf_attr a;

	memset(&a, 0, sizeof a);
	a.map_type = 1;
	a.key_size = 4;
	a.value_size = 8;
	a.max_entries = 16;
	a.map_flags = 0x400;
	a.inner_map_fd = 1001;
	a.numa_node = 2;
	a.map_ifindex = 9;
	memcpy(a.map_name, "events", 6);
	a.btf_fd = 1002;
	a.btf_key_type_id = 5;
	a.btf_value_type_id = 6;
	a.btf_vmlinux_value_type_id = 7;
	a.map_extra = 0x1122334455667788;
	dump("map_create", &a, 72);
	a.map_flags |= 1 << 15;
	a.value_type_btf_obj_fd = 1003;
	dump("map_create_module", &a, 80);
	a.map_flags &= ~(1 << 15);
	a.value_type_btf_obj_fd = 0;
	a.map_flags |= 1 << 16;
	a.map_token_fd = 1003;
	dump("map_create_token", &a, 80);

	memset(&a, 0, sizeof a);
	a.token_create.bpffs_fd = 1001;
	dump("token_create", &a, 8);

	memset(&a, 0, sizeof a);
	a.prog_type = 2;
	a.insn_cnt = 2;
	a.insns = 0xA2;
	a.license = 0xA3;
	a.prog_flags = 0x10 | 1 << 16;
	memcpy(a.prog_name, "on_gc", 5);
	a.prog_token_fd = 1003;
	dump("prog_load_token", &a, 152);

	memset(&a, 0, sizeof a);
	a.map_fd = 1001;
	a.key = 0x10;
	a.value = 0x20;
	a.flags = 2;
	dump("elem", &a, 32);

	memset(&a, 0, sizeof a);
	a.batch.in_batch = 0x10;
	a.batch.out_batch = 0x20;
	a.batch.keys = 0x30;
	a.batch.values = 0x40;
	a.batch.count = 5;
	a.batch.map_fd = 1001;
	a.batch.elem_flags = 3;
	dump("batch", &a, 56);

	memset(&a, 0, sizeof a);
	a.prog_type = 2;
	a.insn_cnt = 2;
	a.insns = 0xA2;
	a.license = 0xA3;
	a.log_level = 1;
	a.log_size = 64;
	a.log_buf = 0xA1;
	a.kern_version = 0x060102;
	a.prog_flags = 0x10;
	memcpy(a.prog_name, "on_gc", 5);
	a.prog_ifindex = 9;
	a.expected_attach_type = 48;
	a.prog_btf_fd = 1001;
	a.func_info_rec_size = 8;
	a.func_info = 0xA4;
	a.func_info_cnt = 1;
	a.line_info_rec_size = 16;
	a.line_info = 0xA5;
	a.line_info_cnt = 1;
	a.attach_btf_id = 9;
	a.attach_prog_fd = 1002;
	a.fd_array = 0xA6;
	dump("prog_load", &a, 144);

	memset(&a, 0, sizeof a);
	a.btf = 0xA2;
	a.btf_log_buf = 0xA1;
	a.btf_size = 3;
	a.btf_log_size = 64;
	a.btf_log_level = 1;
	dump("btf_load", &a, 32);
	a.btf_flags |= 1 << 16;
	a.btf_token_fd = 1003;
	dump("btf_load_token", &a, 40);

	memset(&a, 0, sizeof a);
	a.pathname = 0xA1;
	a.bpf_fd = 1001;
	dump("pin", &a, 16);

	memset(&a, 0, sizeof a);
	a.pathname = 0xA1;
	a.file_flags = 8;
	dump("get", &a, 16);

	memset(&a, 0, sizeof a);
	a.start_id = 7;
	dump("id", &a, 12);

	memset(&a, 0, sizeof a);
	a.info.bpf_fd = 1001;
	a.info.info_len = 88;
	a.info.info = 0xA1;
	dump("info", &a, 16);

	memset(&a, 0, sizeof a);
	a.raw_tracepoint.name = 0xA1;
	a.raw_tracepoint.prog_fd = 1001;
	a.raw_tracepoint.cookie = 7;
	dump("raw_tp", &a, 24);

	memset(&a, 0, sizeof a);
	a.link_create.prog_fd = 1001;
	a.link_create.target_fd = 1002;
	a.link_create.attach_type = 41;
	a.link_create.flags = 0;
	a.link_create.perf_event.bpf_cookie = 0x1122334455667788;
	dump("link_perf", &a, 64);

	memset(&a, 0, sizeof a);
	a.link_create.prog_fd = 1001;
	a.link_create.attach_type = 48;
	a.link_create.uprobe_multi.path = 0xA1;
	a.link_create.uprobe_multi.offsets = 0xA2;
	a.link_create.uprobe_multi.ref_ctr_offsets = 0xA3;
	a.link_create.uprobe_multi.cookies = 0xA4;
	a.link_create.uprobe_multi.cnt = 2;
	a.link_create.uprobe_multi.flags = 1;
	a.link_create.uprobe_multi.pid = 77;
	dump("link_uprobe_multi", &a, 64);

	memset(&a, 0, sizeof a);
	a.link_create.prog_fd = 1001;
	a.link_create.attach_type = 42;
	a.link_create.kprobe_multi.flags = 1;
	a.link_create.kprobe_multi.cnt = 2;
	a.link_create.kprobe_multi.addrs = 0xA1;
	a.link_create.kprobe_multi.cookies = 0xA2;
	dump("link_kprobe_multi", &a, 64);

	memset(&a, 0, sizeof a);
	a.link_create.prog_fd = 1001;
	a.link_create.attach_type = 59;
	a.link_create.tracing_multi.ids = 0xA1;
	a.link_create.tracing_multi.cookies = 0xA2;
	a.link_create.tracing_multi.cnt = 2;
	dump("link_tracing_multi", &a, 64);

	memset(&a, 0, sizeof a);
	a.link_update.link_fd = 1001;
	a.link_update.new_prog_fd = 1002;
	a.link_update.flags = 4;
	a.link_update.old_prog_fd = 1003;
	dump("link_update", &a, 16);

	memset(&a, 0, sizeof a);
	a.query.target_fd = 1001;
	a.query.attach_type = 1;
	a.query.query_flags = 1;
	a.query.prog_ids = 0xA1;
	a.query.prog_attach_flags = 0xA2;
	a.query.link_ids = 0xA3;
	a.query.prog_cnt = 5;
	dump("query", &a, 64);

	memset(&a, 0, sizeof a);
	a.task_fd_query.pid = 77;
	a.task_fd_query.fd = 5;
	a.task_fd_query.buf_len = 4096;
	a.task_fd_query.buf = 0xA1;
	dump("task_fd_query", &a, 48);

	memset(&a, 0, sizeof a);
	a.target_fd = 1002;
	a.attach_bpf_fd = 1001;
	a.attach_type = 4;
	a.attach_flags = 2;
	dump("attach", &a, 20);

	memset(&a, 0, sizeof a);
	a.test.prog_fd = 1001;
	a.test.data_size_in = 2;
	a.test.data_size_out = 32;
	a.test.data_in = 0xA4;
	a.test.data_out = 0xA1;
	a.test.repeat = 3;
	a.test.ctx_size_in = 4;
	a.test.ctx_size_out = 16;
	a.test.ctx_in = 0xA3;
	a.test.ctx_out = 0xA2;
	a.test.flags = 1;
	a.test.cpu = 2;
	a.test.batch_size = 7;
	dump("test_run", &a, 80);

	memset(&a, 0, sizeof a);
	a.prog_bind_map.prog_fd = 1001;
	a.prog_bind_map.map_fd = 1002;
	dump("bind", &a, 12);

	memset(&a, 0, sizeof a);
	a.prog_stream_read.stream_buf = 0xA1;
	a.prog_stream_read.stream_buf_len = 64;
	a.prog_stream_read.stream_id = 2;
	a.prog_stream_read.prog_fd = 1001;
	dump("stream_read", &a, 20);

	memset(&a, 0, sizeof a);
	a.prog_assoc_struct_ops.map_fd = 1001;
	a.prog_assoc_struct_ops.prog_fd = 2;
	a.prog_assoc_struct_ops.flags = 0;
	dump("associate", &a, 12);

	struct perf_event_attr p;
	memset(&p, 0, sizeof p);
	p.type = 8;
	p.size = 112;
	p.config = 0x100000001;
	p.sample_period = 99;
	p.sample_type = 0x400;
	p.disabled = 1;
	p.freq = 1;
	p.wakeup_events = 1;
	p.config1 = 0xA1;
	p.config2 = 0x1f40;
	dump("perf", &p, 112);

	/* BPF_LINK_CREATE of each kind of target: program 1001; what is opened or given besides, 1002 and 1003. */
#define TARGET(name, type, fields)                                                                                   \
	memset(&a, 0, sizeof a);                                                                                     \
	a.link_create.prog_fd = 1001;                                                                                \
	a.link_create.attach_type = type;                                                                            \
	fields;                                                                                                      \
	dump("target_" name, &a, 64)
	TARGET("xdp", BPF_XDP, a.link_create.target_ifindex = 1; a.link_create.flags = 2);
	TARGET("tcx", BPF_TCX_INGRESS, a.link_create.target_ifindex = 7);
	TARGET("tcx_first", BPF_TCX_EGRESS, a.link_create.target_ifindex = 7; a.link_create.flags = 8);
	TARGET("tcx_before_link", BPF_TCX_INGRESS, a.link_create.target_ifindex = 7;
	       a.link_create.flags = 8 | 1 << 13; a.link_create.tcx.relative_fd = 1002;
	       a.link_create.tcx.expected_revision = 5);
	TARGET("tcx_after_program_id", BPF_TCX_INGRESS, a.link_create.target_ifindex = 7;
	       a.link_create.flags = 16 | 32; a.link_create.tcx.relative_id = 77);
	TARGET("netkit_peer", BPF_NETKIT_PEER, a.link_create.target_ifindex = 7; a.link_create.flags = 8;
	       a.link_create.netkit.expected_revision = 3);
	TARGET("cgroup", BPF_CGROUP_INET_EGRESS, a.link_create.target_fd = 1002);
	TARGET("cgroup_before_link_id", BPF_CGROUP_INET_EGRESS, a.link_create.target_fd = 1002;
	       a.link_create.flags = 8 | 32 | 1 << 13; a.link_create.cgroup.relative_id = 9);
	TARGET("netfilter", BPF_NETFILTER, a.link_create.netfilter.pf = 2; a.link_create.netfilter.hooknum = 1;
	       a.link_create.netfilter.priority = -100; a.link_create.netfilter.flags = 1);
	TARGET("netns", BPF_SK_LOOKUP, a.link_create.target_fd = 1002);
	TARGET("sockmap", BPF_SK_MSG_VERDICT, a.link_create.target_fd = 1002);
	TARGET("iter", BPF_TRACE_ITER, );
	union bpf_iter_link_info over;
	TARGET("iter_map", BPF_TRACE_ITER, a.link_create.iter_info = 0xA1; a.link_create.iter_info_len = 4);
	memset(&over, 0, sizeof over);
	over.map.map_fd = 1002;
	dump("iter_info_map", &over, 4);
	TARGET("iter_cgroup", BPF_TRACE_ITER, a.link_create.iter_info = 0xA1; a.link_create.iter_info_len = 16);
	memset(&over, 0, sizeof over);
	over.cgroup.order = BPF_CGROUP_ITER_DESCENDANTS_POST;
	over.cgroup.cgroup_fd = 1002;
	dump("iter_info_cgroup", &over, 16);
	memset(&over, 0, sizeof over);
	over.task.pid = 42;
	dump("iter_info_process", &over, 16);
	memset(&over, 0, sizeof over);
	over.task.tid = 43;
	dump("iter_info_thread", &over, 16);
	TARGET("fentry_cookie", BPF_TRACE_FENTRY, a.link_create.tracing.cookie = 7);
	TARGET("freplace", 0, a.link_create.target_fd = 1002; a.link_create.tracing.target_btf_id = 3);
	TARGET("kprobe_session", BPF_TRACE_KPROBE_SESSION, a.link_create.kprobe_multi.cnt = 2;
	       a.link_create.kprobe_multi.syms = 0xA3; a.link_create.kprobe_multi.cookies = 0xA4);
	TARGET("uprobe_session", BPF_TRACE_UPROBE_SESSION, a.link_create.uprobe_multi.path = 0xA1;
	       a.link_create.uprobe_multi.offsets = 0xA2; a.link_create.uprobe_multi.cookies = 0xA3;
	       a.link_create.uprobe_multi.cnt = 2);
	TARGET("perf_event", BPF_PERF_EVENT, a.link_create.target_fd = 1002; a.link_create.perf_event.bpf_cookie = 7);
	TARGET("struct_ops", BPF_STRUCT_OPS, );

	memset(&p, 0, sizeof p);
	p.type = 1;
	p.size = 112;
	p.config = 0;
	p.sample_freq = 99;
	p.freq = 1;
	p.disabled = 1;
	dump("perf_clock", &p, 112);

	struct bpf_map_info m;
	memset(&m, 0, sizeof m);
	m.type = 1;
	m.id = 2;
	m.key_size = 4;
	m.value_size = 8;
	m.max_entries = 16;
	m.map_flags = 0x400;
	memcpy(m.name, "events", 6);
	m.ifindex = 3;
	m.btf_id = 4;
	m.btf_key_type_id = 5;
	m.btf_value_type_id = 6;
	m.map_extra = 7;
	dump("map_info", &m, 88);

	struct bpf_prog_info i;
	memset(&i, 0, sizeof i);
	i.type = 2;
	i.id = 3;
	memcpy(i.tag, "\x59\xf4\xa9\x31\x74\x4d\xcd\xc6", 8);
	i.jited_prog_len = 20;
	i.xlated_prog_len = 16;
	memcpy(i.name, "on_gc", 5);
	i.btf_id = 4;
	i.run_time_ns = 5;
	i.run_cnt = 6;
	i.recursion_misses = 7;
	i.verified_insns = 8;
	i.load_time = 9;
	i.created_by_uid = 10;
	i.nr_map_ids = 11;
	i.gpl_compatible = 1;
	dump("prog_info", &i, 224);

	memset(&i, 0, sizeof i);
	i.nr_map_ids = 2;
	i.map_ids = 0xA1;
	dump("prog_info_ask", &i, 224);

	struct bpf_link_info l;
	memset(&l, 0, sizeof l);
	l.type = 12;
	l.id = 2;
	l.prog_id = 3;
	l.uprobe_multi.count = 5;
	l.uprobe_multi.flags = 1;
	l.uprobe_multi.pid = 77;
	dump("link_info", &l, 64);

	/* What the kernel gives for each kind, and how it is asked for the text: pointer 0xA1, 64 bytes of room. */
#define LINK(name, number, fields)                                                                                   \
	memset(&l, 0, sizeof l);                                                                                     \
	l.type = number;                                                                                             \
	l.id = 2;                                                                                                    \
	l.prog_id = 3;                                                                                               \
	fields;                                                                                                      \
	dump("link_info_" name, &l, 64)
	LINK("raw_tp", 1, l.raw_tracepoint.cookie = 7);
	LINK("tracing", 2, l.tracing.attach_type = 24; l.tracing.target_obj_id = 1; l.tracing.target_btf_id = 9;
	     l.tracing.cookie = 7);
	LINK("cgroup", 3, l.cgroup.cgroup_id = 0x100000002; l.cgroup.attach_type = 1);
	LINK("iter", 4, l.iter.map.map_id = 6);
	LINK("netns", 5, l.netns.netns_ino = 8; l.netns.attach_type = 36);
	LINK("xdp", 6, l.xdp.ifindex = 4);
	LINK("perf_uprobe", 7, l.perf_event.type = 2; l.perf_event.uprobe.offset = 0x1f40; l.perf_event.uprobe.cookie = 7;
	     l.perf_event.uprobe.ref_ctr_offset = 0x30);
	LINK("perf_kprobe", 7, l.perf_event.type = 3; l.perf_event.kprobe.offset = 4; l.perf_event.kprobe.addr = -16;
	     l.perf_event.kprobe.missed = 2; l.perf_event.kprobe.cookie = 7);
	LINK("perf_tp", 7, l.perf_event.type = 5; l.perf_event.tracepoint.cookie = 7);
	LINK("perf_event", 7, l.perf_event.type = 6; l.perf_event.event.type = 1; l.perf_event.event.config = 9;
	     l.perf_event.event.cookie = 7);
	LINK("kprobe_multi", 8, l.kprobe_multi.count = 5; l.kprobe_multi.flags = 1; l.kprobe_multi.missed = 2);
	LINK("struct_ops", 9, l.struct_ops.map_id = 6);
	LINK("netfilter", 10, l.netfilter.pf = 2; l.netfilter.hooknum = 3; l.netfilter.priority = -100;
	     l.netfilter.flags = 1);
	LINK("tcx", 11, l.tcx.ifindex = 4; l.tcx.attach_type = 46);
	LINK("uprobe_multi", 12, l.uprobe_multi.count = 5; l.uprobe_multi.flags = 1; l.uprobe_multi.pid = 77);
	LINK("netkit", 13, l.netkit.ifindex = 4; l.netkit.attach_type = 55);
	LINK("sockmap", 14, l.sockmap.map_id = 6; l.sockmap.attach_type = 7);

#define ASK(name, pointer, size)                                                                                     \
	memset(&l, 0, sizeof l);                                                                                     \
	pointer = 0xA1;                                                                                              \
	size = 64;                                                                                                   \
	dump("link_info_ask_" name, &l, 64)
	ASK("raw_tp", l.raw_tracepoint.tp_name, l.raw_tracepoint.tp_name_len);
	ASK("iter", l.iter.target_name, l.iter.target_name_len);
	ASK("uprobe_multi", l.uprobe_multi.path, l.uprobe_multi.path_size);
	ASK("perf_uprobe", l.perf_event.uprobe.file_name, l.perf_event.uprobe.name_len);

	struct bpf_btf_info bi;
	memset(&bi, 0, sizeof bi);
	bi.btf = 0x10;
	bi.btf_size = 4;
	bi.id = 2;
	bi.name = 0x20;
	bi.name_len = 8;
	bi.kernel_btf = 1;
	dump("btf_info", &bi, 32);
}
