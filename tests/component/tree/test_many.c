/* SPDX-License-Identifier: MIT */
/* A tree of 100,000 processes: what does not fit is passed over, and counted. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/tracker.h"
#include "suite.h"
#include "tree/discovery.h"

#define ROOT 10
#define CHILDREN 100000
#define FD_PROC 3
#define MOST_FDS 64

static struct {
	int pid, is_children, is_listed;
} files[MOST_FDS];
static char *list; /* of the root's children */
static size_t list_len;
static unsigned stats_read;

static int many_open(int dirfd, const char *path, int flags)
{
	char *rest;
	int fd = FD_PROC + 1, pid = (int)strtol(path, &rest, 10);

	(void)flags;
	if (dirfd == AT_FDCWD || dirfd < FD_PROC)
		return strcmp(path, "proc") == 0 ? FD_PROC : strcmp(path, "sys") == 0 ? -ENOENT : 2;
	if (pid < ROOT || pid > ROOT + CHILDREN)
		return -ENOENT;
	while (files[fd].pid)
		fd++;
	ck_assert_int_lt(fd, MOST_FDS);
	files[fd].pid = pid;
	files[fd].is_listed = 0;
	files[fd].is_children = strstr(rest, "/children") != NULL;
	return fd;
}

static ssize_t many_pread(int fd, void *buf, size_t len, off_t offset)
{
	char text[256];
	const char *data = text;
	size_t size;

	if (files[fd].is_children) {
		data = list;
		size = files[fd].pid == ROOT ? list_len : 0;
	} else {
		stats_read++;
		size = (size_t)snprintf(text, sizeof(text),
		                        "%d (p) S %d 1 1 0 -1 0 7 0 0 0 0 0 0 0 20 0 1 0 5 0 1 0\n",
		                        files[fd].pid, files[fd].pid == ROOT ? 1 : ROOT);
	}
	if ((size_t)offset >= size)
		return 0;
	size -= (size_t)offset;
	memcpy(buf, data + offset, size < len ? size : len);
	return (ssize_t)(size < len ? size : len);
}

/* Of task: its one thread. */
static ssize_t many_getdents(int fd, void *buf, size_t len)
{
	struct dirent64 entry = { .d_reclen = sizeof(entry) };

	if (files[fd].is_listed || len < sizeof(entry))
		return 0;
	files[fd].is_listed = 1;
	snprintf(entry.d_name, sizeof(entry.d_name), "%d", files[fd].pid);
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
		files[fd].pid = 0;
	return 0;
}

static const struct rti_procfs_ops many = {
	.open = many_open,
	.pread = many_pread,
	.getdents = many_getdents,
	.readlink = many_readlink,
	.access = many_access,
	.close = many_close,
};

static void write_list(void)
{
	char *at = list = malloc(CHILDREN * 8);

	ck_assert_ptr_nonnull(list);
	for (int i = 1; i <= CHILDREN; i++)
		at += sprintf(at, "%d ", ROOT + i);
	list_len = (size_t)(at - list);
}

START_TEST(who_does_not_fit_is_passed_over_and_counted)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .want = RT_HAS_FAULTS | RT_HAS_PROCESSES,
		                      .max_fds = 1 };
	struct rt_metrics m;
	struct rt_tracker *tracker;

	write_list();
	ck_assert_int_eq(rti_tracker_new(&tracker, ROOT, &opts, &many), 0);
	tracker->platform.cpu_clock = NULL;
	stats_read = 0;
	/* One search takes in so many, and reads nothing of the others. */
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	ck_assert_uint_eq(m.processes, 1 + RTI_NEW_MEMBERS_MAX);
	ck_assert_uint_eq(m.members_skipped, CHILDREN - RTI_NEW_MEMBERS_MAX);
	ck_assert_uint_eq(m.reasons & RT_REASON_MEMBERS_SKIPPED, RT_REASON_MEMBERS_SKIPPED);
	ck_assert_uint_eq(m.valid, 0);
	ck_assert_uint_eq(m.partial & RT_HAS_PROCESSES, RT_HAS_PROCESSES);
	ck_assert_uint_le(stats_read, 6 * RTI_NEW_MEMBERS_MAX);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	ck_assert_uint_eq(m.processes, RTI_MEMBERS_MAX);
	ck_assert_uint_eq(m.members_skipped, CHILDREN + 1 - RTI_MEMBERS_MAX);
	ck_assert_uint_eq(m.minor_faults, UINT64_C(7) * RTI_MEMBERS_MAX);
	rt_tracker_free(tracker);
	free(list);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("many");
	TCase *tcase = suite_case(suite, "many");

	tcase_set_timeout(tcase, 100);
	tcase_add_test(tcase, who_does_not_fit_is_passed_over_and_counted);
	return suite_run(suite);
}
