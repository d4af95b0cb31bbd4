/* SPDX-License-Identifier: MIT */
/* A tree of 100,000 processes: the members that one scan cannot add are skipped and counted. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/tracker.h"
#include "suite.h"
#include "tree_inside.h"

#define ROOT 10
#define CHILDREN 100000
#define FD_PROC 3
#define FDS_MAX 64

/* A /proc with the root and its children, made up on each read. */
static struct {
	struct {
		int pid; /* 0: it is not open */
		bool is_children, is_listed;
	} files[FDS_MAX];
	char *children; /* text of the root's children file */
	size_t children_len;
	unsigned stats_read;
	int late_pid; /* of a process that started after all the others */
} fix;

static int many_open(int dirfd, const char *path, int flags)
{
	char *rest;
	int fd = FD_PROC + 1, pid = (int)strtol(path, &rest, 10);

	(void)flags;
	if (dirfd == AT_FDCWD || dirfd < FD_PROC)
		return strcmp(path, "proc") == 0 ? FD_PROC : strcmp(path, "sys") == 0 ? -ENOENT : 2;
	if (pid < ROOT || pid > ROOT + CHILDREN)
		return -ENOENT;
	while (fix.files[fd].pid)
		fd++;
	ck_assert_int_lt(fd, FDS_MAX);
	fix.files[fd].pid = pid;
	fix.files[fd].is_listed = false;
	fix.files[fd].is_children = strstr(rest, "/children") != NULL;
	return fd;
}

static ssize_t many_pread(int fd, void *buf, size_t len, off_t offset)
{
	char text[256];
	const char *data = text;
	size_t size;

	if (fix.files[fd].is_children) {
		data = fix.children;
		size = fix.files[fd].pid == ROOT ? fix.children_len : 0;
	} else {
		fix.stats_read++;
		size =
		    (size_t)snprintf(text, sizeof(text),
		                     "%d (p) S %d 1 1 0 -1 0 7 0 0 0 0 0 0 0 20 0 1 0 %d 0 1 0\n",
		                     fix.files[fd].pid, fix.files[fd].pid == ROOT ? 1 : ROOT,
		                     fix.files[fd].pid == fix.late_pid ? INT_MAX : 5);
	}
	if ((size_t)offset >= size)
		return 0;
	size -= (size_t)offset;
	memcpy(buf, data + offset, size < len ? size : len);
	return (ssize_t)(size < len ? size : len);
}

/* Lists the one thread of a process, from its task directory. */
static ssize_t many_getdents(int fd, void *buf, size_t len)
{
	struct dirent64 entry = { .d_reclen = sizeof(entry) };

	if (fix.files[fd].is_listed || len < sizeof(entry))
		return 0;
	fix.files[fd].is_listed = true;
	snprintf(entry.d_name, sizeof(entry.d_name), "%d", fix.files[fd].pid);
	memcpy(buf, &entry, sizeof(entry));
	return sizeof(entry);
}

static ssize_t many_readlink(int dirfd, const char *path, char *buf, size_t len)
{
	(void)dirfd;
	(void)path;
	(void)buf;
	(void)len;
	return -ENOENT;
}

static int many_access(int dirfd, const char *path)
{
	(void)dirfd;
	(void)path;
	return 0;
}

static int many_close(int fd)
{
	if (fd > FD_PROC)
		fix.files[fd].pid = 0;
	return 0;
}

static const struct rti_procfs_ops many_files = {
	.open = many_open,
	.pread = many_pread,
	.getdents = many_getdents,
	.readlink = many_readlink,
	.access = many_access,
	.close = many_close,
};

static void set_up(void)
{
	char *at = malloc(CHILDREN * 8);

	ck_assert_ptr_nonnull(at);
	memset(&fix, 0, sizeof(fix));
	fix.children = at;
	for (int i = 1; i <= CHILDREN; i++)
		at += sprintf(at, "%d ", ROOT + i);
	fix.children_len = (size_t)(at - fix.children);
}

static void tear_down(void)
{
	free(fix.children);
}

static struct rt_tracker *track_root(void)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .flags = RT_OPT_NO_PROCESS_EVENTS,
		                      .want = RT_HAS_FAULTS | RT_HAS_PROCESSES,
		                      .max_fds = 1 };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rti_tracker_new(&tracker, ROOT, &opts, &many_files), 0);
	assume_nothing_unseen(tracker);
	get_platform(tracker)->cpu_clock = NULL;
	fix.stats_read = 0;
	return tracker;
}

