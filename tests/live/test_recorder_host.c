/* SPDX-License-Identifier: MIT */
/* Recorders in hosts with threads, forks and signals, and of commands, which own their tracker. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "recording.h"
#include "suite.h"
#include "threads.h"
#include "tracking.h"

struct busy_host {
	struct rt_recorder *r;
	struct rt_tracker *t;
	atomic_bool is_over;
	atomic_int error; /* of a call that should have succeeded */
};

static void note(struct busy_host *host, int err)
{
	if (err < 0)
		atomic_store(&host->error, err);
}

static void *set_marks(void *arg)
{
	struct busy_host *host = arg;

	while (!atomic_load(&host->is_over)) {
		struct rt_peaks peaks;
		uint64_t id;

		note(host, rt_tracker_mark(host->t, "block", &id));
		note(host, rt_tracker_since(host->t, id, &peaks, sizeof(peaks)));
		if (!(peaks.partial & RT_HAS_PEAK_RSS) || peaks.peak_rss_bytes == 0)
			note(host, -EBADMSG);
		note(host, rt_tracker_unmark(host->t, id));
	}
	return NULL;
}

static void *look_around(void *arg)
{
	struct busy_host *host = arg;

	while (!atomic_load(&host->is_over)) {
		struct rt_recorder_totals totals;
		struct rt_process rows[4];
		struct rt_metrics m;
		size_t count = 4;

		note(host, rt_recorder_get_totals(host->r, &totals, sizeof(totals)));
		note(host, rt_recorder_latest(host->r, &m, sizeof(m)));
		note(host, rt_tracker_processes(host->t, rows, sizeof(rows[0]), &count));
		count = 4;
		rt_recorder_processes(host->r, m.monotonic_ns, rows, sizeof(rows[0]), &count);
	}
	return NULL;
}

static void *read_on(void *arg)
{
	struct busy_host *host = arg;

	while (!atomic_load(&host->is_over)) {
		struct rt_metrics samples[4];
		size_t count = 4;

		note(host, rt_recorder_read(host->r, samples, sizeof(samples[0]), &count));
	}
	return NULL;
}

START_TEST(calls_of_several_threads_do_not_disturb_each_other)
{
	void *(*const jobs[])(void *) = { set_marks, look_around, read_on, read_on };
	enum { THREADS = sizeof(jobs) / sizeof(jobs[0]) };
	const struct rt_recorder_opts opts = {
		.size = sizeof(opts),
		.interval_ns = MS,
		.peak_poll_ns = MS,
		.capacity = 16,
		.flags = RT_RECORDER_PROCESSES | RT_RECORDER_KEEP_NEWEST,
	};
	struct busy_host host = { 0 };
	pthread_t threads[THREADS];

	host.t = track(getpid());
	ck_assert_int_eq(rt_recorder_new(&host.r, host.t, &opts), 0);
	wait_until_taken(host.r, 1);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, jobs[i], &host), 0);
	wait_until_taken(host.r, 200);
	atomic_store(&host.is_over, true);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_int_eq(atomic_load(&host.error), 0);
	rt_recorder_free(host.r);
}
END_TEST

static void *stop_it(void *arg)
{
	rt_recorder_stop(arg);
	return NULL;
}

START_TEST(several_threads_may_stop_a_recorder)
{
	pthread_t threads[4];
	struct child child;
	struct rt_recorder *r =
	    record_child(&child, (struct rt_recorder_opts){ .interval_ns = NEVER });

	wait_until_taken(r, 1);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, stop_it, r), 0);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_uint_eq(totals_of(r).taken, 2);
	rt_recorder_free(r);
	child_end(&child);
}
END_TEST

