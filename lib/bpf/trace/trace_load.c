/* SPDX-License-Identifier: MIT */
/* Loads the BPF programs that trace calls. trace_load_raw.c includes this file, to load those that
 * were built for raw tracepoints. */
#include "bpf/trace/trace_load.h"

#include <errno.h>

#ifdef RTI_TRACE_RAW
#include "trace_raw.skel.h"
#define LOAD rti_trace_load_raw
#else
#include "trace.skel.h"
#define LOAD rti_trace_load
#endif

/* The exit hook comes first: a thread that is counted in must be counted out. */
static int attach(void *skeleton, bool is_tree)
{
	struct rti_trace_bpf *s = skeleton;
	bool is_attached;

#ifdef RTI_TRACE_RAW
	is_tree = true; /* marks are to be removed at exit */
#endif
	is_attached =
	    (!is_tree ||
	     (rti_trace_bpf__on_exit__attach(s) >= 0 && rti_trace_bpf__on_fork__attach(s) >= 0)) &&
	    rti_trace_bpf__on_exec__attach(s) >= 0 && rti_trace_bpf__on_entry__attach(s) >= 0 &&
	    rti_trace_bpf__on_return__attach(s) >= 0;
#ifndef RTI_TRACE_RAW
	is_attached = is_attached && (!is_tree || rti_trace_bpf__seed__attach(s) >= 0);
#endif
	return is_attached ? 0 : -errno;
}

#ifdef RTI_TRACE_RAW
#define SEED NULL
#else
#define SEED seed_link

static int seed_link(const void *skeleton)
{
	return ((const struct rti_trace_bpf *)skeleton)->links.seed_fd;
}
#endif

static void unload(void *skeleton)
{
	rti_trace_bpf__destroy(skeleton);
}

int LOAD(struct rti_trace_programs *out, const struct rti_trace_settings *settings,
         uint32_t ring_bytes)
{
	struct rti_trace_bpf *s = rti_trace_bpf__open();
	int err;

	if (!s)
		return -ENOMEM;
	s->rodata->settings = *settings;
	s->maps.ring.max_entries = ring_bytes;
#ifdef RTI_TRACE_RAW
	if (settings->marks_max)
		s->maps.marks.max_entries = settings->marks_max;
#endif
	err = rti_trace_bpf__load(s);
	if (err == 0 && !s->bss)
		err = -ENOMEM;
	if (err < 0) {
		rti_trace_bpf__destroy(s);
		return err;
	}
	*out = (struct rti_trace_programs){
		.skeleton = s,
		.shared = &s->bss->shared,
		.ring = s->maps.ring.map_fd,
		.set_up = s->progs.set_up.prog_fd,
		.arm = s->progs.arm.prog_fd,
		.seed = SEED,
		.attach = attach,
		.unload = unload,
	};
	return 0;
}
