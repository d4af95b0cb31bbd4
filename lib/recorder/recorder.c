/* SPDX-License-Identifier: MIT */
/* Samples a tracker at a fixed rate, by a thread of its own.
 *
 * Two locks: that of the tracker is held for as long as a sample takes, that of the recorder only
 * to move samples. So a reader waits for no sample, and holds up the thread for some microseconds
 * at most. */
#include "recorder/recorder.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/peak_poll.h"
#include "api/struct_size.h"
#include "api/tracker.h"
#include "os/platform.h"
#include "os/thread/interrupt.h"
#include "os/thread/thread.h"
#include "recorder/rhythm.h"
#include "recorder/sample_ring.h"
#include "util/arith.h"
#include "util/array.h"

#define KNOWN_FLAGS (RT_RECORDER_KEEP_NEWEST | RT_RECORDER_PROCESSES)
#define LEAST_NS UINT64_C(1000000)
#define INTERVAL_NS UINT64_C(1000000000)
#define CAPACITY 4096
#define ROWS 64
#define STACK_BYTES ((size_t)256 << 10)
#define READ_AT_ONCE 16 /* samples, before the thread may have the lock */

/* What the thread and the callers share. Guarded by its lock. */
struct shared {
	struct rti_sleeper sleeper;
	struct rti_sample_ring ring;
	struct rt_metrics latest;
	uint64_t taken, missed;
	struct rti_interrupt readable;
	bool is_stopping, needs_last; /* and a last sample is to be taken */
	bool is_over;                 /* there will be no more samples */
};

struct rt_recorder {
	int32_t owner; /* pid: a forked child has no recorder */
	bool owns_tracker;
	struct rt_tracker *tracker; /* NULL: its command was freed */
	struct rti_lock lock;       /* of a tracker that is no command's */
	uint64_t peak_poll_ns;
	uint32_t wake_after;
	struct shared *shared; /* apart: some calls take a recorder that is const */

	pthread_t thread;
	struct rti_lock join_lock;
	bool is_joined; /* guarded by join_lock */

	/* Of the thread alone. */
	struct rti_rhythm rhythm;
	uint64_t pace_ns, next_poll_ns; /* of peak polls; UINT64_MAX: there are none */
	bool has_rows;
	struct rt_process *rows; /* of all members, of the last sample */
	size_t row_capacity;
};

/* --- The thread. --- */

static int compare_cpu(const void *one, const void *other)
{
	const struct rt_process *a = one, *b = other;
	uint64_t a_ns = a->cpu_user_ns + a->cpu_system_ns, b_ns = b->cpu_user_ns + b->cpu_system_ns;

	return (a_ns < b_ns) - (a_ns > b_ns);
}

/* Those with the most CPU time come first. Returns how many there are, or RTI_ROWS_UNKNOWN. */
static size_t list_rows(struct rt_recorder *r)
{
	size_t count = 0;

	if (!r->has_rows)
		return 0;
	if (rt_tracker_processes(r->tracker, NULL, sizeof(*r->rows), &count) < 0)
		return RTI_ROWS_UNKNOWN;
	if (count > r->row_capacity) {
		struct rt_process *grown =
		    rti_array_grow(r->rows, &r->row_capacity, count, sizeof(*r->rows));

		if (!grown)
			return RTI_ROWS_UNKNOWN;
		r->rows = grown;
	}
	if (rt_tracker_processes(r->tracker, r->rows, sizeof(*r->rows), &count) < 0)
		return RTI_ROWS_UNKNOWN;
	qsort(r->rows, count, sizeof(*r->rows), compare_cpu);
	return count;
}

static void put(struct rt_recorder *r, const struct rt_metrics *sample, size_t row_count)
{
	struct shared *shared = r->shared;

	rti_sleeper_take(&shared->sleeper);
	shared->taken++;
	shared->missed = r->rhythm.missed;
	shared->latest = *sample;
	rti_sample_ring_put(&shared->ring, sample, r->rows, row_count);
	if (rti_sample_ring_waiting(&shared->ring) >= r->wake_after)
		rti_interrupt_raise(&shared->readable);
	rti_sleeper_release(&shared->sleeper);
}

/* Returns what rt_sample() does. */
static int take_sample(struct rt_recorder *r)
{
	struct rt_metrics sample;
	size_t row_count;
	uint64_t end_ns;
	int err;

	rti_lock_take(r->tracker->lock);
	err = rti_tracker_sample(r->tracker, &sample, sizeof(sample));
	row_count = list_rows(r);
	rti_lock_release(r->tracker->lock);
	end_ns = rti_monotonic_ns();
	rti_rhythm_end_sample(&r->rhythm, end_ns);
	r->next_poll_ns = rti_add_saturated(end_ns, r->pace_ns);
	put(r, &sample, row_count);
	return err;
}

