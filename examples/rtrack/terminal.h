/* SPDX-License-Identifier: MIT */
/* What the place that text goes to can show. */
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

/* The locale's character set must have been set. */
void terminal_init(struct terminal *t, int fd, enum when color);

/* Columns, now. */
int terminal_width(const struct terminal *t);

#endif
