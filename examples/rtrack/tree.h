/* SPDX-License-Identifier: MIT */
/* The processes of a tree, one by one. */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

/* Send a signal to all members that live now. */
void tree_signal(struct rt_tracker *tracker, int signal);

/* Whether no member lives: those that are left only wait to be reaped. */
bool tree_has_ended(const struct rt_tracker *tracker);

#endif
