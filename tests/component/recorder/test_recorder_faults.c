/* SPDX-License-Identifier: MIT */
/* Recorders and marks for which there is no memory or no thread: they are refused, nothing stays
 * allocated, and the tracker is as it was. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "allocation_faults.h"
#include "suite.h"
#include "threads.h"

static int create_error; /* that pthread_create() returns; 0: it makes the thread */
static int creates;

int __real_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg);

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg)
{
	creates++;
	return create_error ? create_error : __real_pthread_create(id, attr, run, arg);
}

static struct rt_tracker *tracker;
static struct rt_metrics m;

/* Process events and the looks at mounts, which I/O needs, take memory at times of their own. */
static void setup(void)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .want = RT_HAS_CPU | RT_HAS_RSS,
		                      .flags = RT_OPT_NO_PROCESS_EVENTS };

	create_error = creates = 0;
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), &opts), 0);
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
}

static void teardown(void)
{
	rt_tracker_free(tracker);
}

START_TEST(recorder_without_a_thread_is_refused)
{
	struct rt_recorder *r;

	create_error = EAGAIN;
	allocation_faults_begin(0, false);
	ck_assert_int_eq(rt_recorder_new(&r, tracker, NULL), -EAGAIN);
	allocation_faults_end();
	ck_assert_ptr_null(r);
	ck_assert_int_eq(creates, 1);
	ck_assert_int_eq(allocation_faults_blocks(), 0);
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	create_error = 0;
	ck_assert_int_eq(rt_recorder_new(&r, tracker, NULL), 0);
	rt_recorder_free(r);
	setup();
}
END_TEST

/* E.g.: the host has 300 KiB of thread-local storage. */
START_TEST(thread_has_the_usual_stack_if_its_own_is_too_small)
{
	struct rt_recorder *r;

	create_error = EINVAL;
	ck_assert_int_eq(rt_recorder_new(&r, tracker, NULL), -EINVAL);
	ck_assert_int_eq(creates, 2);
}
END_TEST

START_TEST(recorder_without_memory_is_refused)
{
	const struct rt_recorder_opts opts = { .size = sizeof(opts),
		                               .flags = RT_RECORDER_PROCESSES,
		                               .capacity = 4 };
	struct rt_recorder *r;
	unsigned at = 0;
	bool is_reached;

	create_error = EAGAIN; /* after all that is allocated */
	do {
		int err;

		allocation_faults_begin(++at, false);
		err = rt_recorder_new(&r, tracker, &opts);
		is_reached = allocation_faults_end();
		ck_assert_int_eq(err, is_reached ? -ENOMEM : -EAGAIN);
		ck_assert_int_eq(allocation_faults_blocks(), 0);
		ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	} while (is_reached);
	ck_assert_uint_gt(at, 4);
}
END_TEST

/* A sanitizer ends the process instead. */
START_TEST(recorder_that_needs_too_much_memory_is_refused)
{
	const struct rt_recorder_opts opts = { .size = sizeof(opts),
		                               .flags = RT_RECORDER_PROCESSES,
		                               .capacity = UINT32_MAX,
		                               .rows = UINT32_MAX };
	struct rt_recorder *r;

	ck_assert_int_eq(rt_recorder_new(&r, tracker, &opts), -ENOMEM);
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
}
END_TEST

/* Returns what the recorder says of its first sample, whichever allocation fails meanwhile. */
static int list_first(const struct rt_recorder_opts *opts, unsigned at, bool *is_reached,
                      size_t *count)
{
	struct rt_recorder *r;
	struct rt_metrics first;
	struct pollfd readable = { .events = POLLIN };
	int err;

	*is_reached = false;
	allocation_faults_begin(at, false);
	err = rt_recorder_new(&r, tracker, opts);
	if (err == 0) {
		readable.fd = rt_recorder_fd(r);
		ck_assert_int_eq(poll(&readable, 1, -1), 1);
		ck_assert_int_eq(rt_recorder_stop(r), 0);
	}
	*is_reached = allocation_faults_end();
	if (err < 0)
		return err;
	ck_assert_int_eq(rt_recorder_read(r, &first, sizeof(first), &(size_t){ 1 }), 0);
	err = rt_recorder_processes(r, first.monotonic_ns, NULL, sizeof(struct rt_process), count);
	rt_recorder_free(r);
	setup();
	return err;
}

/* No rows would say that nothing ran. */
START_TEST(rows_that_there_is_no_memory_for_are_not_there)
{
	const struct rt_recorder_opts opts = { .size = sizeof(opts),
		                               .flags = RT_RECORDER_PROCESSES,
		                               .peak_poll_ns = UINT64_MAX,
		                               .capacity = 4 };
	unsigned unlisted = 0;
	bool is_reached = true;

	for (unsigned at = 1; is_reached; at++) {
		size_t count = 0;
		int err = list_first(&opts, at, &is_reached, &count);

		if (err == 0)
			ck_assert_uint_eq(count, 1);
		unlisted += err == -ENODATA;
	}
	ck_assert_uint_ge(unlisted, 1);
}
END_TEST

START_TEST(first_mark_without_memory_is_refused_and_the_next_is_set)
{
	uint64_t id;

	allocation_faults_begin(1, false);
	ck_assert_int_eq(rt_tracker_mark(tracker, NULL, &id), -ENOMEM);
	ck_assert(allocation_faults_end());
	ck_assert_int_eq(rt_tracker_mark(tracker, NULL, &id), 0);
	ck_assert_int_eq(rt_tracker_unmark(tracker, id), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recorder_faults");
	TCase *tc = suite_case(suite, "recorder_faults");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, recorder_without_a_thread_is_refused);
	tcase_add_test(tc, thread_has_the_usual_stack_if_its_own_is_too_small);
	tcase_add_test(tc, recorder_without_memory_is_refused);
	if (!IS_ADDRESS_SANITIZED && !IS_THREAD_SANITIZED)
		tcase_add_test(tc, recorder_that_needs_too_much_memory_is_refused);
	tcase_add_test(tc, rows_that_there_is_no_memory_for_are_not_there);
	tcase_add_test(tc, first_mark_without_memory_is_refused_and_the_next_is_set);
	return suite_run(suite);
}