static void poll_peak(struct rt_recorder *r, uint64_t now_ns)
{
	uint64_t pace_ns;

	if (rti_peak_poll(r->tracker, &pace_ns) < 0)
		r->pace_ns = UINT64_MAX; /* memory is not wanted */
	else if (!r->peak_poll_ns)
		r->pace_ns = pace_ns;
	r->next_poll_ns = rti_add_saturated(now_ns, r->pace_ns);
}

/* Returns whether the recorder is to stop. */
static bool sleep_until(struct shared *shared, uint64_t until_ns)
{
	bool is_stopping;

	rti_sleeper_take(&shared->sleeper);
	if (!shared->is_stopping)
		rti_sleeper_sleep(&shared->sleeper, until_ns);
	is_stopping = shared->is_stopping;
	rti_sleeper_release(&shared->sleeper);
	return is_stopping;
}

/* Polls for peaks meanwhile. Returns false if the recorder is to stop. */
static bool wait_for_tick(struct rt_recorder *r)
{
	uint64_t tick_ns = rti_rhythm_next_ns(&r->rhythm), now_ns;

	do {
		if (sleep_until(r->shared, rti_min(tick_ns, r->next_poll_ns)))
			return false;
		now_ns = rti_monotonic_ns();
		if (now_ns < tick_ns && now_ns >= r->next_poll_ns)
			poll_peak(r, now_ns);
	} while (now_ns < tick_ns);
	rti_rhythm_begin_sample(&r->rhythm, now_ns);
	return true;
}

static void *record(void *arg)
{
	struct rt_recorder *r = arg;
	struct shared *shared = r->shared;
	int err;

	rti_rhythm_begin_sample(&r->rhythm, rti_monotonic_ns());
	do {
		err = take_sample(r);
	} while (err == 0 && wait_for_tick(r));
	if (err == 0 && shared->needs_last)
		take_sample(r);
	rti_sleeper_take(&shared->sleeper);
	shared->is_over = true;
	rti_interrupt_raise(&shared->readable);
	rti_sleeper_release(&shared->sleeper);
	return NULL;
}

/* --- The calls. --- */

static int copy_opts(struct rt_recorder_opts *out, const struct rt_recorder_opts *in)
{
	int err = 0;

	*out = (struct rt_recorder_opts){ 0 };
	if (in)
		err = rti_struct_copy_in(out, sizeof(*out), in, RTI_RECORDER_OPTS_V1);
	if (err < 0)
		return err;
	out->interval_ns = out->interval_ns ? out->interval_ns : INTERVAL_NS;
	out->capacity = out->capacity ? out->capacity : CAPACITY;
	out->rows = out->rows ? out->rows : ROWS;
	out->wake_after = out->wake_after ? out->wake_after : 1;
	if (out->flags & ~KNOWN_FLAGS || out->reserved || out->interval_ns < LEAST_NS ||
	    (out->peak_poll_ns && out->peak_poll_ns < LEAST_NS) || out->wake_after > out->capacity)
		return -EINVAL;
	return 0;
}

static void free_shared(struct shared *shared)
{
	rti_interrupt_close(&shared->readable);
	rti_sample_ring_free(&shared->ring);
	free(shared);
}

static int new_shared(struct shared **out, const struct rt_recorder_opts *opts)
{
	uint32_t rows = opts->flags & RT_RECORDER_PROCESSES ? opts->rows : 0;
	struct shared *shared = calloc(1, sizeof(*shared));
	int err;

	if (!shared)
		return -ENOMEM;
	rti_interrupt_open(&shared->readable);
	err = shared->readable.fd < 0 ? -errno : 0;
	if (err == 0)
		err = rti_sample_ring_init(&shared->ring, opts->capacity, rows,
		                           opts->flags & RT_RECORDER_KEEP_NEWEST);
	if (err < 0) {
		free_shared(shared);
		return err;
	}
	rti_sleeper_init(&shared->sleeper);
	*out = shared;
	return 0;
}

/* Returns -EBUSY if it has another recorder. The lock is there before the thread is. */
static int take_tracker(struct rt_recorder *r, struct rt_tracker *t)
{
	int32_t none = 0;

	if (!atomic_compare_exchange_strong(&t->recorder_pid, &none, r->owner))
		return -EBUSY;
	r->owns_tracker = !t->lock;
	if (r->owns_tracker) {
		rti_lock_init(&r->lock);
		t->lock = &r->lock;
	}
	t->recorder = r;
	r->tracker = t;
	return 0;
}

