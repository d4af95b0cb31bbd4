/* SPDX-License-Identifier: MIT */
/* A supervisor that does not report, or that ends late, and a debugger that keeps the program: the
 * wait for the command has a bound, and no child of the host stays a zombie. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "suite.h"

#define NS_PER_S INT64_C(1000000000)
#define GIVE_UP_MAX_NS (60 * NS_PER_S) /* on a machine that is busy */
#define SILENT_NS (2 * NS_PER_S)       /* from the end, until a silent supervisor is given up */
#define SIGNALLED_NS (NS_PER_S / 10)   /* the same after a signal */
#define QUIET_NS (3 * NS_PER_S / 2)
#define COMMANDS 200
/* A wait that ends by the bound of 2 s alone takes that long each time. One that does not is faster
 * at one of some attempts, also on a machine that is busy. */
#define ATTEMPTS 8
#define RAN_INTO_BOUND 3 /* exit status of a child */

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Stop a process as a debugger does: SIGCONT does not continue it. */
static void stop_by_debugger(int32_t pid)
{
	int status;

	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	ck_assert_int_eq(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
	ck_assert(WIFSTOPPED(status));
}

static struct rt_command *start_with_stopped_supervisor(int32_t *supervisor)
{
	const struct rt_command_opts opts = { .accounting = RT_ACCOUNTING_WAIT };
	struct rt_command *command = start_shell_with(opts, "exec sleep 1000");

	*supervisor = get_supervisor_pid(command);
	stop_by_debugger(*supervisor);
	return command;
}

/* The supervisor ends once it is continued, since the socket is closed. */
static void free_and_reap(struct rt_command *command, int32_t supervisor)
{
	rt_command_free(command);
	ck_assert_int_eq(ptrace(PTRACE_DETACH, supervisor, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(supervisor, NULL, 0), supervisor);
}

static struct rt_outcome wait_without_supervisor(struct rt_command *command, int64_t *took_ns)
{
	struct rt_outcome outcome = { 0 };
	int64_t start_ns = now_ns();

	ck_assert_int_eq(rt_command_wait(command, GIVE_UP_MAX_NS, &outcome, sizeof(outcome)), 0);
	*took_ns = now_ns() - start_ns;
	return outcome;
}

/* It has run for run_ns at most, with what its supervisor was waited for: at least waited_ns. */
static void check_given_up(const struct rt_outcome *outcome, int64_t run_ns, int64_t waited_ns)
{
	ck_assert_int_eq(outcome->signal, SIGKILL);
	ck_assert_int_eq(outcome->complete, 0);
	ck_assert_uint_ne(outcome->reasons & RT_REASON_UNWAITED, 0);
	ck_assert_uint_eq(outcome->valid & RT_HAS_CPU, 0);
	/* The time for which the supervisor was waited for is not that of the program. */
	ck_assert_int_le((int64_t)outcome->wall_ns, run_ns - waited_ns);
}

START_TEST(wait_gives_up_a_supervisor_that_is_stopped_by_a_debugger)
{
	int32_t supervisor;
	int64_t begin_ns = now_ns(), took_ns;
	struct rt_command *command = start_with_stopped_supervisor(&supervisor);
	struct rt_outcome outcome;

	ck_assert_int_eq(rt_command_signal(command, SIGKILL), 0);
	outcome = wait_without_supervisor(command, &took_ns);
	check_given_up(&outcome, now_ns() - begin_ns, SILENT_NS);
	ck_assert_int_lt(took_ns, GIVE_UP_MAX_NS / 2);
	free_and_reap(command, supervisor);
}
END_TEST

static int has_ended(void *command)
{
	return rt_command_signal(command, 0) == -ESRCH;
}

/* Returns how long the wait took after a signal that came after the end. */
static int64_t give_up_by_signal(void)
{
	int32_t supervisor;
	int64_t begin_ns = now_ns(), took_ns;
	struct rt_command *command = start_with_stopped_supervisor(&supervisor);
	struct rt_outcome outcome;

	ck_assert_int_eq(rt_command_signal(command, SIGKILL), 0);
	wait_until(has_ended, command);
	ck_assert_int_eq(rt_command_signal(command, SIGINT), -ESRCH);
	outcome = wait_without_supervisor(command, &took_ns);
	check_given_up(&outcome, now_ns() - begin_ns, SIGNALLED_NS);
	free_and_reap(command, supervisor);
	return took_ns;
}

START_TEST(signal_after_the_end_gives_up_the_supervisor)
{
	int64_t took_ns = INT64_MAX;

	for (int i = 0; i < ATTEMPTS && took_ns >= QUIET_NS; i++)
		took_ns = give_up_by_signal();
	ck_assert_int_lt(took_ns, QUIET_NS);
}
END_TEST

/* From now on a system call has this action in this process and in its children. Returns a
 * descriptor, 0 or -1. */
static int filter_call(uint32_t call, uint32_t action, unsigned flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
}

/* It fails with EPERM. */
static int deny_call(uint32_t call)
{
	return filter_call(call, SECCOMP_RET_ERRNO | EPERM, 0);
}

/* The exit status says what was seen. */
static int run_once_under_filter(void)
{
	static const char *const argv[] = { "sh", "-c", "exit 5", NULL };
	struct rt_command_opts opts = { .accounting = RT_ACCOUNTING_WAIT };
	struct rt_outcome outcome = { 0 };
	struct rt_command *command;
	int64_t start_ns;
	int err;

	if (start_command(&command, opts, argv) < 0)
		return 2;
	start_ns = now_ns();
	err = rt_command_wait(command, GIVE_UP_MAX_NS, &outcome, sizeof(outcome));
	rt_command_free(command);
	if (err == -ETIMEDOUT || now_ns() - start_ns > QUIET_NS)
		return RAN_INTO_BOUND;
	if (outcome.complete || outcome.valid & RT_HAS_CPU)
		return 4;
	/* Kernels before 6.15 do not keep the exit code of a process that init has reaped. */
	return (err == 0 && outcome.exit_code == 5) || err == -ECHILD ? 0 : 5;
}

/* Before Linux 5.3. How the program has ended cannot be found out. */
START_TEST(wait_without_pidfds_gives_up_a_stopped_supervisor)
{
	struct rt_command *command;
	int32_t supervisor;

	if (filter_call(SYS_pidfd_open, SECCOMP_RET_ERRNO | ENOSYS, 0) < 0) {
		suite_skip_test("no filter of system calls can be set");
		return;
	}
	command = start_with_stopped_supervisor(&supervisor);
	ck_assert_int_eq(rt_command_signal(command, SIGKILL), 0);
	ck_assert_int_eq(rt_command_wait(command, GIVE_UP_MAX_NS, NULL, 0), -ECHILD);
	free_and_reap(command, supervisor);
}
END_TEST

/* In a child, which has the filter. */
static int run_under_filter(uint32_t call)
{
	int seen = RAN_INTO_BOUND;

	if (deny_call(call) < 0)
		return 77;
	for (int i = 0; i < ATTEMPTS && seen == RAN_INTO_BOUND; i++)
		seen = run_once_under_filter();
	return seen;
}

static const uint32_t wait_calls[] = { SYS_waitid, SYS_wait4 };

START_TEST(wait_ends_if_a_filter_denies_the_supervisor_to_wait)
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(run_under_filter(wait_calls[_i]));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* In a child, which has the filter: returns how often the program ran, or -1. The end of the pipe
 * comes with the exit of the last process that has it. */
static int count_runs(uint32_t accounting)
{
	static const char *const argv[] = { "sh", "-c", "echo", NULL };
	struct rt_command_opts opts = { .accounting = accounting };
	struct rt_command *command;
	int pipe_fds[2], runs = 0;
	char byte;

	if (pipe(pipe_fds) < 0 || deny_call(SYS_sendto) < 0)
		return -1;
	opts.fds = &(struct rt_fd){ .target = STDOUT_FILENO, .source = pipe_fds[1] };
	opts.fd_count = 1;
	if (start_command(&command, opts, argv) == 0) {
		rt_command_wait(command, GIVE_UP_MAX_NS, NULL, 0);
		rt_command_free(command);
	}
	close(pipe_fds[1]);
	while (read(pipe_fds[0], &byte, 1) > 0)
		runs++;
	return runs;
}

static const struct {
	uint32_t accounting;
	int runs;
} without_send[] = { { RT_ACCOUNTING_AUTO, 1 }, { RT_ACCOUNTING_WAIT, 0 } };

/* The library does without a supervisor that it does not hear, and may start the program itself. */
START_TEST(supervisor_that_cannot_report_starts_nothing)
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(count_runs(without_send[_i].accounting));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), without_send[_i].runs);
}
END_TEST

