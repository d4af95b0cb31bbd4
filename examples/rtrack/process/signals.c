/* SPDX-License-Identifier: MIT */
/* Signal handling of rtrack. Handlers have no argument for state, so the state is static. */
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "follow/clock.h"
#include "text/units.h"

static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT };
static const int left_to_terminal[] = { SIGINT, SIGQUIT };
static const int output_errors[] = { SIGPIPE, SIGXFSZ };
static const int terminal_signals[] = { SIGTSTP, SIGWINCH };
static const int end_signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct rt_command *volatile target;
static volatile sig_atomic_t end_requested, stop_requested, end_forwarded, ends_at_once;
static sigset_t mask_before;

/* A stopped command acts on TERM or HUP only when it is continued, as by timeout(1). A command that
 * has ended cannot decide what a signal means. So rtrack waits for nothing else. rtrack may not be
 * waiting for the command now: then the next wait ends, so that it looks at what was asked for.
 * E.g.: it waits for room in a pipe. */
static void forward(int signal)
{
	struct rt_command *command = target;
	bool is_end = signal == SIGTERM || signal == SIGHUP;

	if (!command)
		return;
	if (rt_command_signal(command, signal) == -ESRCH || ends_at_once)
		end_requested |= is_end;
	if (is_end) {
		rt_command_signal(command, SIGCONT);
		end_forwarded = 1;
		rt_command_interrupt(command);
	}
}

/* The terminal has sent it to the command, too, which decides what it means. */
static void end_wait(int signal)
{
	struct rt_command *command = target;

	if (!command)
		return;
	end_forwarded = 1;
	if (rt_command_signal(command, 0) == -ESRCH) {
		rt_command_signal(command, signal);
		end_requested = 1;
	}
	end_requested |= ends_at_once;
	rt_command_interrupt(command);
}

/* A handler, because the command would inherit SIG_IGN. */
static void do_nothing(int signal)
{
	(void)signal;
}

static void request_end(int signal)
{
	(void)signal;
	end_requested = 1;
}

static void note_terminal(int signal)
{
	if (signal == SIGTSTP)
		stop_requested = 1;
}

static void catch_all(const int *signals, size_t count, void (*handler)(int))
{
	for (size_t i = 0; i < count; i++) {
		struct sigaction action;

		if (sigaction(signals[i], NULL, &action) < 0 || action.sa_handler == SIG_IGN)
			continue;
		action = (struct sigaction){ .sa_handler = handler };
		sigfillset(&action.sa_mask);
		sigaction(signals[i], &action, NULL);
	}
}

static void block_more(const int *signals, size_t count)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < count; i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void block(const int *signals, size_t count)
{
	sigprocmask(SIG_BLOCK, NULL, &mask_before);
	block_more(signals, count);
}

void signals_survive_output_errors(void)
{
	catch_all(output_errors, COUNT(output_errors), do_nothing);
}

void signals_hold(void)
{
	block(forwarded, COUNT(forwarded));
	block_more(left_to_terminal, COUNT(left_to_terminal));
	catch_all(forwarded, COUNT(forwarded), forward);
	catch_all(left_to_terminal, COUNT(left_to_terminal), end_wait);
}

int signals_pending_end(void)
{
	sigset_t pending;

	sigpending(&pending);
	for (size_t i = 0; i < COUNT(end_signals); i++)
		if (sigismember(&pending, end_signals[i]) == 1)
			return end_signals[i];
	return 0;
}

void signals_forward(struct rt_command *command)
{
	target = command;
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

void signals_stop_forwarding(void)
{
	target = NULL;
}

void signals_catch_end(void)
{
	block(end_signals, COUNT(end_signals));
	block_more(terminal_signals, COUNT(terminal_signals));
	catch_all(end_signals, COUNT(end_signals), request_end);
}

void signals_watch_terminal(void)
{
	catch_all(terminal_signals, COUNT(terminal_signals), note_terminal);
}

bool signals_stop_requested(void)
{
	bool is_requested = stop_requested != 0;

	stop_requested = 0;
	return is_requested;
}

/* By the default action of TSTP and not by STOP: the kernel ignores TSTP where no shell could
 * continue us (an orphaned process group). */
void signals_stop(void)
{
	struct sigaction caught;
	const struct sigaction by_default = { .sa_handler = SIG_DFL };
	sigset_t tstp, before;

	sigemptyset(&tstp);
	sigaddset(&tstp, SIGTSTP);
	sigaction(SIGTSTP, &by_default, &caught);
	sigprocmask(SIG_UNBLOCK, &tstp, &before);
	raise(SIGTSTP);
	sigprocmask(SIG_SETMASK, &before, NULL);
	sigaction(SIGTSTP, &caught, NULL);
}

/* The signals are blocked except during ppoll(), so none can arrive between the check for a
 * requested end or stop and the sleep. */
void signals_sleep(int64_t deadline, struct pollfd *fds, unsigned count)
{
	int64_t left = deadline == NEVER ? 0 : deadline - clock_now();
	struct timespec timeout;

	if (left < 0)
		left = 0;
	timeout =
	    (struct timespec){ .tv_sec = left / NS_PER_S, .tv_nsec = (long)(left % NS_PER_S) };
	ppoll(fds, count, deadline == NEVER ? NULL : &timeout, &mask_before);
}

void signals_end_at_once(bool is_on)
{
	ends_at_once = is_on;
	end_requested = 0;
}

bool signals_end_forwarded(void)
{
	return end_forwarded != 0;
}

bool signals_end_requested(void)
{
	return end_requested != 0;
}
