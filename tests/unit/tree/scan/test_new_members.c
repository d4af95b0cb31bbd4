/* SPDX-License-Identifier: MIT */
/* Which processes become members of a tree, and which are noted as missing. */
#include "tree/scan/new_members.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "suite.h"
#include "tree/scan/discovery.h"

#define ROOT 100
#define CHILD 101
#define OTHER 102   /* its parent is no member */
#define DEAD 103    /* the kernel is releasing it */
#define THREAD 104  /* of another process */
#define REFUSED 105 /* its stat may not be read */
#define GONE 106

static struct fixture root;
static struct rti_procfs procfs;
static struct rti_procfs_ops ops;
static struct rti_buf buf;
static bool is_list_refused, is_children_refused;

static void read_time(struct rti_now *out)
{
	*out = (struct rti_now){ .boottime_ns = 1 };
}

static const struct rti_platform platform = { .tick_ns = 10, .now = read_time };
static const struct rti_context ctx = { .procfs = &procfs, .platform = &platform, .buf = &buf };
static struct rti_tree tree;

static int open_file(int dirfd, const char *path, int flags)
{
	if (strcmp(path, "105/stat") == 0 || (is_children_refused && strstr(path, "/children")))
		return -EACCES;
	return rti_procfs_linux.open(dirfd, path, flags);
}

static ssize_t list_directory(int fd, void *entries, size_t len)
{
	return is_list_refused ? -EIO : rti_procfs_linux.getdents(fd, entries, len);
}

static void write_stat(int pid, char state, int ppid, int exit_signal)
{
	char path[32];

	snprintf(path, sizeof(path), "proc/%d/stat", pid);
	fixture_printf(&root, path,
	               "%d (c) %c %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7 0 0 0 0 0 0 0 0 0 0 0 0 "
	               "0 0 0 %d 0 0 0 0 0\n",
	               pid, state, ppid, exit_signal);
}

static void set_up(void)
{
	const struct rti_pid_stat stat = { .pid = ROOT, .ppid = 1, .num_threads = 1, .state = 'S' };

	fixture_new(&root);
	write_stat(ROOT, 'S', 1, 17);
	write_stat(CHILD, 'S', ROOT, 17);
	write_stat(OTHER, 'S', 1, 17);
	write_stat(DEAD, 'X', ROOT, 17);
	write_stat(THREAD, 'S', ROOT, -1);
	write_stat(REFUSED, 'S', ROOT, 17);
	ops = rti_procfs_linux;
	ops.open = open_file;
	ops.open_in_root = NULL;
	ops.getdents = list_directory;
	is_list_refused = is_children_refused = false;
	ck_assert_int_eq(rti_procfs_open(&procfs, root.root, &ops), 0);
	tree = (struct rti_tree){ .ctx = &ctx };
	rti_discovery_init(&tree.discovery);
	ck_assert_int_eq(rti_member_table_init(&tree.table, 8), 0);
	ck_assert_int_eq(rti_member_table_add_take(&tree.table, &ctx, &stat, NULL), 0);
	tree.discovery.count_before = 1;
}

static void tear_down(void)
{
	rti_discovery_free(&tree.discovery, tree.ctx);
	rti_member_table_free(&tree.table, &ctx);
	rti_procfs_close(&procfs);
	rti_buf_free(&buf);
	fixture_free(&root);
}

/* As after so many new members that a scan adds no more. */
static void fill_tree(void)
{
	tree.discovery.count_before = tree.table.count - RTI_NEW_MEMBERS_MAX;
}

enum finder { BY_PARENT, BY_FORK, BY_LIST };

static void find(enum finder finder, int32_t pid)
{
	switch (finder) {
	case BY_PARENT:
		rti_add_by_parent(&tree, pid);
		break;
	case BY_FORK:
		rti_add_forked(&tree, pid, false);
		break;
	default:
		rti_add_listed(&tree, pid);
	}
}

/* The event of a fork, and the list of a cgroup, name members whatever their parents are by now. */
static const struct finder_case {
	enum finder finder;
	int32_t pid;
	bool is_full, is_added;
	int skip_error;
} finders[] = {
	{ BY_PARENT, CHILD, .is_added = true },
	{ BY_PARENT, OTHER },
	{ BY_PARENT, OTHER, .is_full = true },
	{ BY_PARENT, DEAD },
	{ BY_PARENT, THREAD },
	{ BY_PARENT, GONE },
	{ BY_PARENT, REFUSED, .skip_error = -EACCES },
	{ BY_PARENT, CHILD, .is_full = true, .skip_error = -ENOSPC },
	{ BY_FORK, CHILD, .is_added = true },
	{ BY_FORK, OTHER, .is_added = true },
	{ BY_FORK, DEAD },
	{ BY_FORK, GONE },
	{ BY_FORK, REFUSED, .skip_error = -EACCES },
	{ BY_FORK, CHILD, .is_full = true, .skip_error = -ENOSPC },
	{ BY_LIST, OTHER, .is_added = true },
	{ BY_LIST, DEAD },
	{ BY_LIST, THREAD },
	{ BY_LIST, GONE },
	{ BY_LIST, REFUSED, .skip_error = -EACCES },
	{ BY_LIST, CHILD, .is_full = true, .skip_error = -ENOSPC },
};