/* Returns the exit code of the child: the number of the step that failed. */
static int use_copy(struct rt_recorder *r, struct rt_tracker *t)
{
	struct rt_recorder *second;
	struct rt_metrics m[1];
	struct rt_recorder_totals totals;
	struct rt_process rows[1];
	struct rt_peaks peaks;
	size_t count = 1;
	uint64_t id;

	end_self_after(60);
	if (rt_recorder_fd(r) != -ECHILD || rt_recorder_stop(r) != -ECHILD ||
	    rt_recorder_read(r, m, sizeof(m[0]), &count) != -ECHILD ||
	    rt_recorder_latest(r, m, sizeof(m[0])) != -ECHILD ||
	    rt_recorder_get_totals(r, &totals, sizeof(totals)) != -ECHILD ||
	    rt_recorder_processes(r, 1, rows, sizeof(rows[0]), &count) != -ECHILD)
		return 1;
	if (rt_sample(t, m, sizeof(m[0])) != -ECHILD || rt_tracker_glance(t) != -ECHILD ||
	    rt_tracker_mark(t, NULL, &id) != -ECHILD ||
	    rt_tracker_since(t, 1, &peaks, sizeof(peaks)) != -ECHILD ||
	    rt_tracker_read_memory(t) != -ECHILD || rt_tracker_status(t, RT_HAS_RSS) != -ECHILD ||
	    rt_tracker_processes(t, rows, sizeof(rows[0]), &count) != -ECHILD)
		return 2;
	if (rt_recorder_new(&second, t, NULL) != -ECHILD || rt_tracker_fd(t) != -ECHILD)
		return 3;
	rt_tracker_free(t);
	rt_recorder_free(r);
	/* A recorder of its own works. */
	if (!IS_THREAD_SANITIZED &&
	    (rt_pid_tracker_new(&t, getpid(), NULL) || rt_recorder_new(&second, t, NULL) ||
	     rt_recorder_stop(second) || rt_recorder_latest(second, m, sizeof(m[0]))))
		return 4;
	rt_recorder_free(IS_THREAD_SANITIZED ? NULL : second);
	return 0;
}

/* Forks at any moment of a sample: the thread is busy most of the time. */
START_TEST(forked_child_has_no_recorder_and_its_parent_has)
{
	const struct rt_recorder_opts opts = { .size = sizeof(opts),
		                               .flags = RT_RECORDER_PROCESSES,
		                               .interval_ns = MS,
		                               .peak_poll_ns = MS };
	struct rt_tracker *t = track(getpid());
	struct rt_recorder *r;

	ck_assert_int_eq(rt_recorder_new(&r, t, &opts), 0);
	for (int i = 0; i < 30; i++) {
		pid_t pid = fork();
		int status;

		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			_exit(use_copy(r, t));
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x",
		              (unsigned)status);
	}
	wait_until_taken(r, totals_of(r).taken + 2);
	rt_recorder_free(r);
}
END_TEST

/* The mask of each thread but the main one. */
START_TEST(thread_blocks_all_signals)
{
	char path[64], line[128];
	struct child child;
	struct rt_recorder *r =
	    record_child(&child, (struct rt_recorder_opts){ .interval_ns = NEVER });
	FILE *tasks = popen("ls /proc/$PPID/task", "r");
	int others = 0;

	while (fgets(line, sizeof(line), tasks)) {
		int tid = atoi(line);
		unsigned long long blocked = 0, most = ~0ULL;
		FILE *status;

		snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
		status = tid == getpid() ? NULL : fopen(path, "r");
		if (!status)
			continue;
		while (fgets(line, sizeof(line), status))
			sscanf(line, "SigBlk: %llx", &blocked);
		fclose(status);
		/* All but KILL, STOP, and the first real-time signals, which are libc's. */
		most &= ~(1ULL << (SIGKILL - 1) | 1ULL << (SIGSTOP - 1) | 7ULL << 31);
		if (IS_THREAD_SANITIZED) /* it lets no thread block SIGSYS */
			most &= ~(1ULL << (SIGSYS - 1));
		ck_assert_msg((blocked & most) == most, "%llx", blocked);
		others++;
	}
	pclose(tasks);
	ck_assert_int_ge(others, 1);
	rt_recorder_free(r);
	child_end(&child);
}
END_TEST

/* --- Commands, which own their tracker. --- */

static struct rt_recorder *record_command(struct rt_command *command)
{
	const struct rt_recorder_opts opts = { .size = sizeof(opts), .interval_ns = INTERVAL };
	struct rt_recorder *r;

	ck_assert_int_eq(rt_recorder_new(&r, rt_command_tracker(command), &opts), 0);
	return r;
}

