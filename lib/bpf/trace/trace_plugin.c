/* SPDX-License-Identifier: MIT */
/* The plug-in's part that traces calls: begins a trace, and reads the ring. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf/program.h"
#include "bpf/ring.h"
#include "bpf/trace/trace.h"
#include "bpf/trace/trace_load.h"

/* A pass marks what the pass before it could not see. E.g.: a child of a child with a lower pid. */
#define PASSES_MAX 64
#define OVERFLOW_UID 65534u

extern const struct rti_trace_ops rti_bpf_trace __attribute__((visibility("default")));

/* What the caller's clocks are ahead of the kernel's: not 0 in a time namespace. */
struct clock_offsets {
	int64_t monotonic_ns, boottime_ns;
};

struct tracer {
	struct rti_trace_programs programs;
	struct clock_offsets offsets;
	struct rti_ring ring;
	bool is_tree, is_over;
	uint64_t unmarked; /* rti_trace_shared.unmarked when the tree was searched last */
};

/* Mark all threads of the tree. */
static int search_tree(struct tracer *t)
{
	struct rti_trace_shared *shared = t->programs.shared;
	int err = 0;

	t->unmarked = __atomic_load_n(&shared->unmarked, __ATOMIC_RELAXED);
	__atomic_store_n(&shared->is_seeding, 1, __ATOMIC_SEQ_CST);
	shared->found = 1;
	for (int i = 0; err == 0 && shared->found && i < PASSES_MAX; i++) {
		__atomic_store_n(&shared->found, 0, __ATOMIC_SEQ_CST);
		err = rti_program_iterate(t->programs.seed(t->programs.skeleton));
	}
	__atomic_store_n(&shared->is_seeding, 0, __ATOMIC_SEQ_CST);
	return err;
}

static int load(struct tracer *t, const struct rti_trace_target *target)
{
	const struct rti_trace_settings settings = {
		.calls = target->calls,
		.target = target->kind,
		.quarter_bytes = target->ring_bytes / 4,
		.target_pid = target->pid,
		.has_children = target->has_children,
		.wakes_for_children = target->wakes_for_children,
		.lacks_storage = target->lacks_storage,
		.marks_max = target->marks_max,
	};

	if (target->is_raw)
		return rti_trace_load_raw(&t->programs, &settings, target->ring_bytes);
	return rti_trace_load(&t->programs, &settings, target->ring_bytes);
}

/* Begin, and find out how the kernel's numbers translate to those of the caller. */
static int set_up(struct tracer *t)
{
	const struct rti_trace_shared *shared = t->programs.shared;
	uint64_t monotonic_ns = rti_program_clock_ns(CLOCK_MONOTONIC);
	uint64_t boottime_ns = rti_program_clock_ns(CLOCK_BOOTTIME);
	int err = rti_program_run(t->programs.set_up);

	t->offsets.monotonic_ns = rti_program_clock_offset_ns(
	    monotonic_ns, shared->began_monotonic_ns, rti_program_clock_ns(CLOCK_MONOTONIC));
	t->offsets.boottime_ns = rti_program_clock_offset_ns(boottime_ns, shared->began_ns,
	                                                     rti_program_clock_ns(CLOCK_BOOTTIME));
	return err;
}

static int begin(void *state, const void *target_of)
{
	const struct rti_trace_target *target = target_of;
	struct tracer *t = state;
	const struct rti_trace_programs *programs = &t->programs;
	int loads = 0, err;

	t->is_tree = target->kind != RTI_TARGET_ALL;
	if (target->is_raw && target->kind == RTI_TARGET_PID)
		return rti_program_error(-EOPNOTSUPP);
	do {
		err = load(t, target);
	} while (rti_program_is_interrupted(err, ++loads));
	if (err == 0)
		err = rti_ring_open(&t->ring, programs->ring, target->ring_bytes);
	if (err == 0)
		err = set_up(t);
	if (err == 0)
		err = programs->attach(programs->skeleton, t->is_tree);
	if (err == 0 && target->kind == RTI_TARGET_PID)
		err = search_tree(t);
	if (err == 0 && target->kind == RTI_TARGET_PID && !programs->shared->threads)
		err = -ESRCH;
	return rti_program_error(err);
}

/* A forked child may do so, too: nothing that it shares with its parent is changed. */
static void close_tracer(void *state)
{
	struct tracer *t = state;

	rti_ring_close(&t->ring);
	if (t->programs.skeleton)
		t->programs.unload(t->programs.skeleton);
	free(t);
}

static int open_tracer(void **out, const struct rti_trace_target *target)
{
	return rti_program_open(out, sizeof(struct tracer), begin, target, close_tracer);
}