START_TEST(process_is_added_if_it_belongs_to_the_tree_and_noted_if_it_may)
{
	const struct finder_case *c = &finders[_i];

	if (c->is_full)
		fill_tree();
	find(c->finder, c->pid);
	ck_assert_uint_eq(tree.table.count, 1 + c->is_added);
	ck_assert_int_eq(tree.discovery.skip_error, c->skip_error);
	ck_assert_int_eq(tree.discovery.skip_pid, c->skip_error ? c->pid : 0);
	ck_assert_uint_eq(tree.discovery.skipped, c->skip_error == -ENOSPC);
}
END_TEST

/* All have started at 70 ns, in ticks of 10. */
static const struct fork_case {
	int32_t pid;
	uint64_t time_ns; /* by which it was forked, and had not ended */
	bool is_added;
} forks[] = {
	{ OTHER, 79, true }, { OTHER, 70, true },  { OTHER, 69, false },
	{ CHILD, 0, true },  { DEAD, 100, false }, { GONE, 100, false },
};

/* Another process may have its pid by now: one that has started later, and belongs elsewhere. */
START_TEST(forked_process_is_added_unless_another_one_has_its_pid)
{
	rti_add_forked_before(&tree, forks[_i].pid, forks[_i].time_ns);
	ck_assert_uint_eq(tree.table.count, 1 + forks[_i].is_added);
}
END_TEST

/* E.g.: it has exited since the child was found. */
START_TEST(child_of_a_process_that_is_no_member_is_not_added)
{
	struct rti_parent parent = { .pid = GONE };
	const struct rti_pid_stat child = { .pid = CHILD, .ppid = GONE, .state = 'S' };

	ck_assert(!rti_add_child(&tree, &parent, &child, NULL));
	ck_assert_uint_eq(tree.table.count, 1);
}
END_TEST

START_TEST(scan_of_proc_adds_the_children_and_says_what_it_could_not_look_at)
{
	ck_assert_int_eq(rti_scan_proc(&tree), -EACCES);
	ck_assert_uint_eq(tree.table.count, 2);
	ck_assert_int_eq(tree.discovery.skip_error, 0);
}
END_TEST

START_TEST(scan_of_a_full_tree_adds_none)
{
	fill_tree();
	rti_scan_proc(&tree);
	ck_assert_uint_eq(tree.table.count, 1);
	ck_assert_int_eq(tree.discovery.skip_error, -ENOSPC);
	ck_assert_uint_gt(tree.discovery.skipped, 0);
}
END_TEST

/* What it has found may be all, or not. */
START_TEST(scan_that_cannot_list_proc_fails)
{
	is_list_refused = true;
	ck_assert_int_eq(rti_scan_proc(&tree), -EIO);
	rti_note_proc_scan(&tree);
	ck_assert_int_eq(tree.discovery.skip_error, -EIO);
	ck_assert_int_eq(tree.discovery.skip_pid, 0);
}
END_TEST

/* Asked of a process that is tracked alone. */
static const struct children_case {
	const char *children;
	bool lacks_files, is_refused, has_threads, lacks_room, expected;
} children[] = {
	{ .children = "", .expected = false },
	{ .children = "101 ", .expected = true },
	{ .children = "", .lacks_files = true, .expected = true },
	{ .children = "", .is_refused = true, .expected = true },
	{ .children = "", .has_threads = true, .expected = true },
	{ .children = "", .lacks_room = true, .expected = true },
};

START_TEST(process_may_have_children_unless_its_only_children_file_is_empty)
{
	const struct children_case *c = &children[_i];

	fixture_write(&root, "proc/100/task/100/children", c->children);
	tree.discovery.has_children_files = !c->lacks_files;
	is_children_refused = c->is_refused;
	tree.table.members[0].stat.num_threads = c->has_threads ? 2 : 1;
	tree.table.files_max = c->lacks_room ? 0 : 8;
	ck_assert_int_eq(rti_discovery_has_children(&tree, &tree.table.members[0]), c->expected);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("new_members");
	TCase *tcase = suite_case(suite, "processes"), *scans = suite_case(suite, "scans");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_checked_fixture(scans, set_up, tear_down);
	tcase_add_loop_test(tcase, process_is_added_if_it_belongs_to_the_tree_and_noted_if_it_may,
	                    0, sizeof(finders) / sizeof(finders[0]));
	tcase_add_loop_test(tcase, forked_process_is_added_unless_another_one_has_its_pid, 0,
	                    sizeof(forks) / sizeof(forks[0]));
	tcase_add_test(tcase, child_of_a_process_that_is_no_member_is_not_added);
	tcase_add_test(scans, scan_of_proc_adds_the_children_and_says_what_it_could_not_look_at);
	tcase_add_test(scans, scan_of_a_full_tree_adds_none);
	tcase_add_test(scans, scan_that_cannot_list_proc_fails);
	tcase_add_loop_test(scans, process_may_have_children_unless_its_only_children_file_is_empty,
	                    0, sizeof(children) / sizeof(children[0]));
	return suite_run(suite);
}
