/* SPDX-License-Identifier: MIT */
/* Each file call of two samples fails, once or from then on, in every way: no figure is wrong and
 * valid, and nothing stays open. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "subjects.h"
#include "suite.h"

#define CALLS_MAX 2000
#define FDS_MAX 1024

enum fault { FAULT_NONE, FAULT_SHORT_READ, FAULT_ONCE, FAULT_FROM_THEN_ON };

/* The call with this number, from 1 on, fails. */
static struct {
	enum fault fault;
	int error; /* -errno */
	unsigned at, calls;
	bool is_reached;
	char name[128];
	bool is_open[FDS_MAX];
	int open_files;
} plan;

/* Returns whether this call is the one. */
static bool is_turn(const char *call, const char *path)
{
	plan.calls++;
	if (plan.fault == FAULT_FROM_THEN_ON && plan.is_reached)
		return true;
	if (plan.calls != plan.at)
		return false;
	plan.is_reached = true;
	snprintf(plan.name, sizeof(plan.name), "%s %s", call, path);
	return true;
}

static bool fails(const char *call, const char *path)
{
	return is_turn(call, path) && plan.fault != FAULT_SHORT_READ;
}

static int failing_open(int dirfd, const char *path, int flags)
{
	int fd = fails("open", path) ? plan.error : rti_procfs_linux.open(dirfd, path, flags);

	if (fd < 0)
		return fd;
	ck_assert_int_lt(fd, FDS_MAX);
	plan.is_open[fd] = true;
	plan.open_files++;
	return fd;
}

static ssize_t failing_pread(int fd, void *buf, size_t len, off_t offset)
{
	ssize_t n;

	if (!is_turn("pread", ""))
		return rti_procfs_linux.pread(fd, buf, len, offset);
	if (plan.fault != FAULT_SHORT_READ)
		return plan.error;
	n = rti_procfs_linux.pread(fd, buf, len, offset);
	return n > 1 ? n / 2 : n;
}

static ssize_t failing_getdents(int fd, void *buf, size_t len)
{
	return fails("getdents", "") ? plan.error : rti_procfs_linux.getdents(fd, buf, len);
}

static ssize_t failing_readlink(int dirfd, const char *path, char *buf, size_t len)
{
	return fails("readlink", path) ? plan.error
	                               : rti_procfs_linux.readlink(dirfd, path, buf, len);
}

static int failing_access(int dirfd, const char *path)
{
	return fails("access", path) ? plan.error : rti_procfs_linux.access(dirfd, path);
}

static int failing_close(int fd)
{
	ck_assert_msg(fd >= 0 && fd < FDS_MAX && plan.is_open[fd], "closes %d, which is not open",
	              fd);
	plan.is_open[fd] = false;
	plan.open_files--;
	return rti_procfs_linux.close(fd);
}

static const struct rti_procfs_ops failing_ops = {
	.open = failing_open,
	.pread = failing_pread,
	.getdents = failing_getdents,
	.readlink = failing_readlink,
	.access = failing_access,
	.close = failing_close,
};

/* Returns whether the call was reached. */
static bool run_with_fault(int subject, unsigned at, enum fault fault, int error,
                           struct subject_run *out)
{
	plan.fault = fault;
	plan.error = error;
	plan.at = at;
	plan.calls = 0;
	plan.is_reached = false;
	subject_run(subject, &failing_ops, out);
	ck_assert_msg(plan.open_files == 0, "%s: call %u (%s) fails with %d: %d stay open",
	              subject_name(subject), at, plan.name, error, plan.open_files);
	return plan.is_reached;
}

/* What is short must be named. A file that is refused or broken may be taken for one that is
 * missing. */
static bool is_explained(int open_error, int error)
{
	return open_error == 0 || open_error == error ||
	       ((error == -EIO || error == -EACCES) && open_error == -ENOENT);
}

/* If no call succeeds there is no sign of a GPU either, as on a machine that has none. So the tree
 * with GPUs, which is the last one, has one fault at a time. */
static void check_every_call(enum fault fault, int error)
{
	const int subjects = fault == FAULT_FROM_THEN_ON ? SUBJECTS - 1 : SUBJECTS;

	for (int subject = 0; subject < subjects; subject++) {
		static struct subject_run truth, run;
		unsigned at = 1;

		subject_mount(subject);
		run_with_fault(subject, 0, FAULT_NONE, 0, &truth);
		ck_assert_int_eq(truth.open_error, 0);
		ck_assert_uint_ne(truth.samples[1].valid, 0);
		for (; run_with_fault(subject, at, fault, error, &run); at++) {
			char what[256];

			snprintf(what, sizeof(what), "%s: call %u (%s) fails with %s",
			         subject_name(subject), at, plan.name,
			         error ? strerror(-error) : "a short read");
			ck_assert_msg(is_explained(run.open_error, error), "%s: tracker: %s", what,
			              strerror(-run.open_error));
			subject_check(&truth, &run, what);
		}
		ck_assert_uint_gt(at, 20);
		ck_assert_uint_lt(at, CALLS_MAX);
	}
}

START_TEST(io_error_of_any_file_call_is_marked)
{
	check_every_call(FAULT_ONCE, -EIO);
	check_every_call(FAULT_FROM_THEN_ON, -EIO);
}
END_TEST

START_TEST(refusal_of_any_file_call_is_marked)
{
	check_every_call(FAULT_ONCE, -EACCES);
	check_every_call(FAULT_FROM_THEN_ON, -EACCES);
}
END_TEST

START_TEST(want_of_descriptors_in_any_file_call_is_marked)
{
	check_every_call(FAULT_ONCE, -EMFILE);
	check_every_call(FAULT_FROM_THEN_ON, -EMFILE);
	check_every_call(FAULT_ONCE, -ENFILE);
}
END_TEST

START_TEST(want_of_memory_in_any_file_call_is_marked)
{
	check_every_call(FAULT_ONCE, -ENOMEM);
	check_every_call(FAULT_FROM_THEN_ON, -ENOMEM);
}
END_TEST

/* It is read on. So nothing differs at all. */
START_TEST(short_read_of_any_file_changes_nothing)
{
	check_every_call(FAULT_SHORT_READ, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("every file call");
	TCase *tests = suite_case(suite, "calls");

	tcase_add_checked_fixture(tests, subjects_set_up, subjects_tear_down);
	tcase_add_test(tests, io_error_of_any_file_call_is_marked);
	tcase_add_test(tests, refusal_of_any_file_call_is_marked);
	tcase_add_test(tests, want_of_descriptors_in_any_file_call_is_marked);
	tcase_add_test(tests, want_of_memory_in_any_file_call_is_marked);
	tcase_add_test(tests, short_read_of_any_file_changes_nothing);
	return suite_run(suite);
}
