/* SPDX-License-Identifier: MIT */
/* Recorders of real processes: ticks, the ring and its descriptor, the end, and the tracker. */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "recording.h"
#include "suite.h"
#include "tracking.h"

#define PEAK_BYTES (UINT64_C(100) << 20)
#define UNSEEN_BYTES (UINT64_C(4) << 20)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static bool is_readable(const struct rt_recorder *r)
{
	struct pollfd pollfd = { .fd = rt_recorder_fd(r), .events = POLLIN };

	return poll(&pollfd, 1, 0) == 1;
}

static void wait_until_readable(const struct rt_recorder *r)
{
	struct pollfd pollfd = { .fd = rt_recorder_fd(r), .events = POLLIN };

	ck_assert_int_eq(poll(&pollfd, 1, 100000), 1);
}

static void do_nothing(void *arg)
{
	(void)arg;
}

/* --- Ticks, the ring and its descriptor. --- */

/* All bounds are of the clock: they hold on any machine. */
START_TEST(taken_and_missed_ticks_add_up_to_the_time)
{
	static struct rt_metrics samples[512];
	uint64_t begin_ns = now_ns(), end_ns, first_ns = 0, last_ns = 0, read = 0;
	struct rt_recorder_totals totals;
	struct rt_recorder *r;
	struct child child;

	r = record_child(&child, (struct rt_recorder_opts){ .interval_ns = INTERVAL });
	while (read < 200) {
		size_t count;

		wait_until_readable(r);
		count = read_some(r, samples, 512);
		for (size_t i = 0; i < count; i++) {
			ck_assert_uint_gt(samples[i].monotonic_ns, last_ns);
			ck_assert_uint_eq(samples[i].processes, 1);
			last_ns = samples[i].monotonic_ns;
			first_ns = first_ns ? first_ns : last_ns;
		}
		read += count;
	}
	totals = totals_of(r);
	end_ns = now_ns();
	ck_assert_uint_eq(totals.dropped, 0);
	ck_assert_uint_eq(totals.taken, read + totals.waiting);
	ck_assert_uint_le((totals.taken + totals.missed - 1) * INTERVAL, end_ns - begin_ns);
	ck_assert_uint_ge((totals.taken + totals.missed) * INTERVAL, last_ns - first_ns);
	rt_recorder_free(r);
	child_end(&child);
}
END_TEST

START_TEST(full_ring_keeps_the_oldest_samples)
{
	struct rt_metrics samples[8], latest;
	struct rt_recorder_totals totals;
	struct child child;
	struct rt_recorder *r = record_child(
	    &child, (struct rt_recorder_opts){ .interval_ns = INTERVAL, .capacity = 4 });

	wait_until_taken(r, 10);
	ck_assert_int_eq(rt_recorder_stop(r), 0);
	totals = totals_of(r);
	ck_assert_uint_eq(totals.waiting, 4);
	ck_assert_uint_eq(totals.dropped, totals.taken - 4);
	ck_assert_int_eq(rt_recorder_latest(r, &latest, sizeof(latest)), 0);
	ck_assert_uint_eq(read_some(r, samples, 8), 4);
	ck_assert_uint_gt(latest.monotonic_ns, samples[3].monotonic_ns + INTERVAL);
	rt_recorder_free(r);
	child_end(&child);
}
END_TEST

START_TEST(full_ring_keeps_the_newest_samples_on_request)
{
	struct rt_metrics samples[8], latest;
	struct rt_recorder_totals totals;
	struct child child;
	struct rt_recorder *r = record_child(
	    &child, (struct rt_recorder_opts){
			.interval_ns = INTERVAL, .capacity = 4, .flags = RT_RECORDER_KEEP_NEWEST });

	wait_until_taken(r, 10);
	ck_assert_int_eq(rt_recorder_stop(r), 0);
	totals = totals_of(r);
	ck_assert_uint_eq(totals.waiting, 4);
	ck_assert_uint_eq(totals.dropped, totals.taken - 4);
	ck_assert_int_eq(rt_recorder_latest(r, &latest, sizeof(latest)), 0);
	ck_assert_uint_eq(read_some(r, samples, 8), 4);
	ck_assert_mem_eq(&latest, &samples[3], sizeof(latest));
	rt_recorder_free(r);
	child_end(&child);
}
END_TEST

