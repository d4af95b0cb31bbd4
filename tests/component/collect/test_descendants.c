/* SPDX-License-Identifier: MIT */
/* Lists of descendants: fixtures, and a tree that grows with each look. */
#include "collect/descendants.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_process.h"
#include "faults.h"
#include "fixture.h"
#include "suite.h"

static struct fixture f;
static struct rti_procfs procfs;
static struct rti_platform platform;
static struct rti_buf buf;
static struct rti_context ctx;
static struct rti_descendants found;

static void set_up(void)
{
	fixture_new(&f);
	ck_assert_int_eq(rti_procfs_open(&procfs, f.root, &faults_ops), 0);
	rti_platform_init(&platform, true);
	ctx = (struct rti_context){ .procfs = &procfs, .platform = &platform, .buf = &buf };
}

static void tear_down(void)
{
	free(found.pids);
	rti_buf_free(&buf);
	ck_assert_uint_eq(faults_open_files(), 3);
	rti_procfs_close(&procfs);
	fixture_free(&f);
}

/* children NULL: the kernel has no such files. */
static void write_process(int pid, int ppid, const char *children)
{
	struct fake_process p = {
		.pid = pid, .ppid = ppid, .starttime = (uint64_t)pid, .children = children
	};

	fake_process_write(&f, &p);
}

/* Fail unless the list is this, as text. E.g.: "2 3 ". */
static void check_list(const char *expected)
{
	char text[256] = "";

	ck_assert_int_eq(rti_descendants_list(&ctx, 100, &found), 0);
	for (size_t i = 0; i < found.count; i++) {
		size_t len = strlen(text);

		snprintf(text + len, sizeof(text) - len, "%d ", found.pids[i]);
	}
	ck_assert_str_eq(text, expected);
	free(found.pids);
	found.pids = NULL;
}

START_TEST(tree_is_listed_parents_before_children)
{
	write_process(1, 0, "100 300 ");
	write_process(100, 1, "300 200 ");
	write_process(200, 100, "150 ");
	write_process(300, 100, "");
	write_process(150, 200, "");
	check_list("300 200 150 ");
}
END_TEST

START_TEST(children_of_all_threads_are_listed)
{
	write_process(100, 1, "");
	fixture_write(&f, "proc/100/task/101/children", "200 ");
	fixture_write(&f, "proc/100/task/102/children", "201 ");
	fixture_write(&f, "proc/100/task/0/children", "202 "); /* no number of a thread */
	write_process(202, 100, "");
	write_process(200, 100, "");
	write_process(201, 100, "");
	ck_assert_int_eq(rti_descendants_list(&ctx, 100, &found), 0);
	ck_assert_uint_eq(found.count, 2);
}
END_TEST

START_TEST(process_without_children_has_none)
{
	write_process(100, 1, "");
	check_list("");
	ck_assert_int_eq(rti_descendants_list(&ctx, 101, &found), -ESRCH);
}
END_TEST

/* No kernel shows that, but a list that is read while processes come and go might. */
START_TEST(circle_ends)
{
	write_process(100, 200, "200 ");
	write_process(200, 100, "300 100 200 ");
	write_process(300, 200, "100 ");
	check_list("200 300 ");
}
END_TEST

/* 200 has exited since 100 was read, and a process of elsewhere has its pid. */
START_TEST(stranger_with_pid_of_child_is_left_out_with_its_children)
{
	write_process(100, 1, "200 300 ");
	write_process(200, 7, "250 ");
	write_process(250, 200, "");
	write_process(300, 100, "");
	check_list("300 ");
}
END_TEST

static void orphan_child(void *arg)
{
	(void)arg;
	fake_process_remove(&f, 200);
	write_process(250, 100, "");
	write_process(100, 1, "300 250 ");
}

/* 200 exits before it is read. Its child is one of 100 by then, which was read before. */
START_TEST(orphan_that_an_ancestor_adopts_is_found_in_another_pass)
{
	write_process(100, 1, "300 200 ");
	write_process(200, 100, "250 ");
	write_process(250, 200, "");
	write_process(300, 100, "");
	faults_before_open("300/stat", orphan_child, NULL);
	check_list("300 250 ");
}
END_TEST

START_TEST(tree_without_children_files_is_found_by_parent_pids)
{
	write_process(1, 0, NULL);
	write_process(100, 1, NULL);
	write_process(300, 100, NULL);
	write_process(150, 300, NULL);
	write_process(400, 1, NULL);
	check_list("300 150 ");
	ck_assert_int_eq(rti_descendants_list(&ctx, 101, &found), -ESRCH);
}
END_TEST

