/* SPDX-License-Identifier: MIT */
/* The starter, up to where it would become the program: the test takes the place of the filter and
 * of the exec. */
#include "tracer/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/process/path_exec.h"
#include "os/protocol/tracer_protocol.h"
#include "suite.h"
#include "tracer/filter.h"

#define FAILED 127
#define CALLS 5u
#define CLOSED_FD 1000000

static struct {
	int filter_error, exec_error;
	unsigned interruptions; /* of recv(2) */
	int recv_error;         /* after these; 0: it receives */
	bool is_tracer_gone;
	uint32_t calls; /* of the filter; 0: none was installed */
	bool is_executed;
	int starter, tracer; /* the two ends */
} fake;

/* The linker calls this instead of the function in its name. */
ssize_t __real_recv(int fd, void *buf, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags);

ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags)
{
	if (fake.interruptions > 0) {
		fake.interruptions--;
		errno = EINTR;
		return -1;
	}
	if (fake.is_tracer_gone)
		return 0;
	errno = fake.recv_error;
	if (errno)
		return -1;
	return __real_recv(fd, buf, len, flags);
}

int rtt_filter_install(uint32_t calls)
{
	fake.calls = calls;
	return fake.filter_error;
}

int rti_path_exec(char **argv, char **envp, int64_t *maxrss_kib)
{
	(void)argv;
	ck_assert_ptr_null(envp);
	ck_assert_ptr_null(maxrss_kib);
	fake.is_executed = true;
	return fake.exec_error;
}

static void set_up(void)
{
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	fake.starter = pair[0];
	fake.tracer = pair[1];
	fake.exec_error = ENOENT;
}

static void tear_down(void)
{
	close(fake.starter);
	close(fake.tracer);
}

static void answer(int error)
{
	const struct rti_starter_message message = { .step = RTI_TRACER_SEIZED,
		                                     .error = error,
		                                     .calls = CALLS };

	ck_assert_int_eq(send(fake.tracer, &message, sizeof(message), 0), sizeof(message));
}

static int start_with(int socket, int dir)
{
	char name[] = "rtrack-tracer", step[] = RTI_TRACER_START, program[] = "program",
	     pid[] = "0";
	char socket_text[16], dir_text[16];
	char *argv[] = { name, step, socket_text, dir_text, pid, program, NULL };

	snprintf(socket_text, sizeof(socket_text), "%d", socket);
	snprintf(dir_text, sizeof(dir_text), "%d", dir);
	return rtt_start(6, argv);
}

/* Returns the step that the starter says next, or -1 if it says no more. */
static int next_step(int *error)
{
	struct rti_starter_message message;

	if (__real_recv(fake.tracer, &message, sizeof(message), MSG_DONTWAIT) != sizeof(message))
		return -1;
	*error = message.error;
	return (int)message.step;
}

static const struct {
	int filter_error;
	unsigned interruptions;
	int last_step, error;
	bool is_executed;
} starts[] = {
	{ 0, 0, RTI_TRACER_EXECUTED, ENOENT, true },
	{ 0, 3, RTI_TRACER_EXECUTED, ENOENT, true },
	{ EACCES, 0, RTI_TRACER_FILTERED, EACCES, false },
};

START_TEST(starter_says_which_step_has_failed)
{
	int error;

	fake.filter_error = starts[_i].filter_error;
	fake.interruptions = starts[_i].interruptions;
	answer(0);
	ck_assert_int_eq(start_with(fake.starter, 0), FAILED);
	ck_assert_int_eq(next_step(&error), RTI_TRACER_READY);
	ck_assert_int_eq(next_step(&error), starts[_i].last_step);
	ck_assert_int_eq(error, starts[_i].error);
	ck_assert_uint_eq(fake.calls, CALLS);
	ck_assert(fake.is_executed == starts[_i].is_executed);
	ck_assert_int_eq(fcntl(fake.starter, F_GETFD), FD_CLOEXEC);
}
END_TEST

/* The filter would have its calls fail for ever. */
START_TEST(starter_that_is_not_traced_takes_no_filter)
{
	answer(_i == 0 ? EPERM : 0);
	fake.recv_error = _i == 1 ? ENOMEM : 0;
	fake.is_tracer_gone = _i == 2;
	ck_assert_int_eq(start_with(fake.starter, 0), FAILED);
	ck_assert_uint_eq(fake.calls, 0);
	ck_assert(!fake.is_executed);
}
END_TEST

/* What the program must not get would be open in it. */
START_TEST(starter_with_wrong_descriptors_starts_nothing)
{
	int error;

	answer(0);
	if (_i == 0)
		ck_assert_int_eq(start_with(fake.starter, CLOSED_FD), FAILED);
	else
		ck_assert_int_eq(start_with(CLOSED_FD, 0), FAILED);
	ck_assert_int_eq(next_step(&error), -1);
	ck_assert(!fake.is_executed);
}
END_TEST

START_TEST(starter_without_a_program_starts_nothing)
{
	char name[] = "rtrack-tracer", step[] = RTI_TRACER_START;
	char *argv[] = { name, step, NULL };

	ck_assert_int_eq(rtt_start(2, argv), FAILED);
	ck_assert(!fake.is_executed);
}
END_TEST

START_TEST(directory_of_the_starter_is_closed_before_the_program_runs)
{
	int dir = dup(fake.starter);

	ck_assert_int_gt(dir, 0);
	answer(0);
	ck_assert_int_eq(start_with(fake.starter, dir), FAILED);
	ck_assert(fake.is_executed);
	ck_assert_int_eq(fcntl(dir, F_GETFD), -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("start");
	TCase *tests = suite_case(suite, "starter");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, starter_says_which_step_has_failed, 0,
	                    sizeof(starts) / sizeof(starts[0]));
	tcase_add_loop_test(tests, starter_that_is_not_traced_takes_no_filter, 0, 3);
	tcase_add_loop_test(tests, starter_with_wrong_descriptors_starts_nothing, 0, 2);
	tcase_add_test(tests, starter_without_a_program_starts_nothing);
	tcase_add_test(tests, directory_of_the_starter_is_closed_before_the_program_runs);
	return suite_run(suite);
}
