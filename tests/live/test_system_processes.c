/* SPDX-License-Identifier: MIT */
/* The processes of the system (RT_OPT_LIST_PROCESSES), and those that used most, against /proc as
 * the test reads it and what children report of themselves. */
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "tracking.h"

#define WORK_NS UINT64_C(80000000)
#define PIDS_MAX (1 << 22)
#define ROWS_MAX 40000
#define HELD ((size_t)64 << 20)

static struct rt_tracker *track_system(uint64_t want)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .flags = RT_OPT_LIST_PROCESSES,
		                      .want = want };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_system_tracker_new(&tracker, &opts), 0);
	return tracker;
}

/* The caller frees the rows. */
static struct rt_process *list(struct rt_tracker *tracker, size_t *count)
{
	struct rt_process *rows = calloc(ROWS_MAX, sizeof(*rows));

	ck_assert_ptr_nonnull(rows);
	*count = ROWS_MAX;
	ck_assert_int_eq(rt_tracker_processes(tracker, rows, sizeof(*rows), count), 0);
	ck_assert_uint_le(*count, ROWS_MAX);
	return rows;
}

static struct rt_process *top(struct rt_tracker *tracker, uint32_t order, size_t *count)
{
	struct rt_process *rows = calloc(ROWS_MAX, sizeof(*rows));

	ck_assert_ptr_nonnull(rows);
	*count = ROWS_MAX;
	ck_assert_int_eq(rt_tracker_top(tracker, order, rows, sizeof(*rows), count), 0);
	return rows;
}

static const struct rt_process *find(const struct rt_process *rows, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].pid == pid)
			return &rows[i];
	return NULL;
}

static bool *list_proc(void)
{
	bool *there = calloc(PIDS_MAX, sizeof(*there));
	const struct dirent *entry;
	DIR *dir = opendir("/proc");

	ck_assert_ptr_nonnull(there);
	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL) {
		int pid = atoi(entry->d_name);

		if (pid > 0)
			there[pid] = true;
	}
	closedir(dir);
	return there;
}

/* Other tests fork meanwhile. What is there before and after was there in between, unless the pid
 * was reused. */
START_TEST(list_has_every_process_and_no_other)
{
	struct rt_tracker *tracker = track_system(0);
	bool *before = list_proc(), *after;
	struct rt_metrics m = sample(tracker);
	struct rt_process *rows;
	size_t count;

	after = list_proc();
	rows = list(tracker, &count);
	ck_assert_uint_eq(m.members_skipped, 0);
	for (pid_t pid = 1; pid < PIDS_MAX; pid++) {
		const struct rt_process *row =
		    before[pid] && after[pid] ? find(rows, count, pid) : NULL;

		ck_assert_msg(row != NULL || !(before[pid] && after[pid]), "%d is missing", pid);
		if (pid == getpid()) {
			ck_assert_int_eq(row->ppid, getppid());
			ck_assert_uint_eq(row->uid, getuid());
			ck_assert_int_eq(row->session, getsid(0));
			ck_assert_uint_ne(row->valid & RT_HAS_CPU, 0);
		}
	}
	for (size_t i = 1; i < count; i++)
		for (size_t k = 0; k < i && k < 50; k++)
			ck_assert_int_ne(rows[i].pid, rows[k].pid);
	free(before);
	free(after);
	free(rows);
	rt_tracker_free(tracker);
}
END_TEST

/* The figures of the system stay its own. */
START_TEST(sample_has_what_it_has_without_the_list)
{
	struct rt_tracker *plain, *listed = track_system(0);
	struct rt_metrics without, with;

	ck_assert_int_eq(rt_system_tracker_new(&plain, NULL), 0);
	without = sample(plain);
	with = sample(listed);
	/* A pid may be reused meanwhile, and the list then lacks one. */
	ck_assert_uint_eq(with.valid | RT_HAS_PROCESSES, without.valid | RT_HAS_PROCESSES);
	ck_assert_uint_eq(with.partial & ~RT_HAS_PROCESSES, without.partial & ~RT_HAS_PROCESSES);
	ck_assert(RT_IS_KNOWN(&with, RT_HAS_PROCESSES));
	ck_assert_uint_eq(with.estimated, without.estimated);
	ck_assert_uint_eq(with.memory_total_bytes, without.memory_total_bytes);
	ck_assert_uint_eq(with.cpus_online, without.cpus_online);
	ck_assert_uint_eq(with.rss_bytes, 0);
	rt_tracker_free(plain);
	rt_tracker_free(listed);
}
END_TEST

static void check_order(const struct rt_process *rows, size_t count)
{
	for (size_t i = 1; i < count; i++)
		ck_assert_uint_ge(rows[i - 1].cpu_user_ns + rows[i - 1].cpu_system_ns,
		                  rows[i].cpu_user_ns + rows[i].cpu_system_ns);
}

/* Uses CPU time, and says how much it had used before and after. */
struct worker {
	uint64_t before_ns, after_ns;
};

static uint64_t own_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return get_rusage_ns(&usage);
}

static void work(void *arg)
{
	struct worker *worker = arg;

	worker->before_ns = own_ns();
	burn_cpu_ns(WORK_NS);
	worker->after_ns = own_ns();
}