static void leave_tracker(struct rt_recorder *r)
{
	struct rt_tracker *t = r->tracker;

	r->tracker = NULL;
	t->recorder = NULL;
	if (r->owns_tracker) {
		t->lock = NULL;
		rti_lock_free(&r->lock);
	}
	atomic_store(&t->recorder_pid, 0);
}

static int start(struct rt_recorder *r, const struct rt_recorder_opts *opts)
{
	r->peak_poll_ns = opts->peak_poll_ns;
	r->wake_after = opts->wake_after;
	r->has_rows = opts->flags & RT_RECORDER_PROCESSES;
	r->pace_ns = r->tracker->kind == RT_KIND_PID
	                 ? (opts->peak_poll_ns ? opts->peak_poll_ns : RTI_PEAK_POLL_NS)
	                 : UINT64_MAX;
	rti_rhythm_init(&r->rhythm, rti_monotonic_ns(), opts->interval_ns);
	return rti_thread_start(&r->thread, STACK_BYTES, record, r);
}

/* Whether a tracker has a list of processes, apart from whether it has a sample. */
static bool can_list(const struct rt_tracker *t)
{
	size_t count = 0;

	return rt_tracker_processes(t, NULL, sizeof(struct rt_process), &count) != -EOPNOTSUPP;
}

static int new_recorder(struct rt_recorder **out, struct rt_tracker *t,
                        const struct rt_recorder_opts *opts)
{
	struct rt_recorder *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->owner = getpid();
	err = new_shared(&r->shared, opts);
	if (err < 0) {
		free(r);
		return err;
	}
	rti_lock_init(&r->join_lock);
	err = take_tracker(r, t);
	if (err == 0) {
		err = start(r, opts);
		if (err < 0)
			leave_tracker(r);
	}
	if (err < 0) {
		rti_lock_free(&r->join_lock);
		rti_sleeper_free(&r->shared->sleeper);
		free_shared(r->shared);
		free(r);
		return err;
	}
	*out = r;
	return 0;
}

int rt_recorder_new(struct rt_recorder **out, struct rt_tracker *t,
                    const struct rt_recorder_opts *opts)
{
	struct rt_recorder_opts known;
	int err;

	if (out)
		*out = NULL;
	if (!out || !t)
		return -EFAULT;
	err = copy_opts(&known, opts);
	if (err == 0)
		err = rti_tracker_check_recorder(t);
	/* A forked child shares the supervisor with its parent. */
	if (err == 0 && t->command_pid && t->command_pid != getpid())
		err = -ECHILD;
	if (err < 0)
		return err;
	if (known.flags & RT_RECORDER_PROCESSES && !can_list(t))
		return -EOPNOTSUPP;
	return new_recorder(out, t, &known);
}

/* In a forked child, a lock may be held for ever. Returns 0, -EFAULT or -ECHILD. */
static int check(const struct rt_recorder *r)
{
	if (!r)
		return -EFAULT;
	return r->owner == getpid() ? 0 : -ECHILD;
}

int rt_recorder_fd(const struct rt_recorder *r)
{
	int err = check(r);

	return err < 0 ? err : r->shared->readable.fd;
}

/* Returns how many were written: room at most. The caller holds the lock. */
static size_t take(struct shared *shared, char *samples, size_t element_size, size_t room)
{
	const struct rt_metrics *sample;
	size_t done = 0;

	while (done < room && (sample = rti_sample_ring_take(&shared->ring))) {
		rti_struct_copy_out(samples + done * element_size, element_size, sample,
		                    sizeof(*sample));
		done++;
	}
	return done;
}

int rt_recorder_read(struct rt_recorder *r, struct rt_metrics *samples, size_t element_size,
                     size_t *count)
{
	int err = check(r);
	size_t room, got, done = 0;
	struct shared *shared;

	if (err == -EFAULT || !count || (!samples && *count))
		return -EFAULT;
	if (rti_struct_check_size(element_size, RTI_METRICS_V1) < 0)
		return -EINVAL;
	if (err < 0)
		return err;
	shared = r->shared;
	room = *count;
	do {
		rti_sleeper_take(&shared->sleeper);
		got = take(shared, (char *)samples + done * element_size, element_size,
		           (size_t)rti_min(room - done, READ_AT_ONCE));
		done += got;
		if (!shared->is_over && rti_sample_ring_waiting(&shared->ring) < r->wake_after)
			rti_interrupt_take(&shared->readable);
		else if (shared->is_over && rti_sample_ring_waiting(&shared->ring) == 0)
			err = -ESRCH;
		rti_sleeper_release(&shared->sleeper);
	} while (got > 0 && done < room);
	*count = done;
	return done > 0 || room == 0 ? 0 : err;
}

