/* SPDX-License-Identifier: MIT */
/* The end of a program that has lost its supervisor, by each way in which the kernel may show it.
 * The calls that would tell are the test's. */
#include "command/lost_program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "command/handle.h"
#include "os/pid_file.h"
#include "os/process/pidfd.h"
#include "suite.h"

#define PID 100
#define PIDFD 5
#define STATUS 0x700 /* of wait(2): exit code 7 */

/* What the kernel says. An error is -errno. */
struct kernel {
	int reap;       /* of waitid(2) by pidfd */
	int wait;       /* of waitpid(2): the pid, or -1 */
	int signal;     /* of a signal 0, from the second one on */
	int stat;       /* of the read of stat */
	char state;     /* in it; 0: it is torn */
	int code;       /* in it */
	int io;         /* of the read of io */
	int pidfd_exit; /* of the exit code by pidfd */
};

static const struct kernel *kernel;
static int naps;

/* The linker calls these instead of the functions in their names. */
int __wrap_rti_pidfd_reap(int pidfd, int *status);
int __wrap_rti_pidfd_signal(int pidfd, int32_t pid, int signal);
int __wrap_rti_pidfd_exit_status(int pidfd, int *status);
int __wrap_rti_pid_file_read(const struct rti_context *ctx, int32_t pid, const char *name,
                             struct rti_file *file);
pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);

int __wrap_rti_pidfd_reap(int pidfd, int *status)
{
	ck_assert_int_eq(pidfd, PIDFD);
	if (kernel->reap == 0)
		*status = STATUS;
	return kernel->reap;
}

int __wrap_rti_pidfd_signal(int pidfd, int32_t pid, int signal)
{
	(void)pidfd;
	ck_assert_int_eq(pid, PID);
	ck_assert_int_eq(signal, 0);
	return kernel->signal;
}

int __wrap_rti_pidfd_exit_status(int pidfd, int *status)
{
	(void)pidfd;
	if (kernel->pidfd_exit == 0)
		*status = STATUS;
	return kernel->pidfd_exit;
}

int __wrap_rti_pid_file_read(const struct rti_context *ctx, int32_t pid, const char *name,
                             struct rti_file *file)
{
	(void)file;
	ck_assert_int_eq(pid, PID);
	if (strcmp(name, "io") == 0)
		return kernel->io;
	ctx->buf->len = (size_t)snprintf(
	    ctx->buf->data, ctx->buf->cap,
	    kernel->state ? "100 (x) %c 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7 0 0 0 0 0 0 0 0 0 "
			    "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %d\n"
			  : "100 (x%c %d",
	    kernel->state, kernel->code);
	return kernel->stat;
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	if (!kernel) /* it is a call of libcheck */
		return __real_waitpid(pid, status, options);
	ck_assert_int_eq(pid, PID);
	ck_assert_int_eq(options, WNOHANG);
	if (kernel->wait == PID)
		*status = STATUS;
	return kernel->wait;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)time;
	(void)left;
	naps++;
	return 0;
}

static const struct {
	struct kernel kernel;
	int err, naps;
} cases[] = {
	/* this process is the new parent */
	{ { .reap = 0 }, 0, 0 },
	{ { .reap = -EOPNOTSUPP, .wait = PID }, 0, 0 },
	/* a zombie shows how it has ended */
	{ { .reap = -ECHILD, .state = 'Z', .code = STATUS, .pidfd_exit = -EAGAIN }, 0, 0 },
	{ { .reap = -EOPNOTSUPP, .wait = -1, .state = 'Z', .code = STATUS, .pidfd_exit = -EAGAIN },
	  0,
	  0 },
	/* 0 is believed only of a process that can be read */
	{ { .reap = -ECHILD, .state = 'Z', .io = 0, .pidfd_exit = -EOPNOTSUPP }, 0, 0 },
	{ { .reap = -ECHILD, .state = 'Z', .io = -EACCES, .pidfd_exit = 0 }, 0, 0 },
	{ { .reap = -ECHILD, .state = 'Z', .io = -EACCES, .signal = -ESRCH, .pidfd_exit = -ESRCH },
	  -ECHILD,
	  0 },
	/* it was reaped, and another process may have its pid */
	{ { .reap = -ECHILD, .state = 'Z', .code = STATUS, .signal = -ESRCH, .pidfd_exit = -ESRCH },
	  -ECHILD,
	  0 },
	{ { .reap = -EOPNOTSUPP, .signal = -ESRCH, .stat = -ESRCH, .pidfd_exit = -ESRCH },
	  -ECHILD,
	  0 },
	/* the kernel keeps the exit code */
	{ { .reap = -ECHILD, .stat = -ESRCH, .pidfd_exit = 0 }, 0, 0 },
	{ { .reap = -ECHILD, .state = 0, .pidfd_exit = 0 }, 0, 0 },
	{ { .reap = -ECHILD, .state = 'S', .pidfd_exit = 0 }, 0, 0 },
	/* it runs on: the wait has a bound */
	{ { .reap = -ECHILD, .state = 'S', .pidfd_exit = -EAGAIN, .signal = -ESRCH },
	  -ECHILD,
	  1000 },
	{ { .reap = -ECHILD, .state = 'S', .pidfd_exit = -EOPNOTSUPP, .signal = 0 },
	  -ECHILD,
	  1000 },
};

static int wait_for_program(int pidfd, int *status)
{
	char text[512];
	struct rti_buf buf = { .data = text, .cap = sizeof(text) };
	struct rt_tracker tracker = { 0 };
	struct rt_command command = { .tracker = &tracker, .pid = PID, .pidfd = pidfd };

	tracker.ctx.buf = &buf;
	*status = 0;
	return rti_lost_program_wait(&command, status);
}

START_TEST(exit_code_of_a_lost_program_is_found_or_the_wait_ends)
{
	int status;

	kernel = &cases[_i].kernel;
	ck_assert_int_eq(wait_for_program(PIDFD, &status), cases[_i].err);
	ck_assert_int_eq(naps, cases[_i].naps);
	if (cases[_i].err == 0 && cases[_i].kernel.pidfd_exit != -EOPNOTSUPP)
		ck_assert_int_eq(status, STATUS);
}
END_TEST

START_TEST(program_without_pidfd_is_not_looked_for)
{
	int status;

	ck_assert_int_eq(wait_for_program(-1, &status), -ECHILD);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lost_program_answers");
	TCase *tests = suite_case(suite, "ends");

	tcase_add_loop_test(tests, exit_code_of_a_lost_program_is_found_or_the_wait_ends, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, program_without_pidfd_is_not_looked_for);
	return suite_run(suite);
}
