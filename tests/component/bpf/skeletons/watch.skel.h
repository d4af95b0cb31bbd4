/* SPDX-License-Identifier: MIT */
/* In the place of the header that bpftool generates: programs of a test's own, which defines these
 * functions. */
#ifndef WATCH_SKELETON_H
#define WATCH_SKELETON_H

#include "bpf/watch/watch.h"
#include "parts.h"

struct rti_watch_bpf {
	struct {
		struct skeleton_map groups, summary, cpus;
	} maps;
	struct {
		struct skeleton_program set_up, list_on_cpu;
	} progs;
	struct {
		int search_fd;
	} links;
	struct {
		struct rti_watch_shared shared;
	} * bss;
	struct {
		struct rti_watch_settings settings;
	} * rodata;
};

struct rti_watch_bpf *rti_watch_bpf__open(void);
int rti_watch_bpf__load(struct rti_watch_bpf *programs);
void rti_watch_bpf__destroy(struct rti_watch_bpf *programs);
int rti_watch_bpf__on_switch__attach(struct rti_watch_bpf *programs);
int rti_watch_bpf__on_reclaim__attach(struct rti_watch_bpf *programs);
int rti_watch_bpf__on_exit__attach(struct rti_watch_bpf *programs);
int rti_watch_bpf__on_new_thread__attach(struct rti_watch_bpf *programs);
int rti_watch_bpf__on_fork__attach(struct rti_watch_bpf *programs);
int rti_watch_bpf__search__attach(struct rti_watch_bpf *programs);

#endif
