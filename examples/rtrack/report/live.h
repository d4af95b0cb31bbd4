/* SPDX-License-Identifier: MIT */
/* The live line: figures on the terminal that are updated in place.
 *
 * attach and system show it where the cursor is: they alone write there. run shows it in a row that
 * the output of the command cannot reach, see status_row.h. In the background, nothing is drawn. */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>

#include "follow/follow.h"
#include "series/series.h"
#include "status_row.h"
#include "text/text.h"

struct live {
	int fd; /* the controlling terminal; -1: nothing is drawn */
	bool has_row, has_utf8;
	bool is_drawn;
	int64_t drawn_ns, start_ns;
	struct status_row row;
	struct text line;    /* the last figures */
	struct text output;  /* what is to be written, or what the terminal has not taken yet */
	struct text command; /* the words of the command */
};

/* Returns true if the line is to be shown, should there be a terminal for it. */
bool live_is_wanted(const struct options *options, const struct series *series);

/* Nothing must be running that could write to the terminal: the row is reserved. */
void live_init(struct live *l, const struct options *options, const struct series *series,
               int64_t start_ns);

/* Returns true if signals_watch_terminal() and live_check() are needed. */
bool live_is_on(const struct live *l);

/* Show the last samples of these trackers, added up. */
void live_draw(struct live *l, const struct follow *follows, size_t count);

/* React to what has happened to the terminal: a resize, Ctrl-Z, another process group in the
 * foreground. Call it after signals and several times a second. */
void live_check(struct live *l);

/* Remove the line from the terminal for good. */
void live_clear(struct live *l);

void live_free(struct live *l);

#endif
