/* SPDX-License-Identifier: MIT */
/* Samples and commands in a thread with the smallest stack that glibc allows, 16 KiB, as some hosts
 * have for thousands of threads. A frame that is too large ends this test with SIGSEGV. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "suite.h"
#include "threads.h"

#define STACK_BYTES 16384
#define MARGIN_BYTES 1024 /* of that, for compilers that make larger frames */
#define SAMPLES 3
#define CHILDREN 40

struct call {
	void *(*work)(void *arg);
	void *arg;
};

static void *run_above_margin(void *arg)
{
	const struct call *call = arg;
	volatile char margin[MARGIN_BYTES] = { 0 };
	void *result = call->work(call->arg);

	return margin[0] ? NULL : result;
}

static void run_on_small_stack(void *(*work)(void *), void *arg)
{
	struct call call = { work, arg };
	pthread_attr_t attr;
	pthread_t thread;

	ck_assert_int_eq(pthread_attr_init(&attr), 0);
	ck_assert_int_eq(pthread_attr_setstacksize(&attr, STACK_BYTES), 0);
	ck_assert_int_eq(pthread_create(&thread, &attr, run_above_margin, &call), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attr);
}

/* In static memory, not on the stack: how large the structs are is not what is tested. */
static struct rt_metrics samples[SAMPLES];
static struct rt_delta delta;
static struct rt_process rows[CHILDREN + 10];

static void *sample_tree(void *arg)
{
	const struct rt_opts *opts = arg;
	struct rt_tracker *tracker;
	size_t count = sizeof(rows) / sizeof(rows[0]);

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), opts), 0);
	for (int i = 0; i < SAMPLES; i++) {
		ck_assert_int_eq(rt_sample(tracker, &samples[i], sizeof(samples[i])), 0);
		ck_assert_int_eq(rt_tracker_glance(tracker), 0);
	}
	ck_assert_int_eq(rt_diff(&samples[0], &samples[1], &delta, sizeof(delta)), 0);
	ck_assert_int_eq(rt_tracker_processes(tracker, rows, sizeof(rows[0]), &count), 0);
	ck_assert_uint_ge(count, CHILDREN);
	rt_tracker_free(tracker);
	return NULL;
}

static void *sample_system(void *arg)
{
	struct rt_tracker *tracker;

	(void)arg;
	ck_assert_int_eq(rt_system_tracker_new(&tracker, NULL), 0);
	for (int i = 0; i < SAMPLES; i++)
		ck_assert_int_eq(rt_sample(tracker, &samples[i], sizeof(samples[i])), 0);
	rt_tracker_free(tracker);
	return NULL;
}

/* The root, which has all cgroups below it. A system may have none mounted. */
static void *sample_cgroup(void *arg)
{
	struct rt_tracker *tracker;

	(void)arg;
	if (rt_cgroup_tracker_new(&tracker, "/", NULL) < 0)
		return NULL;
	for (int i = 0; i < SAMPLES; i++)
		ck_assert_int_eq(rt_sample(tracker, &samples[i], sizeof(samples[i])), 0);
	rt_tracker_free(tracker);
	return NULL;
}

static void *read_usage(void *arg)
{
	static struct rt_rusage usage;
	uint32_t valid;

	(void)arg;
	ck_assert_int_eq(rt_getrusage(RT_RUSAGE_SELF, &usage), 0);
	ck_assert_int_eq(rt_pid_getrusage(getpid(), &usage, &valid), 0);
	return NULL;
}

static struct rt_outcome outcome;

static void *run_command(void *arg)
{
	const uint32_t *accounting = arg;
	const char *const argv[] = { "sh", "-c", "true; true", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .accounting = *accounting };
	struct rt_command *command;
	int err = rt_command_start(&command, &opts);

	/* Not every method can be had everywhere. */
	if (err < 0 && *accounting > RT_ACCOUNTING_POLL)
		return NULL;
	ck_assert_int_eq(err, 0);
	ck_assert_int_eq(rt_command_wait(command, -1, &outcome, sizeof(outcome)), 0);
	rt_command_free(command);
	return NULL;
}

START_TEST(tree_can_be_sampled)
{
	struct rt_opts opts = { .size = sizeof(opts),
		                .flags = _i ? RT_OPT_PROCESS_EVENTS : 0,
		                .pss_share = 1000 };
	pid_t children[CHILDREN];
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	for (int i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		ck_assert_int_ge(children[i], 0);
		if (children[i] == 0) {
			char byte;

			close(ends[1]);
			_exit(read(ends[0], &byte, 1) != 0); /* until the parent closes it */
		}
	}
	run_on_small_stack(sample_tree, &opts);
	close(ends[0]);
	close(ends[1]);
	for (int i = 0; i < CHILDREN; i++)
		ck_assert_int_eq(waitpid(children[i], NULL, 0), children[i]);
}
END_TEST

START_TEST(system_can_be_sampled)
{
	run_on_small_stack(sample_system, NULL);
}
END_TEST

START_TEST(cgroup_can_be_sampled)
{
	run_on_small_stack(sample_cgroup, NULL);
}
END_TEST

START_TEST(usage_can_be_read)
{
	run_on_small_stack(read_usage, NULL);
}
END_TEST

START_TEST(command_can_be_run)
{
	uint32_t accounting = (uint32_t)_i;

	run_on_small_stack(run_command, &accounting);
}
END_TEST

int main(void)
{
	Suite *suite;
	TCase *tcase;

	if (IS_ADDRESS_SANITIZED)
		return suite_skip("a sanitizer makes stack frames larger");
	suite = suite_create("small_stack");
	tcase = suite_case(suite, "16 KiB");
	tcase_add_loop_test(tcase, tree_can_be_sampled, 0, 2);
	tcase_add_test(tcase, system_can_be_sampled);
	tcase_add_test(tcase, cgroup_can_be_sampled);
	tcase_add_test(tcase, usage_can_be_read);
	tcase_add_loop_test(tcase, command_can_be_run, RT_ACCOUNTING_AUTO, RT_ACCOUNTING_BPF + 1);
	return suite_run(suite);
}
