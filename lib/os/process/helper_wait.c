/* SPDX-License-Identifier: MIT */
/* Waits for a helper process of this library: the supervisor or the tracer. */
#include "os/process/helper_wait.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "os/process/pidfd.h"
#include "os/word_file.h"
#include "parse/parse.h"
#include "util/arith.h"

#define NS_PER_S 1000000000u
/* Where a filter of system calls refuses to wait. */
#define BLIND_NAP_NS 5000000

enum state { RUNS, IS_STOPPED, HAS_ENDED };

static void read_first_line(int32_t pid, const char *file, char *out, size_t size)
{
	rti_read_word(RTI_PROC, rti_pid_path(pid, file).text, out, size);
}

/* A frozen process sleeps as others do, in a function of its own: in v2 that of signals, where no
 * other sleep has state S. In v1, since Linux 6.1, it may also sleep where it did before: that does
 * not show here. */
static bool is_frozen(int32_t pid, char state)
{
	char function[64];

	if (state != 'S' && state != 'D')
		return false;
	read_first_line(pid, "wchan", function, sizeof(function));
	return strcmp(function, "__refrigerator") == 0 ||
	       strcmp(function, "do_freezer_trap") == 0 ||
	       (state == 'S' && strcmp(function, "get_signal") == 0);
}

/* A helper is a child of the caller with one thread. What is no child has its pid after it. */
static enum state read_state(const struct rti_helper_wait *wait)
{
	struct rti_pid_stat stat;
	char text[512];

	read_first_line(wait->pid, "stat", text, sizeof(text));
	if (rti_parse_pid_stat(text, strlen(text), &stat) < 0)
		return RUNS;
	if (stat.ppid != wait->platform->getpid() || stat.state == 'Z' || stat.state == 'X')
		return HAS_ENDED;
	return stat.state == 'T' || stat.state == 't' || is_frozen(wait->pid, stat.state)
	           ? IS_STOPPED
	           : RUNS;
}

int rti_helper_look(struct rti_helper_wait *wait)
{
	const struct rti_wait_bounds *bounds = &wait->platform->waits;
	uint64_t now_ns = wait->platform->monotonic_ns();
	enum state state = read_state(wait);
	/* Two looks that are far apart have not seen one stop. */
	bool is_first = !wait->stopped_at_ns || now_ns - wait->looked_at_ns >= bounds->stopped_ns;

	wait->looked_at_ns = now_ns;
	if (state != IS_STOPPED) {
		wait->stopped_at_ns = 0;
		return state == HAS_ENDED ? -ECHILD : 0;
	}
	if (is_first) {
		wait->stopped_at_ns = now_ns;
		wait->is_continued_again = false;
	}
	if (now_ns - wait->stopped_at_ns >= bounds->stopped_ns)
		return -EBUSY;
	if (!is_first &&
	    (wait->is_continued_again || now_ns - wait->stopped_at_ns < bounds->again_ns))
		return 0;
	wait->is_continued_again = !is_first;
	rti_pidfd_signal(wait->pidfd, wait->pid, SIGCONT);
	return 0;
}

/* What is ignored is pending, too, if it is blocked. */
static bool has_end_pending(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action;
	sigset_t pending;

	if (sigpending(&pending) < 0)
		return false;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigismember(&pending, signals[i]) == 1 &&
		    sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			return true;
	return false;
}

/* A helper that answers in a moment is not given up. */
static int look_at_signals(struct rti_helper_wait *wait, uint64_t now_ns)
{
	if (!has_end_pending())
		wait->signal_at_ns = 0;
	else if (!wait->signal_at_ns)
		wait->signal_at_ns = now_ns;
	else if (now_ns - wait->signal_at_ns >= wait->platform->waits.signal_ns)
		return -EINTR;
	return 0;
}

static bool has_report(int socket)
{
	const struct timespec none = { 0 };
	struct pollfd report = { .fd = socket, .events = POLLIN };

	return ppoll(&report, 1, &none, NULL) > 0;
}

/* A helper that has ended may have left a report. Its end shows in the socket late if a child of it
 * has a copy, which executes its program just now. Returns 0, -EAGAIN or -ECHILD. */
static int sleep_for(const struct rti_helper_wait *wait, int socket, uint64_t ns)
{
	const struct timespec timeout = { .tv_sec = (time_t)(ns / NS_PER_S),
		                          .tv_nsec = (long)(ns % NS_PER_S) };
	const struct timespec nap = { .tv_nsec = BLIND_NAP_NS };
	struct pollfd fds[] = { { .fd = socket, .events = POLLIN },
		                { .fd = wait->pidfd, .events = POLLIN } };

	if (ppoll(fds, 2, &timeout, NULL) < 0) {
		if (errno == EINTR)
			return -EAGAIN;
		nanosleep(&nap, NULL);
		return 0;
	}
	if (fds[0].revents)
		return 0;
	if (fds[1].revents)
		return has_report(socket) ? 0 : -ECHILD;
	return -EAGAIN;
}

int rti_helper_await(struct rti_helper_wait *wait, int socket)
{
	int err = -EAGAIN;

	while (err == -EAGAIN) {
		uint64_t now_ns = wait->platform->monotonic_ns();

		if (now_ns >= wait->end_ns)
			return -ETIMEDOUT;
		if (wait->next_look_ns && now_ns >= wait->next_look_ns) {
			err = rti_helper_look(wait);
			if (err == -ECHILD && has_report(socket))
				return 0;
			if (err == 0)
				err = look_at_signals(wait, now_ns);
			if (err < 0)
				return err;
			wait->next_look_ns = 0;
		}
		if (!wait->next_look_ns)
			wait->next_look_ns = now_ns + wait->platform->waits.look_ns;
		err = sleep_for(wait, socket, rti_min(wait->next_look_ns, wait->end_ns) - now_ns);
	}
	if (err == 0)
		wait->stopped_at_ns = 0; /* it was not stopped all the time */
	return err;
}