/* The kernel is releasing it (state X), or the pid is that of a thread by now. */
static const struct {
	bool has_children_files;
	const char *stat;
} no_processes[] = {
	{ true,
	  "X 100 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 0 0 200 0 0 0 1 1 1 0 0 0 0 0 0 0 0 0 17 0" },
	{ false,
	  "X 100 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 0 0 200 0 0 0 1 1 1 0 0 0 0 0 0 0 0 0 17 0" },
	{ true,
	  "S 100 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 200 0 0 0 1 1 1 0 0 0 0 0 0 0 0 0 -1 0" },
	{ true, "S 100 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 200" }, /* status says so */
};

START_TEST(pid_that_is_no_process_any_more_is_left_out_with_its_children)
{
	bool has_children_files = no_processes[_i].has_children_files;

	write_process(100, 1, has_children_files ? "200 300 " : NULL);
	write_process(200, 100, has_children_files ? "250 " : NULL);
	write_process(250, 200, has_children_files ? "" : NULL);
	write_process(300, 100, has_children_files ? "" : NULL);
	fixture_printf(&f, "proc/200/stat", "200 (x) %s\n", no_processes[_i].stat);
	fixture_write(&f, "proc/200/status", "Name:\tx\nTgid:\t7\n");
	check_list("300 ");
}
END_TEST

START_TEST(root_that_is_a_thread_is_no_process)
{
	write_process(100, 1, NULL);
	write_process(200, 100, NULL);
	fixture_write(&f, "proc/100/stat",
	              "100 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 100 0 0 0 1 1 1 0 0 0 0 0 0 "
	              "0 0 0 -1 0\n");
	ck_assert_int_eq(rti_descendants_list(&ctx, 100, &found), -ESRCH);
}
END_TEST

/* What a process is when its stat is read for the second time. */
static struct {
	int pid, ppid;
	uint64_t starttime;
} later;

/* The new process has a child, which was not there when all were listed. */
static void change_process(void *arg)
{
	struct fake_process p = { .pid = later.pid,
		                  .ppid = later.ppid,
		                  .starttime = later.starttime };

	(void)arg;
	fake_process_write(&f, &p);
	write_process(400, 300, NULL);
}

static void change_at_second_look(void *arg)
{
	faults_before_open("300/stat", change_process, arg);
}

/* All processes are listed first. If the pid of a child or of its parent is that of another process
 * when it is looked at again, all are listed anew. */
static const struct {
	int pid, ppid;
	uint64_t starttime;
	const char *expected;
} second_looks[] = {
	{ 300, 1, 300, "" },           /* its parent has exited */
	{ 300, 100, 301, "300 400 " }, /* another child has the pid */
	{ 100, 1, 101, "300 400 " },   /* another process has the pid of the parent */
};

START_TEST(process_that_changes_between_two_looks_is_looked_up_anew)
{
	write_process(100, 1, NULL);
	write_process(300, 100, NULL);
	later.pid = second_looks[_i].pid;
	later.ppid = second_looks[_i].ppid;
	later.starttime = second_looks[_i].starttime;
	faults_before_open("300/stat", change_at_second_look, NULL);
	check_list(second_looks[_i].expected);
}
END_TEST

START_TEST(list_that_cannot_be_read_is_an_error)
{
	write_process(100, 1, "200 ");
	write_process(200, 100, "");
	faults_on_open("200/stat", -EMFILE);
	ck_assert_int_eq(rti_descendants_list(&ctx, 100, &found), -EMFILE);
	faults_on_open("200/stat", 0);
	faults_on_read("200/task/200/children", -EIO);
	ck_assert_int_eq(rti_descendants_list(&ctx, 100, &found), -EIO);
	faults_on_read("200/task/200/children", 0);
}
END_TEST

/* A child that has exited ends no list, but the want of memory for its children does. */
START_TEST(want_of_memory_at_a_child_that_has_exited_is_an_error)
{
	write_process(100, 1, "200 ");
	write_process(200, 100, "");
	faults_on_read("200/stat", -ESRCH);
	check_list("");
	faults_on_read("200/task/200/children", -ENOMEM);
	ck_assert_int_eq(rti_descendants_list(&ctx, 100, &found), -ENOMEM);
	faults_on_read("200/task/200/children", 0);
	faults_on_read("200/stat", 0);
}
END_TEST

/* A process is hidden from another user, but its parent's list names it. */
START_TEST(process_that_is_refused_is_listed)
{
	write_process(100, 1, "200 ");
	write_process(200, 100, "");
	faults_on_open("200/stat", -EPERM);
	check_list("200 ");
	faults_on_open("200/stat", 0);
	faults_on_open("100/stat", -EPERM);
	ck_assert_int_eq(rti_descendants_list(&ctx, 100, &found), -EACCES);
}
END_TEST

