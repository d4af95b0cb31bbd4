/* SPDX-License-Identifier: MIT */
/* In the place of the header that bpftool generates: programs of a test's own, which defines these
 * functions. */
#ifndef ACCOUNT_SKELETON_H
#define ACCOUNT_SKELETON_H

#include "bpf/account/account.h"
#include "parts.h"

struct rti_account_bpf {
	struct {
		struct skeleton_map rows, limbos, text_slots, ring;
	} maps;
	struct {
		struct skeleton_program set_up, arm, sum_up, search;
	} progs;
	struct {
		int walk_fd, adopt_all_fd;
	} links;
	struct {
		struct rti_account_shared shared;
	} * bss;
	struct {
		struct rti_account_settings settings;
	} * rodata;
};

struct rti_account_bpf *rti_account_bpf__open(void);
int rti_account_bpf__load(struct rti_account_bpf *programs);
void rti_account_bpf__destroy(struct rti_account_bpf *programs);
int rti_account_bpf__on_free__attach(struct rti_account_bpf *programs);
int rti_account_bpf__on_exit__attach(struct rti_account_bpf *programs);
int rti_account_bpf__on_prepare_exec__attach(struct rti_account_bpf *programs);
int rti_account_bpf__on_exec__attach(struct rti_account_bpf *programs);
int rti_account_bpf__on_fork__attach(struct rti_account_bpf *programs);
int rti_account_bpf__walk__attach(struct rti_account_bpf *programs);
int rti_account_bpf__adopt_all__attach(struct rti_account_bpf *programs);

#endif
