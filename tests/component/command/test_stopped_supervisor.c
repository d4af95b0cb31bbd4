/* SPDX-License-Identifier: MIT */
/* A supervisor that another process stops between any two messages, freezes or holds as a debugger
 * does: each wait continues it, and has a bound. The supervisor is the test's, and follows a
 * script; all bounds are a hundredth. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "command/handle.h"
#include "frozen.h"
#include "os/platform.h"
#include "os/process/helper.h"
#include "os/process/spawn.h"
#include "os/protocol/supervisor_protocol.h"
#include "suite.h"

#define NS_PER_S INT64_C(1000000000)
#define LONG_NS (100 * NS_PER_S)
#define MESSAGE_BYTES 512
#define FDS_MAX 256

/* A step of the script:
 *   S  stop itself
 *   B  report that it begins
 *   P  start the program, which does nothing
 *   R  report that the program was started
 *   E  wait for the end of the program, and report it
 *   A  wait for the request of the account, and answer it
 * After the last one it answers all requests until they end. */
static const char *script;
static bool is_seized, is_frozen; /* once it has come to its end */
static bool is_silent;            /* it neither ends nor answers */
static int library;               /* the supervisor's end of the socket */
static int is_alive[2];           /* a pipe that only the supervisor and its program write to */

void __real_rti_platform_init(struct rti_platform *platform, bool is_foreign);
void __wrap_rti_platform_init(struct rti_platform *platform, bool is_foreign);
int __wrap_rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                            struct rti_origin_file *file, int32_t *pid);

void __wrap_rti_platform_init(struct rti_platform *platform, bool is_foreign)
{
	uint64_t *bound = &platform->waits.begin_ns;

	__real_rti_platform_init(platform, is_foreign);
	for (size_t i = 0; i < sizeof(platform->waits) / sizeof(*bound); i++)
		bound[i] /= 100;
	/* They end what is not stopped: on a busy machine, much may take that long. */
	platform->waits.quiet_ns = platform->waits.busy_ns = LONG_NS;
	platform->waits.begin_ns = LONG_NS;
}

static void report(uint32_t kind, int32_t pid, int status)
{
	const struct rti_report said = { .kind = kind, .pid = pid, .status = status };

	if (send(library, &said, sizeof(said), MSG_NOSIGNAL) != sizeof(said))
		_exit(1);
}

/* Returns false at the end of the requests. */
static bool answer_account(void)
{
	uint32_t request = RTI_PROCEED;

	while (request != RTI_ACCOUNT)
		if (recv(library, &request, sizeof(request), 0) != sizeof(request))
			return false;
	report(RTI_ACCOUNTED, 0, 0);
	return true;
}

static pid_t start_program(void)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	close(library);
	for (;;)
		pause();
}

static void play(const char *steps)
{
	pid_t program = 0;
	int status = 0;

	for (; *steps; steps++) {
		switch (*steps) {
		case 'S':
			raise(SIGSTOP);
			break;
		case 'B':
			report(RTI_STARTING, 0, 0);
			break;
		case 'P':
			program = start_program();
			break;
		case 'R':
			report(RTI_STARTED, program, 0);
			break;
		case 'E':
			waitpid(program, &status, 0);
			program = 0;
			report(RTI_EXITED, 0, status);
			break;
		default:
			answer_account();
		}
	}
	/* The test learns that the script has been played. */
	if (write(is_alive[1], "", 1) != 1)
		_exit(1);
	while (is_silent)
		pause();
	while (answer_account())
		;
	if (program > 0)
		kill(program, SIGKILL);
	_exit(0);
}