static int arm(void *state, bool is_armed)
{
	struct tracer *t = state;

	if (is_armed)
		return rti_program_run(t->programs.arm);
	__atomic_store_n(&t->programs.shared->armed, 0, __ATOMIC_SEQ_CST);
	return 0;
}

static int get_fd(const void *state)
{
	return ((const struct tracer *)state)->programs.ring;
}

static uint32_t own_uid(const struct rti_trace_shared *shared, uint32_t uid)
{
	for (uint32_t i = 0; i < shared->uid_extents && i < RTI_UID_EXTENTS_MAX; i++) {
		const struct rti_uid_extent *extent = &shared->uid_extent[i];

		if (uid - extent->kernel_first < extent->count)
			return uid - extent->kernel_first + extent->first;
	}
	return OVERFLOW_UID;
}

/* A time of 0 is unknown. */
static void move(uint64_t *at_ns, int64_t offset_ns)
{
	if (*at_ns)
		*at_ns += (uint64_t)offset_ns;
}

static void translate(const struct tracer *t, struct rti_trace_record *record)
{
	record->uid = own_uid(t->programs.shared, record->uid);
	move(&record->entry_ns, t->offsets.monotonic_ns);
	move(&record->return_ns, t->offsets.monotonic_ns);
	move(&record->thread_start_ns, t->offsets.boottime_ns);
	move(&record->process_start_ns, t->offsets.boottime_ns);
	move(&record->parent_start_ns, t->offsets.boottime_ns);
}

static void pass_path(const struct rti_trace_path *path, rti_trace_path_fn *add, void *arg)
{
	char text[RTI_PATH_PARTS_BYTES + 2];
	size_t used = 0, end = path->length;

	/* Parts are in the opposite order, and each ends with a NUL. */
	while (end > 0) {
		size_t start = end - 1;

		while (start > 0 && path->parts[start - 1])
			start--;
		text[used++] = '/';
		memcpy(text + used, path->parts + start, end - start - 1);
		used += end - start - 1;
		end = start;
	}
	text[used] = '\0';
	add(arg, path->device, path->inode, text);
}

static bool has_ended(const struct tracer *t)
{
	const struct rti_trace_shared *shared = t->programs.shared;

	return t->is_tree && !__atomic_load_n(&shared->armed, __ATOMIC_SEQ_CST) &&
	       !__atomic_load_n(&shared->threads, __ATOMIC_SEQ_CST);
}

static int read_ring(struct tracer *t, struct rti_trace_record *records, int room,
                     rti_trace_path_fn *add_path, void *arg)
{
	const uint32_t *kind;
	int count = 0;

	while (count < room && (kind = rti_ring_peek(&t->ring))) {
		if (*kind == RTI_RING_PATH) {
			pass_path((const void *)kind, add_path, arg);
		} else if (*kind != RTI_RING_END) {
			memcpy(&records[count], kind, sizeof(*records));
			translate(t, &records[count++]);
		}
		rti_ring_take(&t->ring);
	}
	return count;
}

/* The threads are counted before the ring is found empty: what the last one did is in it then. */
static int read_records(void *state, struct rti_trace_record *records, int room,
                        rti_trace_path_fn *add_path, void *arg)
{
	struct tracer *t = state;
	uint64_t unmarked = __atomic_load_n(&t->programs.shared->unmarked, __ATOMIC_RELAXED);
	bool ended;
	int count;

	if (t->is_tree && unmarked != t->unmarked && t->programs.seed)
		search_tree(t);
	do {
		ended = has_ended(t);
		count = read_ring(t, records, room, add_path, arg);
	} while (count == 0 && !ended && has_ended(t));
	t->is_over = ended && rti_ring_is_empty(&t->ring);
	return count;
}

static void get_state(const void *state, struct rti_trace_state_of_ring *out)
{
	const struct tracer *t = state;
	const struct rti_trace_shared *shared = t->programs.shared;

	*out = (struct rti_trace_state_of_ring){
		.lost = __atomic_load_n(&shared->lost, __ATOMIC_RELAXED),
		.threads = __atomic_load_n(&shared->threads, __ATOMIC_RELAXED),
		.is_over = t->is_over,
		.has_more = !rti_ring_is_empty(&t->ring),
	};
}

static void set_wake(void *state, uint32_t wake)
{
	__atomic_store_n(&((struct tracer *)state)->programs.shared->wake, wake, __ATOMIC_SEQ_CST);
}

const struct rti_trace_ops rti_bpf_trace = {
	.version = RTI_TRACE_PLUGIN,
	.record_size = sizeof(struct rti_trace_record),
	.open = open_tracer,
	.arm = arm,
	.fd = get_fd,
	.read = read_records,
	.get_state = get_state,
	.set_wake = set_wake,
	.close = close_tracer,
};
