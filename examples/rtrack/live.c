/* SPDX-License-Identifier: MIT */
/* A line on the terminal that is updated in place. */
#include "live.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "figures.h"
#include "units.h"

#define SHORTEST_PAUSE_NS (NS_PER_S / 20)

/* Returns true if the line must be shown. By default it is not shown if the rows go to a terminal
 * too, because it would appear between them. */
static bool is_wanted(const struct live *l, enum when when, const struct series *series)
{
	const char *name = getenv("TERM");

	if (!l->terminal.is_terminal || when == WHEN_NEVER)
		return false;
	if (when == WHEN_ALWAYS)
		return true;
	if (series->out.fd >= 0 && isatty(series->out.fd))
		return false;
	return !(name && strcmp(name, "dumb") == 0);
}

void live_init(struct live *l, const struct options *options, const struct series *series,
               int64_t start_ns)
{
	*l = (struct live){ .start_ns = start_ns };
	terminal_init(&l->terminal, STDERR_FILENO, options->color);
	l->is_on = is_wanted(l, options->live, series);
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
	text_printf(&l->text, "%s   %.2f cores   %s   %" PRIu64 " process%s",
	            human_time((uint64_t)(clock_now() - l->start_ns)).s, cores,
	            human_bytes(memory).s, processes, processes == 1 ? "" : "es");
}

/* The line is ASCII, so one byte is one column. Its length includes the leading carriage return, so
 * the text is one column shorter than the terminal: some terminals wrap at the last column. The
 * cursor stays behind the text, so output of the command does not overwrite it. */
void live_draw(struct live *l, const struct follow *follows, size_t count)
{
	size_t width, written;
	int64_t now = clock_now();

	if (!l->is_on || (l->is_drawn && now - l->drawn_ns < SHORTEST_PAUSE_NS))
		return;
	text_clear(&l->text);
	text_add(&l->text, "\r");
	add_figures(l, follows, count);
	width = (size_t)terminal_width(&l->terminal);
	if (l->text.len > width)
		l->text.len = width;
	text_add(&l->text, "\033[K");
	l->is_on = write_all(l->terminal.fd, l->text.data, l->text.len, &written) == 0;
	l->is_drawn = true;
	l->drawn_ns = now;
}

void live_clear(struct live *l)
{
	size_t written;

	if (l->is_drawn)
		write_all(l->terminal.fd, "\r\033[K", 4, &written);
	l->is_drawn = false;
}

void live_free(struct live *l)
{
	text_free(&l->text);
}
