/* SPDX-License-Identifier: MIT */
/* A row at the bottom of a terminal, which the output of other programs cannot reach.
 *
 * The terminal scrolls only the rows above it (DECSTBM), and its size is one row less for all
 * programs (TIOCSWINSZ). E.g.: less(1) fills the screen but for the row. docs/notes/terminal.md has
 * the reasons. */
#ifndef STATUS_ROW_H
#define STATUS_ROW_H

#include <stdbool.h>
#include <sys/ioctl.h>

#include "text/text.h"

struct status_row {
	int fd; /* of the terminal */
	bool is_reserved, is_drawn;
	bool is_doubtful;      /* another program may have moved the cursor into the row */
	bool is_stale;         /* what was drawn may stand elsewhere since the last resize */
	struct winsize before; /* the size of the terminal */
	struct winsize given;  /* the size that is left to programs */
};

/* Returns true if the terminal can have such a row: if it is a pseudo-terminal of a kind that
 * knows the sequences. TIOCSWINSZ would resize the screen of a virtual console. */
bool status_row_is_possible(int fd, const char *terminal_name);

/* Take the last row, unless it is taken or the terminal has too few rows. A resize of the terminal
 * ends a reservation, so this takes the new last row then. */
void status_row_reserve(struct status_row *row);

/* Show a text of len bytes that is no wider than the terminal. The row must be reserved. Adds to
 * out what must be written to the terminal, in one call. */
void status_row_draw(struct status_row *row, const char *line, int len, struct text *out);

/* Give the row back, if it is reserved, and remove what was drawn. Adds to out likewise. */
void status_row_release(struct status_row *row, struct text *out);

#endif
