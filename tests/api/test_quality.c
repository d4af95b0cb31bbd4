/* SPDX-License-Identifier: MIT */
/* RT_QUALITY(), RT_QUALITY_TEXT() and RT_IS_KNOWN() of made-up structs, and of the context switches
 * of a process with a thread that has ended. */
#include <pthread.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "suite.h"

#define A RT_HAS_CPU
#define B RT_HAS_RSS

static const struct {
	uint64_t valid, partial, estimated, has;
	int quality;
} cases[] = {
	{ A, 0, 0, A, RT_QUALITY_EXACT },         { 0, A, 0, A, RT_QUALITY_LOWER_BOUND },
	{ 0, 0, A, A, RT_QUALITY_ESTIMATE },      { B, B, B, A, RT_QUALITY_UNKNOWN },
	{ A | B, 0, 0, A | B, RT_QUALITY_EXACT }, { A, B, 0, A | B, RT_QUALITY_LOWER_BOUND },
	{ 0, A, B, A | B, RT_QUALITY_ESTIMATE },  { A, 0, 0, A | B, RT_QUALITY_UNKNOWN },
};

static const char *const words[] = { "unknown", "about", "at least", "exact" };

START_TEST(quality_of_several_bits_is_the_worst)
{
	const struct rt_metrics m = { .valid = cases[_i].valid,
		                      .partial = cases[_i].partial,
		                      .estimated = cases[_i].estimated };
	const uint64_t has = cases[_i].has;

	ck_assert_int_eq(RT_QUALITY(&m, has), cases[_i].quality);
	ck_assert_int_eq(RT_IS_KNOWN(&m, has), cases[_i].quality != RT_QUALITY_UNKNOWN);
	ck_assert_str_eq(RT_QUALITY_TEXT(&m, has), words[cases[_i].quality]);
}
END_TEST

/* The kernel drops what a thread switched when the thread ends. */
static void *switch_often(void *arg)
{
	for (int i = 0; i < 100; i++)
		usleep(100);
	return arg;
}

START_TEST(switches_of_a_process_with_an_ended_thread_are_a_lower_bound)
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = RT_HAS_CTXSW };
	struct rt_tracker *tracker;
	struct rt_metrics m;
	struct rt_process row;
	size_t count = 1;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, switch_often, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), &opts), 0);
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	ck_assert_int_eq(rt_tracker_processes(tracker, &row, sizeof(row), &count), 0);
	ck_assert_int_eq(RT_QUALITY(&row, RT_HAS_CTXSW), RT_QUALITY_LOWER_BOUND);
	rt_tracker_free(tracker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("quality");
	TCase *tcase = suite_case(suite, "quality");

	tcase_add_loop_test(tcase, quality_of_several_bits_is_the_worst, 0, COUNT_OF(cases));
	tcase_add_test(tcase, switches_of_a_process_with_an_ended_thread_are_a_lower_bound);
	return suite_run(suite);
}