int rt_recorder_latest(const struct rt_recorder *r, struct rt_metrics *out, size_t out_size)
{
	int err = check(r);

	if (err == -EFAULT || !out)
		return -EFAULT;
	if (rti_struct_check_size(out_size, RTI_METRICS_V1) < 0)
		return -EINVAL;
	if (err < 0)
		return err;
	rti_sleeper_take(&r->shared->sleeper);
	if (r->shared->taken > 0)
		rti_struct_copy_out(out, out_size, &r->shared->latest, sizeof(r->shared->latest));
	else
		err = -ENODATA;
	rti_sleeper_release(&r->shared->sleeper);
	return err;
}

static int copy_rows(const struct shared *shared, uint64_t monotonic_ns, char *array,
                     size_t element_size, size_t *count)
{
	const struct rt_process *rows;
	size_t there;

	rows = rti_sample_ring_rows(&shared->ring, monotonic_ns, &there);
	if (!rows)
		return -ENODATA;
	for (size_t i = 0; i < there && i < *count; i++)
		rti_struct_copy_out(array + i * element_size, element_size, &rows[i],
		                    sizeof(rows[i]));
	*count = there;
	return 0;
}

int rt_recorder_processes(const struct rt_recorder *r, uint64_t monotonic_ns,
                          struct rt_process *array, size_t element_size, size_t *count)
{
	int err = check(r);

	if (err == -EFAULT || !count || (!array && *count))
		return -EFAULT;
	if (rti_struct_check_size(element_size, RTI_PROCESS_V1) < 0)
		return -EINVAL;
	if (err < 0)
		return err;
	if (!r->shared->ring.rows)
		return -EOPNOTSUPP;
	rti_sleeper_take(&r->shared->sleeper);
	err = copy_rows(r->shared, monotonic_ns, (char *)array, element_size, count);
	rti_sleeper_release(&r->shared->sleeper);
	return err;
}

int rt_recorder_get_totals(const struct rt_recorder *r, struct rt_recorder_totals *out,
                           size_t out_size)
{
	struct rt_recorder_totals totals;
	const struct shared *shared;
	int err = check(r);

	if (err == -EFAULT || !out)
		return -EFAULT;
	if (rti_struct_check_size(out_size, RTI_RECORDER_TOTALS_V1) < 0)
		return -EINVAL;
	if (err < 0)
		return err;
	shared = r->shared;
	rti_sleeper_take(&r->shared->sleeper);
	totals = (struct rt_recorder_totals){
		.waiting = rti_sample_ring_waiting(&shared->ring),
		.taken = shared->taken,
		.dropped = shared->ring.dropped,
		.missed = shared->missed,
	};
	rti_sleeper_release(&r->shared->sleeper);
	rti_struct_copy_out(out, out_size, &totals, sizeof(totals));
	return 0;
}

/* Several threads may stop it: the others wait for the end, too. */
static void stop(struct rt_recorder *r, bool needs_last)
{
	struct shared *shared = r->shared;

	rti_sleeper_take(&shared->sleeper);
	if (!shared->is_stopping)
		shared->needs_last = needs_last;
	shared->is_stopping = true;
	rti_sleeper_wake(&shared->sleeper);
	rti_sleeper_release(&shared->sleeper);
	rti_lock_take(&r->join_lock);
	if (!r->is_joined)
		rti_thread_join(r->thread);
	r->is_joined = true;
	rti_lock_release(&r->join_lock);
}

int rt_recorder_stop(struct rt_recorder *r)
{
	int err = check(r);

	if (err == 0)
		stop(r, true);
	return err;
}

void rti_recorder_detach(struct rt_recorder *r)
{
	if (!r)
		return;
	stop(r, true);
	leave_tracker(r);
}

/* A forked child leaves the locks alone, and the tracker too: the thread may have been in the
 * middle of a sample. */
void rt_recorder_free(struct rt_recorder *r)
{
	struct rt_tracker *t;

	if (!r)
		return;
	if (r->owner == getpid()) {
		stop(r, false);
		t = r->tracker;
		if (t)
			leave_tracker(r);
		if (r->owns_tracker)
			rt_tracker_free(t);
		rti_lock_free(&r->join_lock);
		rti_sleeper_free(&r->shared->sleeper);
	}
	free_shared(r->shared);
	free(r->rows);
	free(r);
}