/* One scan adds a limited number of members, and reads nothing of the others. */
START_TEST(first_sample_of_a_huge_tree_skips_and_counts_members)
{
	struct rt_tracker *tracker = track_root();
	struct rt_metrics m;

	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);

	ck_assert_uint_eq(m.processes, 1 + get_new_members_max());
	ck_assert_uint_eq(m.members_skipped, CHILDREN - get_new_members_max());
	ck_assert_uint_eq(m.reasons & RT_REASON_MEMBERS_SKIPPED, RT_REASON_MEMBERS_SKIPPED);
	ck_assert_uint_eq(m.valid, 0);
	ck_assert_uint_eq(m.partial & RT_HAS_PROCESSES, RT_HAS_PROCESSES);
	ck_assert_uint_le(fix.stats_read, 6 * get_new_members_max());
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(later_samples_of_a_huge_tree_add_all_members)
{
	struct rt_tracker *tracker = track_root();
	struct rt_metrics m;

	for (int i = 0; i < 7; i++)
		ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);

	ck_assert_uint_eq(m.processes, CHILDREN + 1);
	ck_assert_uint_eq(m.members_skipped, 0);
	ck_assert_uint_eq(m.reasons, 0);
	ck_assert_uint_eq(m.minor_faults, UINT64_C(7) * (CHILDREN + 1));
	rt_tracker_free(tracker);
}
END_TEST

/* Cut the list of children after the last one that is kept. */
static void keep_children(int count)
{
	char *end = fix.children;

	while (count-- > 0)
		end = strchr(end, ' ') + 1;
	fix.children_len = (size_t)(end - fix.children);
}

static struct rt_metrics take_samples(struct rt_tracker *tracker, int count)
{
	struct rt_metrics m = { 0 };

	while (count-- > 0)
		ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	return m;
}

START_TEST(tree_of_which_all_skipped_processes_became_members_is_complete)
{
	struct rt_tracker *tracker = track_root();
	struct rt_metrics m;

	keep_children(20000);
	ck_assert_uint_eq(take_samples(tracker, 1).valid, 0);

	m = take_samples(tracker, 1);

	ck_assert_uint_eq(m.processes, 1 + 20000);
	ck_assert_uint_eq(m.members_skipped, 0);
	ck_assert_uint_eq(m.reasons, 0);
	ck_assert_uint_eq(m.valid, RT_HAS_FAULTS | RT_HAS_PROCESSES);
	ck_assert_uint_eq(m.minor_faults, UINT64_C(7) * (1 + 20000));
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(tree_of_which_a_skipped_process_exited_before_it_was_a_member_stays_partial)
{
	struct rt_tracker *tracker = track_root();
	struct rt_metrics m;

	keep_children(20000);
	take_samples(tracker, 1);
	keep_children(19999);

	m = take_samples(tracker, 3);

	ck_assert_uint_eq(m.processes, 1 + 19999);
	ck_assert_uint_eq(m.reasons, RT_REASON_MEMBERS_SKIPPED);
	ck_assert_uint_eq(m.valid & RT_HAS_FAULTS, 0);
	rt_tracker_free(tracker);
}
END_TEST

/* The process that has the pid now started after the one that was skipped. */
START_TEST(tree_of_which_a_skipped_pid_was_reused_stays_partial)
{
	struct rt_tracker *tracker = track_root();

	keep_children(20000);
	take_samples(tracker, 1);
	fix.late_pid = ROOT + 20000;

	ck_assert_uint_eq(take_samples(tracker, 3).reasons, RT_REASON_MEMBERS_SKIPPED);
	rt_tracker_free(tracker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("many members");
	TCase *tcase = suite_case(suite, "many members");

	tcase_set_timeout(tcase, 100);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, first_sample_of_a_huge_tree_skips_and_counts_members);
	tcase_add_test(tcase, tree_of_which_all_skipped_processes_became_members_is_complete);
	tcase_add_test(tcase,
	               tree_of_which_a_skipped_process_exited_before_it_was_a_member_stays_partial);
	tcase_add_test(tcase, tree_of_which_a_skipped_pid_was_reused_stays_partial);
	tcase_add_test(tcase, later_samples_of_a_huge_tree_add_all_members);
	return suite_run(suite);
}