/* In a child: no process answers the listener, so the call never returns. Returns the error. */
static int start_with_hanging_supervisor(void)
{
	static const char *const argv[] = { "true", NULL };
	const struct rt_command_opts opts = { .accounting = RT_ACCOUNTING_WAIT };
	struct rt_command *command;

	int err;

	if (filter_call(SYS_sendto, SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER) < 0)
		return 0;
	err = start_command(&command, opts, argv);
	/* It was killed, so that it starts nothing later. */
	return waitpid(-1, NULL, WNOHANG) < 0 ? -err : EBUSY;
}

/* It takes 10 s. */
START_TEST(supervisor_that_does_not_begin_in_time_is_etimedout)
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(start_with_hanging_supervisor());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), ETIMEDOUT);
}
END_TEST

#ifdef SECCOMP_USER_NOTIF_FLAG_CONTINUE
/* Kill the parent of a process if that is a supervisor. Returns whether it was one. */
static bool kill_supervisor_of(int32_t pid)
{
	char path[64], text[512] = "";
	int32_t parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (%*[^)]) %*c %d", &parent) != 1)
		parent = 0;
	if (file)
		fclose(file);
	snprintf(path, sizeof(path), "/proc/%d/comm", parent);
	file = parent > 1 ? fopen(path, "r") : NULL;
	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return strncmp(text, "rtrack-supervis", 15) == 0 && kill(parent, SIGKILL) == 0;
}

