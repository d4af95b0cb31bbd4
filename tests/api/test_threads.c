/* SPDX-License-Identifier: MIT */
/* Two trackers on two threads, of two trees: neither sees or disturbs the other. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"

#define SAMPLES 200

/* What one thread does. Only the main thread may use the assertions of libcheck, so the other
 * threads record their results here. */
struct job {
	pid_t pid; /* 0: the system */
	uint64_t tracker_id;
	uint64_t first_cpu_ns, last_cpu_ns, most_processes;
	int err;
	bool has_fallen;
};

static void *take_samples(void *arg)
{
	struct job *job = arg;
	struct rt_tracker *t;
	struct rt_metrics m;

	job->err =
	    job->pid ? rt_pid_tracker_new(&t, job->pid, NULL) : rt_system_tracker_new(&t, NULL);
	for (int i = 0; i < SAMPLES && !job->err; i++) {
		uint64_t cpu;

		usleep(1000); /* the CPU clock of a busy process advances at ticks */
		job->err = rt_sample(t, &m, sizeof(m));
		cpu = m.cpu_user_ns + m.cpu_system_ns;
		if (i == 0)
			job->first_cpu_ns = job->last_cpu_ns = cpu;
		job->has_fallen |= cpu < job->last_cpu_ns;
		job->last_cpu_ns = cpu;
		job->tracker_id = m.tracker_id;
		if (m.processes > job->most_processes)
			job->most_processes = m.processes;
	}
	rt_tracker_free(t);
	return NULL;
}

static pid_t start_child(bool is_busy)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		for (volatile unsigned turns = 0;; turns++) {
			if (!is_busy)
				pause();
		}
	}
	return pid;
}

static void kill_child(pid_t pid)
{
	ck_assert_int_eq(kill_process(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static void run_on_two_threads(struct job jobs[2])
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, take_samples, &jobs[i]), 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

START_TEST(trackers_of_two_trees_on_two_threads_are_independent)
{
	struct job jobs[2] = { { .pid = start_child(true) }, { .pid = start_child(false) } };

	run_on_two_threads(jobs);

	for (int i = 0; i < 2; i++) {
		kill_child(jobs[i].pid);
		ck_assert_int_eq(jobs[i].err, 0);
		ck_assert(!jobs[i].has_fallen);
		ck_assert_uint_eq(jobs[i].most_processes, 1);
	}
	ck_assert_uint_ne(jobs[0].tracker_id, jobs[1].tracker_id);
	ck_assert_uint_gt(jobs[0].last_cpu_ns, jobs[0].first_cpu_ns);
	ck_assert_uint_lt(jobs[1].last_cpu_ns - jobs[1].first_cpu_ns,
	                  jobs[0].last_cpu_ns - jobs[0].first_cpu_ns);
}
END_TEST

START_TEST(trackers_of_tree_and_system_on_two_threads_are_independent)
{
	struct job jobs[2] = { { .pid = start_child(true) }, { .pid = 0 } };

	run_on_two_threads(jobs);

	kill_child(jobs[0].pid);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(jobs[i].err, 0);
		ck_assert(!jobs[i].has_fallen);
	}
	ck_assert_uint_eq(jobs[0].most_processes, 1);
	ck_assert_uint_ne(jobs[0].tracker_id, jobs[1].tracker_id);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("threads");

	tcase_add_test(suite_case(suite, "two trees"),
	               trackers_of_two_trees_on_two_threads_are_independent);
	tcase_add_test(suite_case(suite, "tree and system"),
	               trackers_of_tree_and_system_on_two_threads_are_independent);
	return suite_run(suite);
}
