/* SPDX-License-Identifier: MIT */
/* What an output can show: colour, UTF-8, columns. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

#include "options.h"

struct terminal {
	int fd;
	bool is_terminal;
	bool has_color;
	bool has_utf8;
};

/* Call setlocale() for LC_CTYPE first. */
void terminal_init(struct terminal *t, int fd, enum when color);

/* Returns the current number of columns, or 80 if it is unknown. */
int terminal_width(const struct terminal *t);

#endif