/* Let every execve(2) go on, but kill the first supervisor that waits for one. It ends with its
 * parent. */
static void answer_calls(int listener, pid_t parent)
{
	bool is_done = false;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent) {
		struct seccomp_notif call = { 0 };
		struct seccomp_notif_resp answer = { 0 };

		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
			continue;
		if (!is_done)
			is_done = kill_supervisor_of((int32_t)call.pid);
		answer.id = call.id;
		answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

/* In a child, which has the filter. Returns how often the program ran; more than 10: what failed.
 */
static int count_runs_without_supervisor(void)
{
	static const char *const argv[] = { "sh", "-c", "echo", NULL };
	struct rt_command_opts opts = { 0 };
	struct rt_command *command;
	int pipe_fds[2], runs = 0, listener, err;
	pid_t self = getpid(), answering;
	char byte;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return 11;
	listener =
	    filter_call(SYS_execve, SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	answering = listener < 0 ? -1 : fork();
	if (answering < 0)
		return 12;
	if (answering == 0) {
		close(pipe_fds[0]);
		close(pipe_fds[1]);
		answer_calls(listener, self);
		_exit(0);
	}
	opts.fds = &(struct rt_fd){ .target = STDOUT_FILENO, .source = pipe_fds[1] };
	opts.fd_count = 1;
	err = start_command(&command, opts, argv);
	if (err == 0) {
		rt_command_wait(command, GIVE_UP_MAX_NS, NULL, 0);
		rt_command_free(command);
	}
	close(pipe_fds[1]);
	while (read(pipe_fds[0], &byte, 1) > 0)
		runs++;
	kill_process(answering, SIGKILL);
	waitpid(answering, NULL, 0);
	return err == -ECHILD ? runs : 13;
}

/* Whether the program runs is not known to the library then. */
START_TEST(program_is_not_started_again_after_its_supervisor_was_killed)
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(count_runs_without_supervisor());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 12)
		suite_skip_test("this kernel hands no calls to a listener");
	else
		ck_assert_int_eq(WEXITSTATUS(status), 1);
}
END_TEST
#endif

static void do_nothing(int signal)
{
	(void)signal;
}

static void set_timer(long microseconds)
{
	const struct itimerval period = { { 0, microseconds }, { 0, microseconds } };

	ck_assert_int_eq(setitimer(ITIMER_REAL, &period, NULL), 0);
}

static int wait_through_signals(struct rt_command *command)
{
	struct rt_outcome outcome;
	int err;

	do {
		err = rt_command_wait(command, WAIT_FOREVER, &outcome, sizeof(outcome));
	} while (err == -EINTR);
	ck_assert_int_eq(err, 0);
	return outcome.exit_code;
}

