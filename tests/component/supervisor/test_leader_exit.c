/* SPDX-License-Identifier: MIT */
/* Whether a process runs on after its leader has exited, by what /proc says of its threads. The
 * files and the listing of the threads are the test's. */
#include "supervisor/leader_exit.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "suite.h"
#include "supervisor/proc_file.h"

#define LEADER "100 (x) %c 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 %d 0 7 0 0\n"
/* The number that is not 0 has the flags of the thread: PF_EXITING is 4. */
#define THREAD "101 (x) %c 1 1 1 0 -1 %d 0 0 0 0 0 0 0 0 20 0 9 0 7 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
#define EXITING 4
#define ENTRIES_MAX 64 /* in one listing */

/* What the kernel says. An error is -errno; 0 is an empty answer. */
struct kernel {
	char leader; /* its state; 0: its file is torn */
	int stat;    /* error of that */
	int threads; /* in it */
	int listed;  /* threads that the directory has */
	int listing; /* error after them */
	int running; /* threads of these that are not ending, from the last one on */
	int thread;  /* error of reading the file of a thread; 1: there is none */
};

static const struct kernel *kernel;
static int listed;

/* The linker calls these instead of the functions in their names. */
ssize_t __wrap_rts_read_pid_file(struct rti_shared_stats *shared, pid_t pid, const char *file,
                                 char *text, size_t size);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static ssize_t refuse(int error)
{
	errno = -error;
	return error ? -1 : 0;
}

ssize_t __wrap_rts_read_pid_file(struct rti_shared_stats *shared, pid_t pid, const char *file,
                                 char *text, size_t size)
{
	int tid, is_running;

	(void)shared;
	ck_assert_int_eq(pid, getpid());
	if (strcmp(file, "stat") == 0) {
		if (kernel->stat)
			return refuse(kernel->stat);
		if (!kernel->leader)
			return snprintf(text, size, "100 (x");
		return snprintf(text, size, LEADER, kernel->leader, kernel->threads);
	}
	ck_assert_int_eq(sscanf(file, "task/%d/stat", &tid), 1);
	if (kernel->thread != 1)
		return refuse(kernel->thread);
	is_running = tid > kernel->listed - kernel->running;
	return snprintf(text, size, THREAD, is_running ? 'S' : 'R', is_running ? 0 : EXITING);
}

static long list(struct dirent64 *entries, size_t size)
{
	const size_t length = sizeof(*entries);
	long used = 0;

	if (listed == kernel->listed)
		return refuse(kernel->listing);
	memset(entries, 0, size);
	for (int i = 0; i < ENTRIES_MAX && (size_t)used + length <= size; i++) {
		struct dirent64 *entry = (void *)((char *)entries + used);

		if (listed == kernel->listed)
			break;
		entry->d_reclen = (unsigned short)length;
		snprintf(entry->d_name, sizeof(entry->d_name), "%d", ++listed);
		used += (long)length;
	}
	return used;
}

long __wrap_syscall(long number, ...)
{
	va_list arguments;
	void *entries;
	size_t size;

	ck_assert_int_eq(number, SYS_getdents64);
	va_start(arguments, number);
	(void)va_arg(arguments, int);
	entries = va_arg(arguments, void *);
	size = va_arg(arguments, size_t);
	va_end(arguments);
	return list(entries, size);
}

static const struct {
	struct kernel kernel;
	bool runs;
} cases[] = {
	/* its leader runs: it is another process with that pid */
	{ { .leader = 'S', .threads = 9 }, false },
	/* nothing is left of it but the zombie */
	{ { .leader = 'Z', .threads = 1 }, false },
	{ { .leader = 'X', .threads = 1 }, false },
	{ { .leader = 'Z', .threads = 9, .listed = 3, .thread = 1 }, false },
	{ { .leader = 'X', .threads = 9, .listed = 3, .thread = 1 }, false },
	/* threads work on, or there are too many to look at */
	{ { .leader = 'Z', .threads = 9, .listed = 3, .running = 1, .thread = 1 }, true },
	{ { .leader = 'Z', .threads = 999, .listed = 128, .thread = 1 }, false },
	{ { .leader = 'Z', .threads = 999, .listed = 129, .thread = 1 }, true },
	/* it or its threads have gone meanwhile */
	{ { .stat = -ESRCH }, false },
	{ { .stat = -ENOENT }, false },
	{ { .leader = 'Z', .threads = 9, .listed = 3, .thread = -ESRCH }, false },
	{ { .leader = 'Z', .threads = 9, .listed = 3, .thread = -ENOENT }, false },
	{ { .leader = 'Z', .threads = 9, .listed = 3, .listing = -ENOENT, .thread = 1 }, false },
	{ { .leader = 'Z', .threads = 9, .listing = -ESRCH }, false },
	/* it cannot be found out */
	{ { .stat = -EMFILE }, true },
	{ { .leader = 0 }, true },
	{ { .leader = 'Z', .threads = 9, .listed = 3, .thread = 0 }, true },
	{ { .leader = 'Z', .threads = 9, .listed = 3, .thread = -EACCES }, true },
	{ { .leader = 'Z', .threads = 9, .listed = 3, .listing = -EACCES, .thread = 1 }, true },
};

/* This process is there, so its directory can be opened. */
START_TEST(process_runs_on_unless_each_of_its_threads_is_ending)
{
	struct rti_shared_stats *shared = NULL;

	kernel = &cases[_i].kernel;
	ck_assert_int_eq(rts_runs_without_leader(shared, getpid()), cases[_i].runs);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("leader_exit");

	tcase_add_loop_test(suite_case(suite, "threads"),
	                    process_runs_on_unless_each_of_its_threads_is_ending, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	return suite_run(suite);
}