/* With a stride of its own, and no more than there is room for. */
START_TEST(samples_are_written_at_the_stride_of_the_caller)
{
	enum { STRIDE = 4096, ROOM = 20 };
	static char array[ROOM][STRIDE];
	struct rt_metrics sample;
	uint64_t last_ns = 0;
	size_t count = ROOM;
	struct child child;
	struct rt_recorder *r =
	    record_child(&child, (struct rt_recorder_opts){ .interval_ns = INTERVAL });

	wait_until_taken(r, ROOM + 1);
	ck_assert_int_eq(rt_recorder_read(r, (struct rt_metrics *)array, STRIDE, &count), 0);
	ck_assert_uint_eq(count, ROOM);
	for (int i = 0; i < ROOM; i++) {
		memcpy(&sample, array[i], sizeof(sample));
		ck_assert_uint_eq(sample.size, sizeof(sample));
		ck_assert_uint_gt(sample.monotonic_ns, last_ns);
		last_ns = sample.monotonic_ns;
	}
	ck_assert_uint_ge(totals_of(r).waiting, 1);
	rt_recorder_free(r);
	child_end(&child);
}
END_TEST

START_TEST(descriptor_is_readable_while_enough_samples_wait)
{
	struct rt_metrics samples[4];
	struct child child;
	struct rt_recorder *r = record_child(&child, (struct rt_recorder_opts){
							 .interval_ns = 20 * MS,
							 .wake_after = 3,
							 .capacity = 3,
						     });

	wait_until_readable(r);
	ck_assert_uint_ge(totals_of(r).waiting, 3);
	ck_assert_uint_eq(read_some(r, samples, 4), 3);
	ck_assert(!is_readable(r) || totals_of(r).taken >= 6);
	wait_until_readable(r);
	rt_recorder_free(r);
	child_end(&child);
}
END_TEST

START_TEST(descriptor_is_not_readable_between_samples)
{
	struct rt_metrics sample;
	struct child child;
	struct rt_recorder *r =
	    record_child(&child, (struct rt_recorder_opts){ .interval_ns = NEVER });

	wait_until_readable(r);
	ck_assert_uint_eq(read_some(r, &sample, 1), 1);
	ck_assert(!is_readable(r));
	ck_assert_uint_eq(read_some(r, &sample, 1), 0);
	ck_assert_int_eq(rt_recorder_latest(r, &sample, sizeof(sample)), 0);
	rt_recorder_free(r);
	child_end(&child);
}
END_TEST

/* --- The end. --- */

START_TEST(stop_takes_a_last_sample_and_reading_goes_on)
{
	struct rt_metrics samples[4];
	size_t count = 1;
	struct child child;
	struct rt_recorder *r =
	    record_child(&child, (struct rt_recorder_opts){ .interval_ns = NEVER });

	wait_until_taken(r, 1);
	ck_assert_int_eq(rt_recorder_stop(r), 0);
	ck_assert_int_eq(rt_recorder_stop(r), 0);
	ck_assert(is_readable(r));
	ck_assert_uint_eq(read_some(r, samples, 4), 2);
	ck_assert(is_readable(r));
	ck_assert_int_eq(rt_recorder_read(r, samples, sizeof(samples[0]), &count), -ESRCH);
	ck_assert_uint_eq(count, 0);
	ck_assert_uint_eq(totals_of(r).taken, 2);
	rt_recorder_free(r);
	child_end(&child);
}
END_TEST

static void burn(void *arg)
{
	burn_cpu_ns(*(uint64_t *)arg);
}