/* A profiler's timer interrupts every call that sleeps. */
START_TEST(no_zombie_is_left_under_a_fast_timer)
{
	const struct sigaction action = { .sa_handler = do_nothing };
	siginfo_t info;

	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	set_timer(500);
	for (int i = 0; i < COMMANDS; i++) {
		struct rt_command *command = start_shell("exit 3");

		ck_assert_int_eq(wait_through_signals(command), 3);
		rt_command_free(command);
	}
	set_timer(0);
	ck_assert_int_eq(waitid(P_ALL, 0, &info, WEXITED | WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* In a host: returns the result of the wait for a program that was killed under its debugger. */
static int wait_for_debugged_program(int to_debugger, int from_debugger)
{
	static const char *const argv[] = { "sleep", "1000", NULL };
	const struct rt_command_opts opts = { .accounting = RT_ACCOUNTING_POLL };
	struct rt_command *command;
	int32_t pid;
	char byte;

	if (start_command(&command, opts, argv) < 0)
		return -1;
	pid = rt_command_pid(command);
	if (write(to_debugger, &pid, sizeof(pid)) != sizeof(pid) ||
	    read(from_debugger, &byte, 1) != 1 || rt_command_signal(command, SIGKILL) < 0)
		return -1;
	return wait_for(command, NS_PER_S / 5);
}

/* A zombie can be waited for once its debugger has seen its end, as by waitpid(2). */
START_TEST(wait_for_a_program_that_a_debugger_keeps_has_a_bound)
{
	int pids[2], go[2], status;
	int32_t program;
	pid_t host;

	ck_assert_int_eq(pipe(pids), 0);
	ck_assert_int_eq(pipe(go), 0);
	host = fork();
	ck_assert_int_ge(host, 0);
	if (host == 0)
		_exit(-wait_for_debugged_program(pids[1], go[0]));
	ck_assert_int_eq(read(pids[0], &program, sizeof(program)), sizeof(program));
	ck_assert_int_eq(ptrace(PTRACE_SEIZE, program, NULL, NULL), 0);
	ck_assert_int_eq(write(go[1], "", 1), 1);
	ck_assert_int_eq(waitpid(host, &status, 0), host);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), ETIMEDOUT);
	ck_assert_int_eq(waitpid(program, NULL, __WALL), program);
}
END_TEST

static int has_no_child(void *unused)
{
	siginfo_t info = { 0 };

	(void)unused;
	/* A call that starts or frees a command reaps. */
	run_shell("exit 0");
	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

/* A handle may be freed while its program runs. Its supervisor then ends later. */
START_TEST(supervisor_of_a_freed_handle_is_reaped_later)
{
	const struct rt_command_opts opts = { .accounting = RT_ACCOUNTING_WAIT };
	struct rt_command *command = start_shell_with(opts, "sleep 0.2");

	rt_command_free(command);
	wait_until(has_no_child, NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("silent_supervisor");
	TCase *report = suite_case(suite, "report");
	TCase *reap = suite_case(suite, "reap");

	tcase_add_test(report, wait_gives_up_a_supervisor_that_is_stopped_by_a_debugger);
	tcase_add_test(report, signal_after_the_end_gives_up_the_supervisor);
	tcase_add_test(report, wait_without_pidfds_gives_up_a_stopped_supervisor);
	tcase_add_loop_test(report, wait_ends_if_a_filter_denies_the_supervisor_to_wait, 0,
	                    sizeof(wait_calls) / sizeof(wait_calls[0]));
	tcase_add_loop_test(report, supervisor_that_cannot_report_starts_nothing, 0,
	                    sizeof(without_send) / sizeof(without_send[0]));
	tcase_add_test(report, supervisor_that_does_not_begin_in_time_is_etimedout);
#ifdef SECCOMP_USER_NOTIF_FLAG_CONTINUE
	tcase_add_test(report, program_is_not_started_again_after_its_supervisor_was_killed);
#endif
	tcase_add_test(reap, no_zombie_is_left_under_a_fast_timer);
	tcase_add_test(reap, wait_for_a_program_that_a_debugger_keeps_has_a_bound);
	tcase_add_test(reap, supervisor_of_a_freed_handle_is_reaped_later);
	return suite_run(suite);
}
