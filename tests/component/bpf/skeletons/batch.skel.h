/* SPDX-License-Identifier: MIT */
/* In the place of the header that bpftool generates: a program of a test's own, which defines these
 * functions. */
#ifndef BATCH_SKELETON_H
#define BATCH_SKELETON_H

#include "bpf/batch/batch.h"
#include "parts.h"

struct rti_bpf__bss {
	struct rti_batch_request requests[RTI_BATCH_PIDS];
	struct rti_batch_row rows[RTI_BATCH_PIDS];
	uint32_t count, cpus;
};

struct rti_bpf {
	struct {
		struct skeleton_program set_up, read_batch;
	} progs;
	struct rti_bpf__bss *bss;
};

struct rti_bpf *rti_bpf__open(void);
int rti_bpf__load(struct rti_bpf *program);
void rti_bpf__destroy(struct rti_bpf *program);

#endif
