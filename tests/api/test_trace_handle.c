/* SPDX-License-Identifier: MIT */
/* The calls on a trace that was begun, as they are documented. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "suite.h"

#define NR_PIDFD_OPEN 434 /* on every architecture */

static char why_not[256];

/* Of a command, by the back end that can be had. Returns 0 or -errno. */
static int open_trace(struct rt_trace **out)
{
	static const char *const argv[] = { "true", NULL };
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };
	const struct rt_trace_opts opts = { .size = sizeof(opts),
		                            .command = &command,
		                            .message = why_not,
		                            .message_size = sizeof(why_not) };

	return rt_trace_new(out, &opts);
}

static struct rt_trace *new_trace(void)
{
	struct rt_trace *trace;

	ck_assert_int_eq(open_trace(&trace), 0);
	ck_assert_int_eq(rt_command_wait(rt_trace_command(trace), -1, NULL, 0), 0);
	return trace;
}

START_TEST(read_with_bad_arguments_is_refused_and_writes_nothing)
{
	struct rt_trace *trace = new_trace();
	struct rt_trace_event events[2];
	size_t count = 2;

	memset(events, FILLED, sizeof(events));
	ck_assert_int_eq(rt_trace_read(trace, events, sizeof(events[0]), NULL), -EFAULT);
	ck_assert_int_eq(rt_trace_read(trace, NULL, sizeof(events[0]), &count), -EFAULT);
	ck_assert_int_eq(rt_trace_read(trace, events, sizeof(events[0]) - 8, &count), -EINVAL);
	ck_assert_int_eq(rt_trace_read(trace, events, SIZE_LIMIT + 8, &count), -EINVAL);
	ck_assert_uint_eq(count, 2);
	ck_assert(is_filled(events, sizeof(events)));
	count = 0;
	ck_assert_int_eq(rt_trace_read(trace, NULL, sizeof(events[0]), &count), 0);
	rt_trace_free(trace);
}
END_TEST

START_TEST(totals_with_bad_arguments_are_refused)
{
	struct rt_trace *trace = new_trace();
	struct rt_trace_totals totals;

	ck_assert_int_eq(rt_trace_get_totals(trace, NULL, sizeof(totals)), -EFAULT);
	ck_assert_int_eq(rt_trace_get_totals(trace, &totals, sizeof(totals) - 8), -EINVAL);
	ck_assert_int_eq(rt_trace_get_totals(trace, &totals, sizeof(totals)), 0);
	ck_assert_uint_eq(totals.size, sizeof(totals));
	ck_assert_uint_ne(totals.back_end, RT_TRACE_BACK_END_AUTO);
	rt_trace_free(trace);
}
END_TEST

static const char *const missing_argv[] = { "/nonexistent/program", NULL };
static const char *const true_argv[] = { "true", NULL };

static const struct rt_command_opts unstartable[] = {
	{ .size = sizeof(struct rt_command_opts), .argv = missing_argv },
	{ .size = sizeof(struct rt_command_opts), .argv = true_argv, .cwd = "/nonexistent" },
	{ .size = sizeof(struct rt_command_opts),
	  .argv = true_argv,
	  .accounting = RT_ACCOUNTING_BPF + 1 },
};

/* By whichever back end. */
START_TEST(command_that_cannot_be_started_has_the_error_and_message_of_its_start)
{
	char plain[256] = "", traced[256] = "", unused[256];
	struct rt_command_opts command = unstartable[_i];
	struct rt_trace_opts opts = { .size = sizeof(opts),
		                      .command = &command,
		                      .message = traced,
		                      .message_size = sizeof(traced) };
	struct rt_command *started;
	struct rt_trace *trace;
	int err;

	memset(unused, FILLED, sizeof(unused));
	command.message = plain;
	command.message_size = sizeof(plain);
	err = rt_command_start(&started, &command);
	ck_assert_int_lt(err, 0);
	command.message = unused;
	ck_assert_int_eq(rt_trace_new(&trace, &opts), err);
	ck_assert_ptr_null(trace);
	ck_assert_str_eq(traced, plain);
	ck_assert(is_filled(unused, sizeof(unused)));
}
END_TEST

