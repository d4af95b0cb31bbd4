/* SPDX-License-Identifier: MIT */
/* A line on the terminal that is updated in place. */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>

#include "follow.h"
#include "series.h"
#include "terminal.h"
#include "text.h"

struct live {
	struct terminal terminal;
	bool is_on, is_drawn;
	int64_t drawn_ns, start_ns;
	struct text text;
};

void live_init(struct live *l, const struct options *options, const struct series *series,
               int64_t start_ns);

/* Show the last samples of these trackers, added up. */
void live_draw(struct live *l, const struct follow *follows, size_t count);

/* Remove the line from the terminal. */
void live_clear(struct live *l);

void live_free(struct live *l);

#endif