/* The last sample has the totals of the tree, as the kernel accounts for them. */
START_TEST(recorder_ends_with_the_tree_and_its_last_sample_has_the_totals)
{
	uint64_t cpu_ns = 50 * MS, kernel_ns;
	const struct rt_recorder_opts opts = { .size = sizeof(opts), .interval_ns = INTERVAL };
	struct rt_metrics sample, last = { 0 };
	struct rusage usage;
	struct rt_recorder *r;
	struct child child;
	int err;

	child_start(&child, burn, &cpu_ns);
	ck_assert_int_eq(rt_recorder_new(&r, track(child.pid), &opts), 0);
	wait_until_taken(r, 5);
	child_let_die(&child);
	ck_assert_int_eq(wait4(child.pid, NULL, 0, &usage), child.pid);
	do {
		size_t count = 1;

		wait_until_readable(r);
		err = rt_recorder_read(r, &sample, sizeof(sample), &count);
		if (count > 0)
			last = sample;
	} while (err == 0);
	ck_assert_int_eq(err, -ESRCH);
	ck_assert_uint_le(last.processes, 1); /* a zombie, or none */
	kernel_ns = get_rusage_ns(&usage);
	ck_assert_uint_ge(get_sampled_ns(&last), cpu_ns);
	ck_assert_uint_le(get_sampled_ns(&last), kernel_ns + 2000);
	ck_assert_int_eq(rt_recorder_stop(r), 0);
	rt_recorder_free(r);
	close(child.ready_fd);
	close(child.go_fd);
}
END_TEST

/* --- The tracker meanwhile. --- */

START_TEST(tracker_with_a_recorder_refuses_samples_and_answers_all_else)
{
	const struct rt_recorder_opts opts = { .size = sizeof(opts), .interval_ns = INTERVAL };
	struct rt_recorder *r, *second = NULL;
	struct rt_process rows[4];
	struct rt_tracker *t;
	struct rt_metrics m;
	size_t count = 4;

	t = track(getpid());
	ck_assert_int_eq(rt_recorder_new(&r, t, &opts), 0);
	wait_until_taken(r, 2);
	ck_assert_int_eq(rt_sample(t, &m, sizeof(m)), -EBUSY);
	ck_assert_int_eq(rt_recorder_new(&second, t, &opts), -EBUSY);
	ck_assert_ptr_null(second);
	ck_assert_int_eq(rt_tracker_glance(t), 0);
	ck_assert_int_eq(rt_tracker_read_memory(t), 0);
	ck_assert_int_eq(rt_tracker_status(t, RT_HAS_RSS), 0);
	ck_assert_int_eq(rt_tracker_processes(t, rows, sizeof(rows[0]), &count), 0);
	ck_assert_int_eq(rows[0].pid, getpid());
	rt_tracker_free(t); /* belongs to the recorder */
	wait_until_taken(r, totals_of(r).taken + 2);
	ck_assert_int_eq(rt_recorder_stop(r), 0);
	ck_assert_int_eq(rt_sample(t, &m, sizeof(m)), -EBUSY);
	rt_recorder_free(r);
}
END_TEST