/* A forked child may only free its copy. */
START_TEST(read_in_a_forked_child_returns_echild)
{
	struct rt_trace *trace = new_trace();
	struct rt_trace_event event;
	size_t count = 1;
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(rt_trace_read(trace, &event, sizeof(event), &count) == -ECHILD ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	rt_trace_free(trace);
}
END_TEST

static const uint32_t back_ends[] = { RT_TRACE_BACK_END_BPF, RT_TRACE_BACK_END_PTRACE };

/* Without a right or a file that a back end needs. */
static bool is_refusal(int err)
{
	return err == -EPERM || err == -EOPNOTSUPP || err == -ENOPKG;
}

static int open_with(struct rt_trace **out, uint32_t back_end)
{
	static const char *const argv[] = { "true", NULL };
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };
	const struct rt_trace_opts opts = { .size = sizeof(opts),
		                            .command = &command,
		                            .calls = RT_TRACE_CALL_GETRUSAGE | RT_TRACE_CALL_WAIT4,
		                            .back_end = back_end,
		                            .message = why_not,
		                            .message_size = sizeof(why_not) };

	return rt_trace_new(out, &opts);
}

/* What is opened while a standard descriptor is closed must not take its number: the host may write
 * to its standard error all the same. */
START_TEST(trace_takes_no_standard_descriptor_that_is_closed)
{
	struct rt_trace *trace;
	int saved[3], err, fd;

	for (int i = 0; i < 3; i++) {
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
		close(i);
	}
	err = open_with(&trace, back_ends[_i]);
	fd = err == 0 ? rt_trace_fd(trace) : -1;
	for (int i = 0; i < 3; i++) {
		dup2(saved[i], i);
		close(saved[i]);
	}
	if (is_refusal(err))
		return;
	ck_assert_int_eq(err, 0);
	ck_assert_int_gt(fd, 2);
	ck_assert_int_eq(rt_command_wait(rt_trace_command(trace), -1, NULL, 0), 0);
	rt_trace_free(trace);
}
END_TEST

#define FDS_MAX 128