/* As a debugger: SIGCONT does not continue it. */
static void seize(pid_t pid)
{
	int status;

	ck_assert_int_eq(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	ck_assert_int_eq(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
	ck_assert(WIFSTOPPED(status));
}

int __wrap_rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                            struct rti_origin_file *file, int32_t *pid)
{
	pid_t supervisor;
	char byte;

	(void)name;
	(void)argv;
	file->dir = -1;
	library = opts->keep_fd[0];
	supervisor = fork();
	ck_assert_int_ge(supervisor, 0);
	if (supervisor == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* It executes no program, so the library's end of the socket would stay. */
		for (int fd = STDERR_FILENO + 1; fd < FDS_MAX; fd++)
			if (fd != library && fd != is_alive[1])
				close(fd);
		play(script);
	}
	close(is_alive[1]);
	is_alive[1] = -1;
	*pid = supervisor;
	if (is_seized || is_frozen)
		ck_assert_int_eq(read(is_alive[0], &byte, 1), 1);
	if (is_seized)
		seize(supervisor);
	if (is_frozen)
		freeze(supervisor);
	return 0;
}

static char message[MESSAGE_BYTES];

static int start(struct rt_command **command, uint64_t timeout_ns)
{
	static const char *const argv[] = { "true", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .accounting = RT_ACCOUNTING_WAIT,
		                              .argv = argv,
		                              .message = message,
		                              .message_size = sizeof(message),
		                              .start_timeout_ns = timeout_ns };

	ck_assert_int_eq(pipe2(is_alive, O_CLOEXEC), 0);
	return rt_command_start(command, &opts);
}

/* Supervisor and program have ended, and the supervisor was reaped. */
static void check_nothing_left(void)
{
	char byte;

	while (read(is_alive[0], &byte, 1) > 0)
		;
	close(is_alive[0]);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

static const char *const stops[] = { "SBPREA", "BSPREA", "BPSREA",     "BPRSEA",
	                             "BPRESA", "BPREAS", "SBSPSRSESAS" };

START_TEST(supervisor_that_is_stopped_between_two_messages_is_continued)
{
	struct rt_outcome outcome;
	struct rt_command *command;

	script = stops[_i];
	ck_assert_int_eq(start(&command, 0), 0);
	ck_assert_int_eq(rt_command_signal(command, SIGKILL), 0);
	ck_assert_int_eq(rt_command_wait(command, LONG_NS, &outcome, sizeof(outcome)), 0);
	ck_assert_int_eq(outcome.signal, SIGKILL);
	rt_command_free(command);
	check_nothing_left();
}
END_TEST

static int is_stopped(void *pid)
{
	return thread_state(*(const int32_t *)pid, *(const int32_t *)pid) == 'T';
}

/* The program runs on: its supervisor is to reap it. One that stops itself after it was freed would
 * stay so. */
START_TEST(supervisor_that_is_stopped_when_it_is_freed_is_continued)
{
	struct rt_command *command;

	script = "BPRS";
	ck_assert_int_eq(start(&command, 0), 0);
	wait_until(is_stopped, &command->supervisor.supervisor_pid);
	rt_command_free(command);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	check_nothing_left();
}
END_TEST

static const char *const begun[] = { "", "B", "BP" };

START_TEST(supervisor_that_stays_stopped_is_killed_with_the_program)
{
	struct rt_command *command;

	is_seized = true;
	script = begun[_i];
	ck_assert_int_eq(start(&command, 0), -ECHILD);
	ck_assert_ptr_null(command);
	ck_assert_ptr_nonnull(strstr(message, "was stopped or frozen"));
	check_nothing_left();
}
END_TEST

START_TEST(supervisor_that_stays_frozen_is_given_up)
{
	struct rt_command *command;

	if (!can_freeze()) {
		suite_skip_test("there is no cgroup in which a process can be frozen");
		return;
	}
	is_frozen = true;
	script = begun[_i];
	ck_assert_int_eq(start(&command, 0), -ECHILD);
	ck_assert_ptr_null(command);
	thaw();
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	check_nothing_left();
	remove_freezer();
}
END_TEST

START_TEST(start_timeout_ends_program_and_supervisor)
{
	struct rt_command *command;

	is_silent = true;
	script = begun[_i];
	ck_assert_int_eq(start(&command, NS_PER_S / 20), -ETIMEDOUT);
	ck_assert_ptr_null(command);
	ck_assert_ptr_nonnull(strstr(message, "start_timeout_ns"));
	check_nothing_left();
}
END_TEST

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

static void block(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), signal);
}

START_TEST(signal_that_is_pending_ends_program_and_supervisor)
{
	struct rt_command *command;

	signal(signals[_i], SIG_DFL); /* a shell ignores some in the background */
	block(signals[_i]);
	is_silent = true;
	script = begun[_i % 3];
	ck_assert_int_eq(start(&command, 0), -EINTR);
	ck_assert_ptr_null(command);
	ck_assert_ptr_nonnull(strstr(message, "signal"));
	check_nothing_left();
}
END_TEST

/* E.g.: nohup(1) has ignored SIGHUP. */
START_TEST(signal_that_is_ignored_ends_no_start)
{
	struct rt_command *command;

	signal(SIGHUP, SIG_IGN);
	block(SIGHUP);
	is_silent = true;
	script = "BP";
	ck_assert_int_eq(start(&command, NS_PER_S / 10), -ETIMEDOUT);
	check_nothing_left();
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

int main(void)
{
	Suite *suite = suite_create("stopped_supervisor");
	TCase *goes_on = suite_case(suite, "goes_on"), *ends = suite_case(suite, "ends");

	tcase_add_loop_test(goes_on, supervisor_that_is_stopped_between_two_messages_is_continued,
	                    0, COUNT(stops));
	tcase_add_test(goes_on, supervisor_that_is_stopped_when_it_is_freed_is_continued);
	tcase_add_loop_test(ends, supervisor_that_stays_stopped_is_killed_with_the_program, 0,
	                    COUNT(begun));
	tcase_add_loop_test(ends, supervisor_that_stays_frozen_is_given_up, 0, COUNT(begun));
	tcase_add_loop_test(ends, start_timeout_ends_program_and_supervisor, 0, COUNT(begun));
	tcase_add_loop_test(ends, signal_that_is_pending_ends_program_and_supervisor, 0,
	                    COUNT(signals));
	tcase_add_test(ends, signal_that_is_ignored_ends_no_start);
	return suite_run(suite);
}