static int answer_cpu_clock(int32_t pid, struct rti_cpu_clock *out)
{
	(void)pid;
	*out = (struct rti_cpu_clock){ .total_ns = 1 };
	return 0;
}

/* hidepid=invisible: its directory is missing, but its CPU clock answers. */
START_TEST(process_that_proc_hides_is_listed)
{
	write_process(100, 1, "200 ");
	platform.cpu_clock = answer_cpu_clock;
	check_list("200 ");
	fake_process_remove(&f, 100);
	fixture_write(&f, "proc/100/task/100/children", "");
	ck_assert_int_eq(rti_descendants_list(&ctx, 100, &found), -EACCES);
}
END_TEST

/* A proc in which every process has a child, the next pid. A descriptor is 8 * pid + the kind of
 * file. */
enum { TASK, STAT, CHILDREN };

static int grow_open(int dirfd, const char *path, int flags)
{
	int pid, tid;

	if (sscanf(path, "%d/task/%d/children", &pid, &tid) == 2)
		return 8 * pid + CHILDREN;
	if (sscanf(path, "%d/", &pid) == 1)
		return 8 * pid + (strstr(path, "/stat") ? STAT : TASK);
	return rti_procfs_linux.open(dirfd, path, flags);
}

static ssize_t grow_pread(int fd, void *space, size_t len, off_t offset)
{
	int pid = fd / 8;

	if (offset > 0)
		return 0;
	if (fd % 8 == CHILDREN)
		return snprintf(space, len, "%d ", pid + 1);
	return snprintf(space, len,
	                "%d (fork) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 1 1 1 0 0 0 0 "
	                "0 0 0 0 0 17 0\n",
	                pid, pid - 1);
}

static ssize_t grow_getdents(int fd, void *space, size_t len)
{
	static int listed = -1;
	struct {
		uint64_t ino;
		int64_t off;
		uint16_t reclen;
		uint8_t type;
		char name[21];
	} *entry = space;

	if (listed == fd || len < sizeof(*entry)) {
		listed = -1;
		return 0;
	}
	listed = fd;
	memset(entry, 0, sizeof(*entry));
	entry->reclen = sizeof(*entry);
	snprintf(entry->name, sizeof(entry->name), "%d", fd / 8);
	return sizeof(*entry);
}

static int grow_access(int dirfd, const char *path)
{
	(void)dirfd;
	(void)path;
	return 0;
}

static int grow_close(int fd)
{
	return fd < 800 ? rti_procfs_linux.close(fd) : 0;
}

START_TEST(tree_that_grows_with_each_look_ends)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct rti_procfs growing;

	ops.open = grow_open;
	ops.open_in_root = NULL;
	ops.pread = grow_pread;
	ops.getdents = grow_getdents;
	ops.access = grow_access;
	ops.close = grow_close;
	ck_assert_int_eq(rti_procfs_open(&growing, f.root, &ops), 0);
	ctx.procfs = &growing;
	ck_assert_int_eq(rti_descendants_list(&ctx, 100, &found), -E2BIG);
	rti_procfs_close(&growing);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("descendants");
	TCase *trees = suite_case(suite, "trees"), *changes = suite_case(suite, "changes");
	TCase *failures = suite_case(suite, "failures");

	tcase_add_checked_fixture(trees, set_up, tear_down);
	tcase_add_test(trees, tree_is_listed_parents_before_children);
	tcase_add_test(trees, children_of_all_threads_are_listed);
	tcase_add_test(trees, process_without_children_has_none);
	tcase_add_test(trees, tree_without_children_files_is_found_by_parent_pids);
	tcase_add_checked_fixture(changes, set_up, tear_down);
	tcase_add_test(changes, circle_ends);
	tcase_add_test(changes, stranger_with_pid_of_child_is_left_out_with_its_children);
	tcase_add_test(changes, orphan_that_an_ancestor_adopts_is_found_in_another_pass);
	tcase_add_test(changes, tree_that_grows_with_each_look_ends);
	tcase_add_loop_test(changes, pid_that_is_no_process_any_more_is_left_out_with_its_children,
	                    0, sizeof(no_processes) / sizeof(no_processes[0]));
	tcase_add_test(changes, root_that_is_a_thread_is_no_process);
	tcase_add_loop_test(changes, process_that_changes_between_two_looks_is_looked_up_anew, 0,
	                    sizeof(second_looks) / sizeof(second_looks[0]));
	tcase_add_checked_fixture(failures, set_up, tear_down);
	tcase_add_test(failures, list_that_cannot_be_read_is_an_error);
	tcase_add_test(failures, want_of_memory_at_a_child_that_has_exited_is_an_error);
	tcase_add_test(failures, process_that_is_refused_is_listed);
	tcase_add_test(failures, process_that_proc_hides_is_listed);
	return suite_run(suite);
}
