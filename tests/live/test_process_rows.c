/* SPDX-License-Identifier: MIT */
/* What rows of processes say of address space, start, own memory, user and descriptors, against the
 * system calls and files that this test reads itself. By a tracker, and without one. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "tracking.h"

#define MIB (1 << 20)
#define HELD (24 * MIB)
#define FILES 17
#define ALL (RT_HAS_VIRTUAL | RT_HAS_USS | RT_HAS_IDS | RT_HAS_OPEN_FDS | RT_HAS_PSS | RT_HAS_RSS)

/* It leads a session, holds memory of its own, and has descriptors open. */
static void be_known(void *arg)
{
	char *memory = mmap(NULL, HELD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	setsid();
	memset(memory, 1, HELD);
	for (int i = 0; i < FILES; i++)
		open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int is_asleep(void *arg)
{
	pid_t pid = *(pid_t *)arg;

	return thread_state(pid, pid) == 'S';
}

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The sum of the lines of a file of a process that begin with a key, in KiB. */
static uint64_t sum_kib(pid_t pid, const char *file, const char *key)
{
	char path[64], line[256];
	uint64_t sum = 0, kib;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		const char *colon = strchr(line, ':');

		if (colon && strncmp(line, key, strlen(key)) == 0 &&
		    sscanf(colon, ": %" SCNu64, &kib) == 1)
			sum += kib;
	}
	fclose(f);
	return sum;
}

static uint64_t count_files(pid_t pid)
{
	uint64_t count = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	ck_assert_ptr_nonnull(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

/* A page that the test copies is the child's alone from then on, so its USS rises meanwhile. */
static uint64_t uss_bytes(pid_t pid)
{
	return sum_kib(pid, "smaps", "Private_") * 1024;
}

static void check_row(const struct rt_process *row, pid_t pid, uint64_t before_ns,
                      uint64_t after_ns)
{
	const uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);

	ck_assert_uint_eq(row->valid & (ALL & ~RT_HAS_OPEN_FDS), ALL & ~RT_HAS_OPEN_FDS);
	ck_assert_uint_eq(row->virtual_bytes, sum_kib(pid, "status", "VmSize") * 1024);
	ck_assert_uint_le(row->uss_bytes, uss_bytes(pid));
	ck_assert_uint_eq(row->swap_bytes, sum_kib(pid, "smaps", "Swap:") * 1024);
	ck_assert_uint_eq(row->uid, getuid());
	ck_assert_int_eq(row->session, getsid(pid));
	ck_assert_int_eq(row->session, pid);
	ck_assert_int_eq(row->pgrp, getpgid(pid));
	ck_assert_uint_ge(row->start_realtime_ns + 2 * tick_ns, before_ns);
	ck_assert_uint_le(row->start_realtime_ns, after_ns + tick_ns);
	if (row->valid & RT_HAS_OPEN_FDS)
		ck_assert_uint_eq(row->open_fds, count_files(pid));
}

static struct rt_process read_once(pid_t pid, uint64_t want)
{
	struct rt_process row;

	ck_assert_int_eq(rt_pid_read(pid, want, &row, sizeof(row)), 0);
	return row;
}

static struct rt_process read_by_tracker(pid_t pid, uint64_t want)
{
	struct rt_opts opts = {
		.size = sizeof(opts), .want = want, .flags = RT_OPT_PSS_READS, .pss_share = 1000
	};
	struct rt_tracker *tracker;
	struct rt_process row;
	size_t count = 1;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, pid, &opts), 0);
	sample(tracker);
	ck_assert_int_eq(rt_tracker_processes(tracker, &row, sizeof(row), &count), 0);
	rt_tracker_free(tracker);
	return row;
}

static struct rt_process (*const readers[])(pid_t pid, uint64_t want) = { read_once,
	                                                                  read_by_tracker };

START_TEST(row_is_what_the_kernel_says)
{
	uint64_t before_ns = realtime_ns(), own_bytes;
	struct rt_process row;
	struct child child;

	child_start(&child, be_known, NULL);
	wait_until(is_asleep, &child.pid);
	own_bytes = uss_bytes(child.pid);
	ck_assert_uint_ge(own_bytes, HELD);
	row = readers[_i](child.pid, ALL);
	ck_assert_uint_ge(row.uss_bytes, own_bytes);
	check_row(&row, child.pid, before_ns, realtime_ns());
	child_end(&child);
}
END_TEST

/* Linux 6.2 and later. The directory itself says so of the test. */
START_TEST(open_descriptors_are_known_where_the_kernel_counts_them)
{
	struct rt_process row = readers[_i](getpid(), RT_HAS_OPEN_FDS);
	char size[32] = "";
	FILE *f = popen("stat -c %s /proc/$PPID/fd", "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(size, sizeof(size), f));
	pclose(f);
	if (atoi(size) == 0) {
		ck_assert_uint_eq(row.valid & RT_HAS_OPEN_FDS, 0);
		suite_skip_test("this kernel does not count open descriptors (Linux 6.2)");
		return;
	}
	ck_assert_uint_ne(row.valid & RT_HAS_OPEN_FDS, 0);
	ck_assert_uint_ge(row.open_fds, 3);
}
END_TEST

/* A row is of one moment each, and the process started once. */
START_TEST(start_is_the_same_in_each_sample)
{
	struct rt_tracker *tracker = track(getpid());
	uint64_t start_ns = 0;

	for (int i = 0; i < 50; i++) {
		struct rt_process row;
		size_t count = 1;

		sample(tracker);
		ck_assert_int_eq(rt_tracker_processes(tracker, &row, sizeof(row), &count), 0);
		ck_assert(!start_ns || row.start_realtime_ns == start_ns);
		start_ns = row.start_realtime_ns;
	}
	rt_tracker_free(tracker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("process_rows");
	TCase *rows = suite_case(suite, "rows");

	tcase_add_loop_test(rows, row_is_what_the_kernel_says, 0, 2);
	tcase_add_loop_test(rows, open_descriptors_are_known_where_the_kernel_counts_them, 0, 2);
	tcase_add_test(rows, start_is_the_same_in_each_sample);
	return suite_run(suite);
}
