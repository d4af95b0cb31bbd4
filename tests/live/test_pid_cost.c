/* SPDX-License-Identifier: MIT */
/* What the calls without a handle cost, beside reading the same files: open, read and close of
 * each.
 *
 * Both are measured in turn, in CPU time of the thread, and the best round of each counts. So other
 * work on the machine only makes the test take longer: it ends with the first round in which all
 * are within their limits. The limits leave room for other kernels and for builds without
 * optimization. What was measured is printed. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "threads.h"

#define CALLS 50
#define ROUNDS 2000
#define FILES_MAX 4

struct cost {
	const char *what;
	const char *files[FILES_MAX];
	uint64_t want; /* of rt_pid_read(); 0: rt_pid_getrusage() */
	double limit;  /* times the cost of the files */
	uint64_t files_ns, call_ns;
};

static pid_t subject;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Assertions of libcheck write to a pipe, so what is measured has none. */
static bool read_file(const char *path)
{
	char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool has_text = read(fd, text, sizeof(text)) > 0;

	close(fd);
	return has_text;
}

static uint64_t measure_files(const struct cost *cost)
{
	char paths[FILES_MAX][64];
	bool has_all = true;
	size_t count = 0;
	uint64_t start, took_ns;

	for (; count < FILES_MAX && cost->files[count]; count++)
		snprintf(paths[count], sizeof(paths[0]), "/proc/%d/%s", subject,
		         cost->files[count]);
	start = now_ns();
	for (int i = 0; i < CALLS; i++) {
		for (size_t j = 0; j < count; j++)
			has_all &= read_file(paths[j]);
	}
	took_ns = now_ns() - start;
	ck_assert(has_all);
	return took_ns / CALLS;
}

static uint64_t measure_call(const struct cost *cost)
{
	uint64_t start = now_ns(), took_ns;
	struct rt_rusage usage;
	struct rt_process row;
	uint32_t valid;
	int err = 0;

	for (int i = 0; i < CALLS; i++)
		err |= cost->want ? rt_pid_read(subject, cost->want, &row, sizeof(row))
		                  : rt_pid_getrusage(subject, &usage, &valid);
	took_ns = now_ns() - start;
	ck_assert_int_eq(err, 0);
	return took_ns / CALLS;
}

static void keep_least(uint64_t *least, uint64_t ns)
{
	if (*least == 0 || ns < *least)
		*least = ns;
}

static double ratio_of(const struct cost *cost)
{
	return (double)cost->call_ns / (double)cost->files_ns;
}

/* Returns true if all are within their limits. */
static bool run_round(struct cost *costs, size_t count)
{
	bool is_within = true;

	for (size_t i = 0; i < count; i++) {
		keep_least(&costs[i].files_ns, measure_files(&costs[i]));
		keep_least(&costs[i].call_ns, measure_call(&costs[i]));
		is_within &= ratio_of(&costs[i]) <= costs[i].limit;
	}
	return is_within;
}

static void check_costs(struct cost *costs, size_t count)
{
	int round = 0;

	while (round < ROUNDS && (!run_round(costs, count) || round < 20))
		round++;
	for (size_t i = 0; i < count; i++) {
		printf("# %-28s files %6llu ns, call %6llu ns: %.2f times, limit %.1f\n",
		       costs[i].what, (unsigned long long)costs[i].files_ns,
		       (unsigned long long)costs[i].call_ns, ratio_of(&costs[i]), costs[i].limit);
		ck_assert_msg(ratio_of(&costs[i]) <= costs[i].limit, "%s: %.2f times its files",
		              costs[i].what, ratio_of(&costs[i]));
	}
	fflush(stdout);
}

static int is_asleep(void *arg)
{
	(void)arg;
	return thread_state(subject, subject) == 'S';
}

static void do_nothing(void *arg)
{
	(void)arg;
}

START_TEST(look_at_another_process_costs_its_files)
{
	struct cost costs[] = {
		{ "RSS", { "statm" }, RT_HAS_RSS, 2.5, 0, 0 },
		{ "I/O", { "io" }, RT_HAS_IO, 2.5, 0, 0 },
		{ "peak RSS", { "status" }, RT_HAS_PEAK_RSS, 2.0, 0, 0 },
		{ "CPU and RSS", { "stat", "statm" }, RT_HAS_CPU | RT_HAS_RSS, 2.5, 0, 0 },
		{ "PSS", { "smaps_rollup" }, RT_HAS_PSS, 1.8, 0, 0 },
		{ "getrusage", { "stat", "status", "io", "schedstat" }, 0, 2.0, 0, 0 },
	};
	struct child child;

	child_start(&child, do_nothing, NULL);
	subject = child.pid;
	wait_until(is_asleep, NULL);
	check_costs(costs, sizeof(costs) / sizeof(costs[0]));
	child_end(&child);
}
END_TEST

START_TEST(look_at_the_caller_itself_costs_less_than_three_files)
{
	struct cost costs[] = {
		{ "RSS of the caller", { "statm" }, RT_HAS_RSS, 2.5, 0, 0 },
		{ "getrusage of the caller", { "stat", "status", "io" }, 0, 1.2, 0, 0 },
	};

	subject = getpid();
	check_costs(costs, sizeof(costs) / sizeof(costs[0]));
}
END_TEST

int main(void)
{
	Suite *suite;
	TCase *costs;

	if (IS_ADDRESS_SANITIZED || IS_THREAD_SANITIZED)
		return suite_skip("a sanitizer slows the library down, but not the kernel");
	suite = suite_create("pid_cost");
	costs = suite_case(suite, "costs");
	tcase_add_test(costs, look_at_another_process_costs_its_files);
	tcase_add_test(costs, look_at_the_caller_itself_costs_less_than_three_files);
	return suite_run(suite);
}
