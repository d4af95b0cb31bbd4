/* SPDX-License-Identifier: MIT */
/* The live line: figures on the terminal that are updated in place. */
#include "live.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "follow/clock.h"
#include "follow/figures.h"
#include "follow/own_limits.h"
#include "output/terminal.h"
#include "process/signals.h"
#include "text/columns.h"
#include "text/message.h"
#include "text/units.h"
#include "text/utf8.h"

#define SHORTEST_PAUSE_NS (NS_PER_S / 20)

enum { LONGEST_WRITE_MS = 100 };

/* By default, attach and system do not show the line if the rows go to a terminal too, because it
 * would appear between them. */
bool live_is_wanted(const struct options *options, const struct series *series)
{
	if (options->live == WHEN_ALWAYS)
		return true;
	if (options->live == WHEN_NEVER || options->command->bit == FOR_RUN)
		return false;
	return series->out.fd < 0 || !isatty(series->out.fd);
}

/* Open the terminal, if the line can be shown there. attach and system show it on standard error,
 * and only if that is the controlling terminal: any other has no foreground group for us. */
static int open_terminal(bool has_row)
{
	const char *name = terminal_name();
	int fd;

	if (!name || (!has_row && tcgetpgrp(STDERR_FILENO) < 0))
		return -1;
	fd = terminal_open();
	if (fd >= 0 && has_row && !status_row_is_possible(fd, name)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void close_terminal(struct live *l)
{
	close(l->fd);
	l->fd = -1;
}

/* Returns true if the terminal is ready for more before wait_ms have passed; -1: no limit. */
static bool wait_until_ready(int fd, int wait_ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	int count;

	do {
		count = poll(&ready, 1, wait_ms);
	} while (count < 0 && errno == EINTR);
	return count > 0;
}

/* Returns how much was written. What the terminal does not take in time stays for the next call:
 * half a sequence would change what is written after it. */
static size_t write_some(struct live *l, int wait_ms)
{
	size_t done = 0;

	while (done < l->output.len) {
		ssize_t len = write(l->fd, l->output.data + done, l->output.len - done);

		if (len >= 0)
			done += (size_t)len;
		else if (errno == EAGAIN && !wait_until_ready(l->fd, wait_ms))
			break;
		else if (errno != EAGAIN && errno != EINTR) { /* hung up */
			close_terminal(l);
			return l->output.len;
		}
	}
	return done;
}

/* Write what is in l->output. With SIGTTOU blocked, "stty tostop" cannot stop rtrack if it comes
 * into the background in this moment. */
static void flush(struct live *l, int wait_ms)
{
	sigset_t background, before;
	size_t done;

	sigemptyset(&background);
	sigaddset(&background, SIGTTOU);
	sigprocmask(SIG_BLOCK, &background, &before);
	done = write_some(l, wait_ms);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (done > 0)
		memmove(l->output.data, l->output.data + done, l->output.len - done);
	l->output.len -= done;
}

/* Draw the figures in the row, or where the cursor is. The last column stays free: some terminals
 * wrap there. The cursor stays behind the text, so what the user types does not overwrite it. */
static void draw(struct live *l)
{
	int fits = (int)columns_fit(l->line.data, (size_t)terminal_columns(l->fd) - 1);

	flush(l, 0);
	if (l->output.len > 0 || l->fd < 0) /* E.g.: the user has pressed Ctrl-S. */
		return;
	if (l->has_row)
		status_row_draw(&l->row, l->line.data, fits, &l->output);
	else
		text_printf(&l->output, "\r%.*s\033[K", fits, l->line.data);
	l->is_drawn = true;
	flush(l, LONGEST_WRITE_MS);
}

/* A row is given back in the background too. E.g.: after kill -STOP, the shell has the terminal. A
 * line is only erased in the foreground: elsewhere the cursor is in the line of the shell. */
static void hide(struct live *l, int wait_ms)
{
	if (l->fd < 0) /* the terminal has hung up */
		return;
	if (l->has_row)
		status_row_release(&l->row, &l->output);
	else if (l->is_drawn && terminal_is_in_foreground(l->fd))
		text_add(&l->output, "\r\033[K");
	l->is_drawn = false;
	flush(l, wait_ms);
}

/* Returns true if the line may be drawn now. While a full-screen program has the terminal, the row
 * stays as it is. When the program has ended, the cursor may be in the row. */
static bool may_draw(struct live *l)
{
	if (!terminal_is_in_foreground(l->fd))
		return false;
	if (!l->has_row)
		return true;
	if (!terminal_is_cooked(l->fd)) {
		l->row.is_doubtful = true;
		return false;
	}
	status_row_reserve(&l->row);
	return l->row.is_reserved;
}

static void set_command(struct live *l, const struct options *options)
{
	for (int i = 0; i < options->operand_count; i++) {
		text_add(&l->command, i > 0 ? " " : "   ");
		utf8_add_printable(&l->command, options->operands[i], l->has_utf8);
	}
}

void live_init(struct live *l, const struct options *options, const struct series *series,
               int64_t start_ns)
{
	struct terminal terminal;

	*l = (struct live){ .fd = -1, .start_ns = start_ns };
	l->has_row = options->command->bit == FOR_RUN;
	if (live_is_wanted(options, series))
		l->fd = open_terminal(l->has_row);
	if (l->fd < 0 && options->live == WHEN_ALWAYS && options->defaults.live != WHEN_ALWAYS)
		warn("--live shows nothing here: there is no terminal that it can be shown on");
	if (l->fd < 0)
		return;
	terminal_init(&terminal, l->fd, options->color);
	l->has_utf8 = terminal_has_utf8(&terminal);
	l->row.fd = l->fd;
	signals_watch_terminal();
	if (!l->has_row)
		return;
	set_command(l, options);
	live_draw(l, NULL, 0);
}

bool live_is_on(const struct live *l)
{
	return l->fd >= 0;
}

static void add_own_limits(struct live *l, const struct rt_metrics *m, const struct rt_delta *d)
{
	struct own_limits own = own_limits_of(m, d);

	if (own.cores >= 0 && own.cpus_allowed >= 0) {
		text_printf(&l->line, "   %.2f ", own.cores);
		own_limits_add_cpus(&l->line, own.cpus_allowed);
	}
	if (own.memory_limit_bytes != UINT64_MAX)
		text_printf(&l->line, "   %s of %s allowed", human_bytes(own.memory_bytes).s,
		            human_bytes(own.memory_limit_bytes).s);
}

static void add_figures(struct live *l, const struct follow *follows, size_t count)
{
	uint64_t memory = 0, processes = 0;
	double cores = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t bytes;

		if (follows[i].has_ended)
			continue;
		cores += follows[i].delta.cores_used;
		memory += follow_memory(&follows[i], &bytes) ? bytes : 0;
		processes += follows[i].now.processes;
	}
	text_add(&l->line, human_time((uint64_t)(clock_now() - l->start_ns)).s);
	if (count > 0)
		text_printf(&l->line, "   %.2f cores   %s   %" PRIu64 " process%s", cores,
		            human_bytes(memory).s, processes, processes == 1 ? "" : "es");
	if (count > 0 && follows->now.kind == RT_KIND_SYSTEM)
		add_own_limits(l, &follows->now, &follows->delta);
}

void live_draw(struct live *l, const struct follow *follows, size_t count)
{
	int64_t now = clock_now();

	if (l->fd < 0 || (l->is_drawn && now - l->drawn_ns < SHORTEST_PAUSE_NS))
		return;
	l->drawn_ns = now;
	text_clear(&l->line);
	add_figures(l, follows, count);
	if (l->command.len > 0)
		text_add(&l->line, l->command.data);
	if (may_draw(l))
		draw(l);
}

/* A row is drawn anew at once, since the output of the command may reach it. A line waits for the
 * next figures. */
void live_check(struct live *l)
{
	if (l->fd < 0)
		return;
	if (signals_stop_requested()) {
		hide(l, LONGEST_WRITE_MS);
		signals_stop();
	}
	if (!terminal_is_in_foreground(l->fd))
		hide(l, LONGEST_WRITE_MS);
	else if (l->has_row && may_draw(l) && !l->row.is_drawn)
		draw(l);
}

void live_clear(struct live *l)
{
	if (l->fd < 0)
		return;
	hide(l, -1);
	if (l->fd >= 0)
		close_terminal(l);
}

void live_free(struct live *l)
{
	live_clear(l);
	text_free(&l->line);
	text_free(&l->output);
	text_free(&l->command);
}
