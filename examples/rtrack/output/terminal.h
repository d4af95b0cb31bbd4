/* SPDX-License-Identifier: MIT */
/* What an output can show: colour, UTF-8, columns. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

#include "options/options.h"

struct terminal {
	int fd;
	bool is_terminal;
	bool is_dumb;
	bool has_color;
};

void terminal_init(struct terminal *t, int fd, enum when color);

/* Returns true if characters that are not ASCII may be written. */
bool terminal_has_utf8(const struct terminal *t);

/* Returns the current number of columns of a terminal, or 80 if it is unknown. */
int terminal_columns(int fd);

/* Open the controlling terminal. It is an open file of our own, so that O_NONBLOCK is not set for
 * the command too. E.g.: after Ctrl-S, a write would wait. Returns the descriptor, or -1. */
int terminal_open(void);

/* Returns true if our process group is in the foreground of this terminal. */
bool terminal_is_in_foreground(int fd);

/* Returns true if the terminal collects lines. Full-screen programs switch that off (ICANON). */
bool terminal_is_cooked(int fd);

/* Returns TERM, or NULL if it names no terminal in which the cursor can be moved. */
const char *terminal_name(void);

#endif