static void hold_memory(void *arg)
{
	atomic_int *phase = arg;
	char *memory =
	    mmap(NULL, PEAK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(90);
	memset(memory, 1, PEAK_BYTES);
	atomic_store(phase, 1);
	while (atomic_load(phase) < 2)
		usleep(500);
	munmap(memory, PEAK_BYTES);
	atomic_store(phase, 3);
}

static int has_phase(void *arg)
{
	return atomic_load((atomic_int *)arg) == 1;
}

/* How often the other thread has slept: once for each peak poll. */
static uint64_t thread_sleeps(void)
{
	char path[64], line[128];
	uint64_t sleeps = 0;
	FILE *tasks = popen("ls /proc/$PPID/task", "r");

	ck_assert_ptr_nonnull(tasks);
	while (fgets(line, sizeof(line), tasks)) {
		int tid = atoi(line);
		FILE *status;

		snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
		status = tid == getpid() ? NULL : fopen(path, "r");
		while (status && fgets(line, sizeof(line), status))
			sscanf(line, "voluntary_ctxt_switches: %lu", &sleeps);
		if (status)
			fclose(status);
	}
	pclose(tasks);
	return sleeps;
}

static int has_slept(void *arg)
{
	return thread_sleeps() >= *(uint64_t *)arg;
}

/* No sample sees it: the next one is years later. */
START_TEST(recorder_polls_for_peaks_between_samples)
{
	atomic_int *phase = map_shared(sizeof(*phase));
	struct rt_recorder_opts opts = { .size = sizeof(opts),
		                         .interval_ns = NEVER,
		                         .peak_poll_ns = _i ? INTERVAL : 0 };
	struct rt_recorder *r;
	struct child child;
	struct rt_metrics m;
	uint64_t sleeps;

	child_start_async(&child, hold_memory, phase);
	ck_assert_int_eq(rt_recorder_new(&r, track(child.pid), &opts), 0);
	wait_until_taken(r, 1);
	wait_until(has_phase, phase);
	sleeps = thread_sleeps() + 3;
	wait_until(has_slept, &sleeps);
	atomic_store(phase, 2);
	child_await(&child);
	ck_assert_int_eq(rt_recorder_stop(r), 0);
	ck_assert_int_eq(rt_recorder_latest(r, &m, sizeof(m)), 0);
	ck_assert_uint_ge(m.peak_tree_rss_bytes, PEAK_BYTES - UNSEEN_BYTES);
	ck_assert_uint_lt(m.rss_bytes, PEAK_BYTES);
	rt_recorder_free(r);
	child_end(&child);
	munmap(phase, sizeof(*phase));
}
END_TEST

START_TEST(rows_of_processes_are_those_with_the_most_cpu_time)
{
	uint64_t cpu_ns = 100 * MS;
	struct rt_recorder_opts opts = { .size = sizeof(opts),
		                         .flags = RT_RECORDER_PROCESSES,
		                         .interval_ns = INTERVAL,
		                         .capacity = 8,
		                         .rows = 2 };
	struct child idle[3], busy;
	struct rt_metrics sample;
	struct rt_process rows[8];
	struct rt_recorder *r;
	size_t count = 8;

	for (int i = 0; i < 3; i++)
		child_start(&idle[i], do_nothing, NULL);
	child_start(&busy, burn, &cpu_ns);
	ck_assert_int_eq(rt_recorder_new(&r, track(getpid()), &opts), 0);
	wait_until_taken(r, 1);
	ck_assert_uint_eq(read_some(r, &sample, 1), 1);
	ck_assert_uint_eq(sample.processes, 5);
	ck_assert_int_eq(rt_recorder_stop(r), 0);
	while (read_some(r, &sample, 1) == 1 && totals_of(r).waiting > 0)
		;
	count = 8;
	ck_assert_int_eq(
	    rt_recorder_processes(r, sample.monotonic_ns, rows, sizeof(rows[0]), &count), 0);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_ge(rows[0].cpu_user_ns + rows[0].cpu_system_ns,
	                  rows[1].cpu_user_ns + rows[1].cpu_system_ns);
	ck_assert(rows[0].pid == busy.pid || rows[1].pid == busy.pid);
	count = 8;
	ck_assert_int_eq(rt_recorder_processes(r, 1, rows, sizeof(rows[0]), &count), -ENODATA);
	rt_recorder_free(r);
	child_end(&busy);
	for (int i = 2; i >= 0; i--) /* the later ones have copies of its pipe */
		child_end(&idle[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recorder");
	TCase *tc = suite_case(suite, "ring"), *end = suite_case(suite, "end"),
	      *tracker = suite_case(suite, "tracker");

	tcase_add_test(tc, taken_and_missed_ticks_add_up_to_the_time);
	tcase_add_test(tc, full_ring_keeps_the_oldest_samples);
	tcase_add_test(tc, full_ring_keeps_the_newest_samples_on_request);
	tcase_add_test(tc, samples_are_written_at_the_stride_of_the_caller);
	tcase_add_test(tc, descriptor_is_readable_while_enough_samples_wait);
	tcase_add_test(tc, descriptor_is_not_readable_between_samples);
	tcase_add_test(end, stop_takes_a_last_sample_and_reading_goes_on);
	tcase_add_test(end, recorder_ends_with_the_tree_and_its_last_sample_has_the_totals);
	tcase_add_test(tracker, tracker_with_a_recorder_refuses_samples_and_answers_all_else);
	tcase_add_loop_test(tracker, recorder_polls_for_peaks_between_samples, 0, 2);
	tcase_add_test(tracker, rows_of_processes_are_those_with_the_most_cpu_time);
	return suite_run(suite);
}
