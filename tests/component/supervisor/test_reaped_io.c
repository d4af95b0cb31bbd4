/* SPDX-License-Identifier: MIT */
/* The I/O of children that this process reaps, with and without the privilege to read that of a
 * zombie. Each child reads and writes a number of bytes that the test chooses. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"
#include "supervisor/reaped_io.h"

#define NO_USER 65534

enum { READ_CHARS, WRITE_CHARS, READ_CALLS = 5, WRITE_CALLS };

static struct rti_shared_stats *shared;

static void set_up(void)
{
	shared = calloc(1, RTI_SHARED_STATS_BYTES);
	ck_assert_ptr_nonnull(shared);
}

static void tear_down(void)
{
	free(shared);
}

static void use_io(size_t reads, size_t writes)
{
	static char bytes[4096];
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (read(zero, bytes, reads) != (ssize_t)reads ||
	    write(null, bytes, writes) != (ssize_t)writes)
		_exit(1);
	_exit(0);
}

/* Checks write to a pipe of the test, so there are none while I/O is counted. */
static void reap(struct rts_reaped_io *io, size_t reads, size_t writes)
{
	siginfo_t info;
	pid_t reaped, pid = fork();
	int status;

	if (pid == 0)
		use_io(reads, writes);
	ck_assert_int_ge(pid, 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	rts_reaped_io_before(io, shared, pid);
	reaped = waitpid(pid, &status, 0);
	rts_reaped_io_after(io, shared, true);
	ck_assert_int_eq(reaped, pid);
	ck_assert_int_eq(status, 0);
}

static void check_two_children(void)
{
	struct rts_reaped_io io = { 0 };

	reap(&io, 300, 1000);
	reap(&io, 20, 4);
	ck_assert(!io.has_unread);
	ck_assert_uint_eq(io.sum[READ_CHARS], 320);
	ck_assert_uint_eq(io.sum[WRITE_CHARS], 1004);
	ck_assert_uint_eq(io.sum[READ_CALLS], 2);
	ck_assert_uint_eq(io.sum[WRITE_CALLS], 2);
}

START_TEST(io_of_two_children_adds_up)
{
	check_two_children();
}
END_TEST

/* The kernel may then refuse the I/O of a zombie: what this process has grown by is that. */
START_TEST(io_of_two_children_adds_up_without_privileges)
{
	if (geteuid() == 0) {
		ck_assert_int_eq(setuid(NO_USER), 0);
		ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1), 0); /* its own files are its own */
	}
	check_two_children();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reaped_io");
	TCase *tcase = suite_case(suite, "reaped_io");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, io_of_two_children_adds_up);
	tcase_add_test(tcase, io_of_two_children_adds_up_without_privileges);
	return suite_run(suite);
}