START_TEST(command_is_waited_for_beside_its_recorder)
{
	struct rt_command *command = start_shell("exec sleep 1000");
	struct rt_recorder *r = record_command(command);
	struct rt_metrics m;
	struct rt_outcome outcome;

	wait_until_taken(r, 3);
	ck_assert_int_eq(rt_sample(rt_command_tracker(command), &m, sizeof(m)), -EBUSY);
	ck_assert_int_eq(rt_command_signal(command, SIGKILL), 0);
	ck_assert_int_eq(rt_command_wait(command, WAIT_FOREVER, &outcome, sizeof(outcome)), 0);
	ck_assert_uint_ne((outcome.valid | outcome.partial) & RT_HAS_CPU, 0);
	ck_assert_int_eq(rt_recorder_stop(r), 0);
	ck_assert_int_eq(rt_recorder_latest(r, &m, sizeof(m)), 0);
	ck_assert_uint_eq(m.processes, 0);
	rt_recorder_free(r);
	/* Its tracker is as it was. */
	ck_assert_int_eq(rt_sample(rt_command_tracker(command), &m, sizeof(m)), -ESRCH);
	rt_command_free(command);
}
END_TEST

START_TEST(freed_command_stops_its_recorder_which_can_still_be_read)
{
	struct rt_command *command = start_shell("sleep 1000");
	struct rt_recorder *r = record_command(command);
	struct rt_metrics samples[2];
	size_t count = 1;
	int err;

	wait_until_taken(r, 3);
	ck_assert_int_eq(rt_command_kill(command), 0);
	rt_command_free(command);
	ck_assert_uint_eq(read_some(r, samples, 2), 2);
	do {
		err = rt_recorder_read(r, samples, sizeof(samples[0]), &count);
	} while (err == 0);
	ck_assert_int_eq(err, -ESRCH);
	ck_assert_int_eq(rt_recorder_stop(r), 0);
	rt_recorder_free(r);
}
END_TEST

static int use_command_copy(struct rt_command *command, bool has_recorder)
{
	struct rt_recorder *another;
	size_t count = 0;

	end_self_after(60);
	if (rt_recorder_new(&another, rt_command_tracker(command), NULL) != -ECHILD)
		return 1;
	if (!has_recorder)
		return 0;
	return rt_command_wait(command, 0, NULL, 0) == -ECHILD &&
	               rt_command_kill(command) == -ECHILD &&
	               rt_command_processes(command, NULL, sizeof(struct rt_command_process),
	                                    &count) == -ECHILD
	           ? 0
	           : 2;
}

/* The thread of a recorder may have the lock of the command. */
START_TEST(forked_child_cannot_use_a_command_that_has_a_recorder)
{
	const struct rt_command_opts listed = { .flags = RT_COMMAND_LIST_PROCESSES };
	struct rt_command *command = start_shell_with(listed, "exec sleep 1000");
	struct rt_recorder *r = _i ? record_command(command) : NULL;
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(use_command_copy(command, _i));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	rt_recorder_free(r);
	ck_assert_int_eq(rt_command_kill(command), 0);
	rt_command_free(command);
}
END_TEST

START_TEST(recorder_of_a_command_may_be_replaced)
{
	struct rt_command *command = start_shell("sleep 1000");

	for (int i = 0; i < 5; i++) {
		struct rt_recorder *r = record_command(command);

		if (i % 2)
			wait_until_taken(r, 2);
		rt_recorder_free(r);
		sample(rt_command_tracker(command));
	}
	ck_assert_int_eq(rt_command_kill(command), 0);
	rt_command_free(command);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recorder_host");
	TCase *host = suite_case(suite, "host"), *command = suite_case(suite, "command");

	tcase_add_test(host, calls_of_several_threads_do_not_disturb_each_other);
	tcase_add_test(host, several_threads_may_stop_a_recorder);
	tcase_add_test(host, forked_child_has_no_recorder_and_its_parent_has);
	tcase_add_test(host, thread_blocks_all_signals);
	tcase_add_test(command, command_is_waited_for_beside_its_recorder);
	tcase_add_test(command, freed_command_stops_its_recorder_which_can_still_be_read);
	tcase_add_loop_test(command, forked_child_cannot_use_a_command_that_has_a_recorder, 0, 2);
	tcase_add_test(command, recorder_of_a_command_may_be_replaced);
	return suite_run(suite);
}