static int count_open(void)
{
	int count = 0;

	for (int fd = 0; fd < FDS_MAX; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Opens descriptors until so many are left. Returns how many it opened. */
static int leave_free(int room, int fds[FDS_MAX])
{
	int count = 0;

	while ((fds[count] = dup(STDOUT_FILENO)) >= 0)
		count++;
	for (; room > 0 && count > 0; room--)
		close(fds[--count]);
	return count;
}

/* Whichever descriptor is the first that cannot be opened. */
START_TEST(trace_without_descriptors_says_so_and_leaves_nothing)
{
	const struct rlimit few = { FDS_MAX, FDS_MAX };
	int fds[FDS_MAX], err = -EMFILE;
	struct rt_trace *trace;

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (int room = 0; err == -EMFILE; room++) {
		int before = count_open(), count = leave_free(room, fds);

		*why_not = '\0';
		err = open_with(&trace, back_ends[_i]);
		while (count > 0)
			close(fds[--count]);
		if (err == 0 || err == -ENOPKG || (is_refusal(err) && room > 1))
			break;
		ck_assert_msg(err == -EMFILE, "%d left: %d, %s", room, err, why_not);
		ck_assert_ptr_nonnull(strstr(why_not, "RLIMIT_NOFILE"));
		ck_assert_int_eq(count_open(), before);
		ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
		ck_assert_int_eq(errno, ECHILD);
	}
	if (err < 0)
		return;
	ck_assert_int_eq(rt_command_wait(rt_trace_command(trace), -1, NULL, 0), 0);
	rt_trace_free(trace);
}
END_TEST

/* Has a system call fail, in this process and what it starts. */
static void refuse(uint32_t number, uint32_t error)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { COUNT_OF(code), (void *)code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

START_TEST(tracer_that_could_not_be_reaped_is_none)
{
	struct rt_trace *trace;
	int err = open_with(&trace, RT_TRACE_BACK_END_PTRACE);

	if (is_refusal(err))
		return;
	ck_assert_int_eq(err, 0);
	ck_assert_int_eq(rt_command_wait(rt_trace_command(trace), -1, NULL, 0), 0);
	rt_trace_free(trace);
	while (waitpid(-1, NULL, 0) > 0) /* the tracer may end after the program */
		;
	/* As if the last descriptor had gone to another thread, once the helper process runs. */
	refuse(NR_PIDFD_OPEN, EMFILE);
	ck_assert_int_eq(open_with(&trace, RT_TRACE_BACK_END_PTRACE), -EMFILE);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

START_TEST(tracer_without_a_pidfd_is_reaped)
{
	struct rt_trace_event event;
	struct rt_trace *trace;
	size_t count;
	int err;

	refuse(NR_PIDFD_OPEN, _i ? EPERM : ENOSYS);
	err = open_with(&trace, RT_TRACE_BACK_END_PTRACE);
	if (is_refusal(err))
		return;
	ck_assert_int_eq(err, 0);
	ck_assert_int_eq(rt_command_wait(rt_trace_command(trace), -1, NULL, 0), 0);
	do {
		count = 1;
	} while (rt_trace_read(trace, &event, sizeof(event), &count) == 0);
	rt_trace_free(trace);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* Some containers refuse the call by which the memory of a process is read. */
START_TEST(figures_are_read_without_process_vm_readv)
{
	static const char *const argv[] = { "bash", "-c", "times", NULL };
	const struct rt_fd null = { .target = STDOUT_FILENO, .source = -2 };
	const struct rt_command_opts command = {
		.size = sizeof(command), .argv = argv, .fds = &null, .fd_count = 1
	};
	const struct rt_trace_opts opts = { .size = sizeof(opts),
		                            .command = &command,
		                            .back_end = RT_TRACE_BACK_END_PTRACE };
	struct rt_trace_event events[8];
	size_t count = COUNT_OF(events);
	struct rt_trace *trace;
	int err;

	refuse(SYS_process_vm_readv, _i ? EPERM : ENOSYS);
	err = rt_trace_new(&trace, &opts);
	if (is_refusal(err))
		return;
	ck_assert_int_eq(err, 0);
	ck_assert_int_eq(rt_command_wait(rt_trace_command(trace), -1, NULL, 0), 0);
	ck_assert_int_eq(rt_trace_read(trace, events, sizeof(events[0]), &count), 0);
	ck_assert_uint_ge(count, 2);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(events[i].flags & RT_TRACE_EVENT_UNREAD, 0);
		ck_assert_uint_eq(events[i].rusage_valid, 0xffff);
	}
	ck_assert_int_gt(events[0].rusage.ru_maxrss, 1000);
	rt_trace_free(trace);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("api_trace_handle");
	TCase *tests = suite_case(suite, "handle");
	struct rt_trace *trace;

	if (open_trace(&trace) < 0)
		return suite_skip(why_not);
	/* A program that still runs is reaped later: until then the tests have its pidfd, too. */
	rt_command_wait(rt_trace_command(trace), -1, NULL, 0);
	rt_trace_free(trace);
	tcase_add_test(tests, read_with_bad_arguments_is_refused_and_writes_nothing);
	tcase_add_test(tests, totals_with_bad_arguments_are_refused);
	tcase_add_loop_test(tests,
	                    command_that_cannot_be_started_has_the_error_and_message_of_its_start,
	                    0, COUNT_OF(unstartable));
	tcase_add_test(tests, read_in_a_forked_child_returns_echild);
	tcase_add_loop_test(tests, trace_takes_no_standard_descriptor_that_is_closed, 0,
	                    COUNT_OF(back_ends));
	tcase_add_loop_test(tests, trace_without_descriptors_says_so_and_leaves_nothing, 0,
	                    COUNT_OF(back_ends));
	tcase_add_test(tests, tracer_that_could_not_be_reaped_is_none);
	tcase_add_loop_test(tests, tracer_without_a_pidfd_is_reaped, 0, 2);
	tcase_add_loop_test(tests, figures_are_read_without_process_vm_readv, 0, 2);
	return suite_run(suite);
}
