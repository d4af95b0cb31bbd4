/* SPDX-License-Identifier: MIT */
/* The loader of the BPF plug-in: opening, closing, forks, namespaces, privileges, and the pids of a
 * batch. */
#include "batch_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "family.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80 /* linux/sched.h; glibc has it since 2.36 */
#endif

#define TRIES 100

static void do_nothing(void *arg)
{
	(void)arg;
}

START_TEST(row_of_pid_without_process_has_an_error)
{
	struct child child;
	struct rti_batch_request request[5] = {
		[1].pid = -1, [2].pid = INT32_MAX, [3].pid = INT32_MIN
	};
	struct rti_batch_row row[5];

	child_start(&child, do_nothing, NULL);
	child_end(&child);
	request[4].pid = child.pid;
	ck_assert_int_eq(rti_batch_read(batch_fix.batch, request, 5, row), 0);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(row[i].error, -ESRCH);

	batch_read_row(2, row); /* kthreadd: only the text files show the names of kernel threads */
	ck_assert_int_eq(row[0].error, -EOPNOTSUPP);
}
END_TEST

START_TEST(row_of_reused_pid_has_another_start)
{
	struct rti_batch_row first, second;
	struct child child;
	struct batch_text text;
	pid_t again = -EEXIST;

	for (int i = 0; i < TRIES && again == -EEXIST; i++) {
		child_start(&child, do_nothing, NULL);
		batch_read_row(child.pid, &first);
		child_end(&child);
		again = family_fork_as(child.pid);
	}
	ck_assert_int_eq(again, child.pid);

	batch_stop_process(again);
	batch_read_row_and_text(again, &second, &text);
	ck_assert_int_eq(second.error, 0);
	ck_assert_uint_gt(second.start_ns, first.start_ns);
	ck_assert_uint_eq(second.start_ns / batch_fix.platform.tick_ns, text.stat.starttime);

	batch_request_unless_idle(again, second.cpu_ns, RTI_BATCH_ANY_RSS, &first);
	ck_assert_uint_eq(first.has, RTI_BATCH_IDLE);
	ck_assert_uint_eq(first.start_ns, second.start_ns);

	kill_process(again, SIGKILL);
	waitpid(again, NULL, 0);
}
END_TEST

START_TEST(batch_larger_than_one_call_reads_all_pids)
{
	enum { COUNT = 3 * RTI_BATCH_PIDS + 7 };
	static struct rti_batch_row row[COUNT + 1];
	static struct rti_batch_request request[COUNT];
	struct rti_batch_row one[5];
	struct child child[5];

	for (int i = 0; i < 5; i++) {
		child_start(&child[i], do_nothing, NULL);
		batch_read_row(child[i].pid, &one[i]);
	}
	for (int i = 0; i < COUNT; i++)
		request[i].pid = child[i % 5].pid;
	memset(row, 0x5a, sizeof(row));
	ck_assert_int_eq(rti_batch_read(batch_fix.batch, request, COUNT, row), 0);
	for (int i = 0; i < COUNT; i++) {
		ck_assert_int_eq(row[i].error, 0);
		ck_assert_uint_eq(row[i].start_ns, one[i % 5].start_ns);
	}
	ck_assert_int_eq(row[COUNT].error, 0x5a5a5a5a);
	ck_assert_int_eq(rti_batch_read(batch_fix.batch, request, 0, row), 0);
	for (int i = 0; i < 5; i++)
		batch_end_child(&child[i]);
}
END_TEST

/* Parent and child share the memory that receives the rows. */
START_TEST(batch_in_forked_child_fails_with_estale)
{
	struct rti_batch_request self = { .pid = getpid() };
	struct rti_batch_row row;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int err = rti_batch_read(batch_fix.batch, &self, 1, &row);

		rti_batch_close(batch_fix.batch);
		_exit(err == -ESTALE ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	batch_read_row(self.pid, &row);
	ck_assert_int_eq((int)row.ppid, getppid());
}
END_TEST

/* Counts the open descriptors that lack this flag. 0: all open ones. */
static int count_descriptors(int flag)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++) {
		int flags = fcntl(fd, F_GETFD);

		count += flags >= 0 && !(flags & flag);
	}
	return count;
}

START_TEST(batch_that_is_closed_leaves_no_descriptor)
{
	int before = count_descriptors(0), inherited = count_descriptors(FD_CLOEXEC);
	struct rti_batch *another;

	ck_assert_int_eq(rti_batch_open(&another), 0);
	ck_assert_int_gt(count_descriptors(0), before);
	ck_assert_int_eq(count_descriptors(FD_CLOEXEC), inherited);

	rti_batch_close(another);
	ck_assert_int_eq(count_descriptors(0), before);
	rti_batch_close(NULL);
}
END_TEST

/* Returns the result of opening in a child in new namespaces of these kinds. */
static int open_in(int namespaces, const char *boottime_offset)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct rti_batch *inside;
		pid_t inner;

		if (unshare(namespaces) < 0)
			_exit(0);
		if (boottime_offset) {
			int fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);

			if (write(fd, boottime_offset, strlen(boottime_offset)) < 0)
				_exit(0);
		}
		inner = fork();
		if (inner == 0)
			_exit(-rti_batch_open(&inside));
		waitpid(inner, &status, 0);
		_exit(WEXITSTATUS(status));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return -WEXITSTATUS(status);
}

/* In these namespaces, a process has another pid or start than the kernel shows to the program. */
START_TEST(batch_in_pid_or_time_namespace_fails_with_eopnotsupp)
{
	ck_assert_int_eq(open_in(CLONE_NEWPID, NULL), -EOPNOTSUPP);
	ck_assert_int_eq(open_in(CLONE_NEWTIME, "boottime 1000 0"), -EOPNOTSUPP);
	ck_assert_int_eq(open_in(CLONE_NEWNET | CLONE_NEWNS, NULL), 0);
}
END_TEST

START_TEST(batch_without_privileges_fails_with_eperm)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };
	struct rti_batch *opened;
	int before = count_descriptors(0);

	ck_assert_int_eq((int)syscall(SYS_capset, &header, none), 0);
	ck_assert_int_eq(rti_batch_open(&opened), -EPERM);
	ck_assert_ptr_null(opened);
	ck_assert_int_eq(count_descriptors(0), before);
}
END_TEST

static void add_tests(Suite *suite)
{
	TCase *handle = suite_case(suite, "handle");

	tcase_add_checked_fixture(handle, batch_set_up, batch_tear_down);
	tcase_add_test(handle, row_of_pid_without_process_has_an_error);
	tcase_add_test(handle, row_of_reused_pid_has_another_start);
	tcase_add_test(handle, batch_larger_than_one_call_reads_all_pids);
	tcase_add_test(handle, batch_in_forked_child_fails_with_estale);
	tcase_add_test(handle, batch_that_is_closed_leaves_no_descriptor);
	tcase_add_test(handle, batch_in_pid_or_time_namespace_fails_with_eopnotsupp);
}

int main(void)
{
	const char *why;
	enum batch_support support = batch_probe(&why);
	Suite *suite;

	if (support == BATCH_NONE)
		return suite_skip(why);
	suite = suite_create("bpf_loader");
	tcase_add_test(suite_case(suite, "privileges"), batch_without_privileges_fails_with_eperm);
	if (support == BATCH_FULL)
		add_tests(suite);
	return suite_run(suite);
}
