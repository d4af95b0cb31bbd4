/* SPDX-License-Identifier: MIT */
/* Figures of real processes where /proc has only the directories of processes (subset=pid), and the
 * page counts that the kernel gathers apart. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "record.h"
#include "suite.h"
#include "tracking.h"

#define WORK_NS UINT64_C(60000000)

enum { THREADS = 24, PAGES_OF_THREAD = 400 };

/* Returns false, and skips the test, if /proc cannot have the directories of processes alone. */
static bool hide_system_files(void)
{
	if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("proc", "/proc", "proc", 0, "subset=pid") == 0 && access("/proc/stat", F_OK) < 0)
		return true;
	suite_skip_test("/proc cannot be mounted with subset=pid here");
	return false;
}

static void work(void *arg)
{
	(void)arg;
	burn_cpu_ns(WORK_NS);
}

START_TEST(tree_without_files_of_the_system_has_all_its_figures)
{
	const uint64_t has = RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_RSS | RT_HAS_IO | RT_HAS_CTXSW |
	                     RT_HAS_PEAK_RSS | RT_HAS_PROCESSES;
	struct rt_tracker *tracker;
	struct rusage usage;
	struct rt_metrics m;
	struct child child;

	if (!hide_system_files())
		return;
	child_start(&child, work, NULL);
	tracker = track(child.pid);
	m = sample(tracker);
	ck_assert_uint_eq(m.valid & has, has);
	ck_assert_uint_eq(m.partial & has, 0);
	rt_tracker_free(tracker);
	child_end(&child);

	getrusage(RUSAGE_CHILDREN, &usage);
	ck_assert_uint_ge(get_sampled_ns(&m), WORK_NS);
	ck_assert_uint_le(get_sampled_ns(&m), get_rusage_ns(&usage));
	ck_assert_uint_le(m.minor_faults, (uint64_t)usage.ru_minflt);
}
END_TEST

START_TEST(command_without_files_of_the_system_has_its_exit_code_and_figures)
{
	struct rt_command *command;
	struct rt_outcome outcome;

	if (!hide_system_files())
		return;
	command = start_shell("head -c 30000000 /dev/zero | tail -c 1 >/dev/null; exit 7");
	outcome = finish_command(command);
	rt_command_free(command);
	ck_assert_int_eq(outcome.exit_code, 7);
	ck_assert_uint_eq(outcome.processes, 3);
	ck_assert_uint_gt(get_outcome_ns(&outcome), 0);
}
END_TEST

static uint64_t count_names(void)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	uint64_t count = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL)
		count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
	closedir(dir);
	return count;
}

/* Other tests fork meanwhile, so the count lies near two counts of the names. */
static void check_processes(const struct rt_metrics *m, uint64_t before, uint64_t after)
{
	const uint64_t low = before < after ? before : after, high = before + after - low;

	ck_assert_uint_ge(m->processes + 50, low);
	ck_assert_uint_le(m->processes, high + 50);
}

START_TEST(system_without_its_files_lacks_their_figures_alone)
{
	static const uint64_t missing[] = { RT_HAS_CPU_MODES, RT_HAS_MEMORY, RT_HAS_LOAD,
		                            RT_HAS_DISK };
	struct rt_tracker *tracker;
	struct rt_metrics m;
	uint64_t before;

	if (!hide_system_files())
		return;
	before = count_names();
	ck_assert_int_eq(rt_system_tracker_new(&tracker, NULL), 0);
	m = sample(tracker);
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		ck_assert_uint_eq(m.valid & missing[i], 0);
		ck_assert_int_eq(rt_tracker_status(tracker, missing[i]), -ENOENT);
	}
	ck_assert_uint_ne(m.valid & RT_HAS_FILESYSTEM, 0);
	ck_assert_uint_ne(m.valid & RT_HAS_PROCESSES, 0);
	check_processes(&m, before, count_names());
	rt_tracker_free(tracker);
}
END_TEST

static pthread_barrier_t all_have_touched;

static void *touch_pages(void *arg)
{
	const size_t size = PAGES_OF_THREAD * (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	if (memory == MAP_FAILED)
		abort();
	for (size_t at = 0; at < size; at += (size_t)sysconf(_SC_PAGESIZE))
		memory[at] = 1;
	pthread_barrier_wait(&all_have_touched);
	pause();
	return NULL;
}

static void touch_in_threads(void *arg)
{
	pthread_t thread;

	(void)arg;
	pthread_barrier_init(&all_have_touched, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&thread, NULL, touch_pages, NULL) != 0)
			abort();
	}
	pthread_barrier_wait(&all_have_touched);
}

/* How many pages the kernel may have counted without telling the process's account, in each of two
 * counters, of anonymous pages and of those of files. Since Linux 6.2 a CPU keeps them to itself
 * (lib/percpu_counter.c), before that a thread did (mm/memory.c). */
static uint64_t pages_counted_apart(void)
{
	const uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	unsigned major = 0, minor = 0;
	struct utsname name;

	ck_assert_int_eq(uname(&name), 0);
	ck_assert_int_eq(sscanf(name.release, "%u.%u", &major, &minor), 2);
	if (major * 100 + minor < 602)
		return 2 * (THREADS + 1) * UINT64_C(64);
	return 2 * cpus * (2 * cpus > 32 ? 2 * cpus : 32);
}

START_TEST(rss_of_many_threads_is_as_near_as_the_kernel_counts)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct rt_tracker *tracker;
	struct child child;
	uint64_t rss, apart;
	char path[64];

	child_start(&child, touch_in_threads, NULL);
	tracker = track(child.pid);
	rss = sample(tracker).rss_bytes;
	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)child.pid);
	apart = rss - read_proc_value(path, "Rss:") * 1024;
	if (apart > rss)
		apart = -apart;
	ck_assert_uint_ge(rss + pages_counted_apart() * page, THREADS * PAGES_OF_THREAD * page);
	ck_assert_uint_le(apart, pages_counted_apart() * page);
	rt_tracker_free(tracker);
	child_end(&child);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("partial_proc");
	TCase *tests = suite_case(suite, "partial_proc");

	tcase_add_test(tests, tree_without_files_of_the_system_has_all_its_figures);
	tcase_add_test(tests, command_without_files_of_the_system_has_its_exit_code_and_figures);
	tcase_add_test(tests, system_without_its_files_lacks_their_figures_alone);
	tcase_add_test(tests, rss_of_many_threads_is_as_near_as_the_kernel_counts);
	return suite_run(suite);
}