START_TEST(process_that_has_begun_and_worked_has_what_it_used)
{
	struct worker *worker = map_shared(sizeof(*worker));
	struct rt_tracker *tracker = track_system(0);
	const struct rt_process *row;
	struct rt_process *rows;
	struct child child;
	size_t count;

	sample(tracker);
	child_start_async(&child, work, worker);
	child_await(&child);
	sample(tracker);
	rows = top(tracker, RT_TOP_CPU, &count);
	check_order(rows, count);
	row = find(rows, count, child.pid);
	ck_assert_ptr_nonnull(row);
	ck_assert_int_eq(RT_QUALITY(row, RT_HAS_CPU), RT_QUALITY_EXACT);
	ck_assert_uint_ge(row->cpu_user_ns + row->cpu_system_ns, WORK_NS);
	ck_assert_uint_ge(row->cpu_user_ns + row->cpu_system_ns + 2000, worker->after_ns);
	free(rows);

	/* It sleeps from now on. */
	sample(tracker);
	rows = top(tracker, RT_TOP_CPU, &count);
	row = find(rows, count, child.pid);
	ck_assert_ptr_nonnull(row);
	ck_assert_uint_eq(row->cpu_user_ns + row->cpu_system_ns, 0);
	free(rows);
	child_end(&child);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(process_that_has_ended_is_among_them)
{
	struct worker *worker = map_shared(sizeof(*worker));
	struct rt_tracker *tracker = track_system(0);
	const struct rt_process *row;
	struct rt_process *rows;
	struct child child;
	size_t count;

	child_start_async(&child, work, worker);
	child_await(&child);
	sample(tracker);
	child_end(&child);
	sample(tracker);
	rows = top(tracker, RT_TOP_CPU, &count);
	row = find(rows, count, child.pid);
	ck_assert_ptr_nonnull(row);
	ck_assert_uint_eq(row->state, 'X');
	ck_assert_int_eq(RT_QUALITY(row, RT_HAS_CPU), RT_QUALITY_LOWER_BOUND);
	ck_assert_uint_eq(row->rss_bytes, 0);
	free(rows);
	rows = list(tracker, &count);
	ck_assert_ptr_null(find(rows, count, child.pid));
	free(rows);
	rt_tracker_free(tracker);
}
END_TEST

static void hold(void *arg)
{
	char *memory = mmap(NULL, HELD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	memset(memory, 1, HELD);
}

START_TEST(order_by_memory_is_that_of_resident_pages)
{
	struct rt_tracker *tracker = track_system(RT_HAS_RSS);
	const struct rt_process *row;
	struct rt_process *rows;
	struct child child;
	size_t count;

	child_start(&child, hold, NULL);
	sample(tracker);
	sample(tracker);
	rows = top(tracker, RT_TOP_MEMORY, &count);
	for (size_t i = 1; i < count; i++)
		ck_assert_uint_ge(rows[i - 1].rss_bytes, rows[i].rss_bytes);
	row = find(rows, count, child.pid);
	ck_assert_ptr_nonnull(row);
	ck_assert_uint_ge(row->rss_bytes, HELD);
	free(rows);
	child_end(&child);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(system_tracker_without_the_flag_has_no_processes)
{
	struct rt_tracker *tracker;
	struct rt_process row;
	size_t count = 1;

	ck_assert_int_eq(rt_system_tracker_new(&tracker, NULL), 0);
	sample(tracker);
	sample(tracker);
	ck_assert_int_eq(rt_tracker_processes(tracker, &row, sizeof(row), &count), -EOPNOTSUPP);
	ck_assert_int_eq(rt_tracker_top(tracker, RT_TOP_CPU, &row, sizeof(row), &count),
	                 -EOPNOTSUPP);
	rt_tracker_free(tracker);
}
END_TEST

/* Returns false, and skips the test, if the processes of other users cannot be hidden. */
static bool hide_processes(void)
{
	if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("proc", "/proc", "proc", 0, "hidepid=2") == 0 && setgroups(0, NULL) == 0 &&
	    setgid(65534) == 0 && setuid(65534) == 0 && access("/proc/1", F_OK) < 0)
		return true;
	suite_skip_test("/proc cannot hide processes here");
	return false;
}

START_TEST(list_without_hidden_processes_is_partial)
{
	struct rt_tracker *tracker;
	struct rt_process *rows;
	struct rt_metrics m;
	size_t count;

	if (!hide_processes())
		return;
	tracker = track_system(RT_HAS_CPU);
	m = sample(tracker);
	ck_assert_int_eq(RT_QUALITY(&m, RT_HAS_PROCESSES), RT_QUALITY_LOWER_BOUND);
	rows = list(tracker, &count);
	ck_assert_ptr_null(find(rows, count, 1));
	free(rows);
	rt_tracker_free(tracker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("system_processes");
	TCase *processes = suite_case(suite, "processes");

	tcase_add_test(processes, list_has_every_process_and_no_other);
	tcase_add_test(processes, sample_has_what_it_has_without_the_list);
	tcase_add_test(processes, process_that_has_begun_and_worked_has_what_it_used);
	tcase_add_test(processes, process_that_has_ended_is_among_them);
	tcase_add_test(processes, order_by_memory_is_that_of_resident_pages);
	tcase_add_test(processes, system_tracker_without_the_flag_has_no_processes);
	tcase_add_test(processes, list_without_hidden_processes_is_partial);
	return suite_run(suite);
}
