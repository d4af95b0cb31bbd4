/* SPDX-License-Identifier: MIT */
/* In the place of the header that bpftool generates: programs of a test's own, which defines these
 * functions. */
#ifndef TRACE_SKELETON_H
#define TRACE_SKELETON_H

#include "bpf/trace/trace.h"
#include "parts.h"

struct rti_trace_bpf {
	struct {
		struct skeleton_map ring;
	} maps;
	struct {
		struct skeleton_program set_up, arm;
	} progs;
	struct {
		int seed_fd;
	} links;
	struct {
		struct rti_trace_shared shared;
	} * bss;
	struct {
		struct rti_trace_settings settings;
	} * rodata;
};

struct rti_trace_bpf *rti_trace_bpf__open(void);
int rti_trace_bpf__load(struct rti_trace_bpf *programs);
void rti_trace_bpf__destroy(struct rti_trace_bpf *programs);
int rti_trace_bpf__on_exit__attach(struct rti_trace_bpf *programs);
int rti_trace_bpf__on_fork__attach(struct rti_trace_bpf *programs);
int rti_trace_bpf__on_exec__attach(struct rti_trace_bpf *programs);
int rti_trace_bpf__on_entry__attach(struct rti_trace_bpf *programs);
int rti_trace_bpf__on_return__attach(struct rti_trace_bpf *programs);
int rti_trace_bpf__seed__attach(struct rti_trace_bpf *programs);

#endif
