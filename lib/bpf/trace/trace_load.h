/* SPDX-License-Identifier: MIT */
/* Loads the BPF programs that trace calls, and attaches them. */
#ifndef RTI_TRACE_LOAD_H
#define RTI_TRACE_LOAD_H

#include "bpf/trace/trace.h"

/* Descriptors are borrowed. The programs go away with their last descriptor, so also when the
 * process is killed. */
struct rti_trace_programs {
	void *skeleton;
	struct rti_trace_shared *shared;
	int ring;                                    /* its map */
	int set_up, arm;                             /* programs to be run */
	int (*seed)(const void *skeleton);           /* the link of an iterator; NULL: none */
	int (*attach)(void *skeleton, bool is_tree); /* returns 0 or -errno */
	void (*unload)(void *skeleton);
};

/* Load them. Returns 0; or -errno, and nothing is left. */
int rti_trace_load(struct rti_trace_programs *out, const struct rti_trace_settings *settings,
                   uint32_t ring_bytes);

/* The same for raw tracepoints: they can search no running tree. */
int rti_trace_load_raw(struct rti_trace_programs *out, const struct rti_trace_settings *settings,
                       uint32_t ring_bytes);

#endif
