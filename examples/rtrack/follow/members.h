/* SPDX-License-Identifier: MIT */
/* The processes of a tree or a cgroup as rows of a series: each one beside its row before. */
#ifndef MEMBERS_H
#define MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

/* One process in the last sample. */
struct member {
	const struct rt_process *now;
	/* What its counters count from: its row before, or zeros if it has begun since. NULL: they
	 * are not known. E.g.: it was moved into the cgroup. */
	const struct rt_process *base;
	uint64_t start_realtime_ns;
	const char *command; /* words with spaces between them; NULL: unknown, or not asked for */
};

/* What is known of a process besides its row. */
struct member_notes {
	bool has_row; /* one was written */
	char *command;
	uint64_t command_at_ns, command_cpu_ns; /* when it was read, and the CPU time by then */
};

struct member_list {
	struct rt_process *rows;
	struct member_notes *notes; /* one for each row */
	size_t count, room;
};

struct member_place {
	int32_t pid;
	size_t index;
};

struct members {
	bool wants_commands; /* set by the caller */
	struct member_list now, before;
	struct member_place *order; /* of the rows before, by pid; made when it is needed */
	size_t order_room;
	bool is_ordered;
	size_t next; /* row before that is expected to be of the next process */
	uint64_t sampled_at_ns;
	uint64_t written;    /* processes with a row */
	uint64_t not_listed; /* most in any one sample, for lack of memory */
};

/* Take the list of the last sample, of which now has the times. */
void members_take(struct members *m, const struct rt_tracker *tracker,
                  const struct rt_metrics *now);

/* Get the process at an index below m->now.count, which gets a row: call it once for each, in this
 * order. A process that began after since_boottime_ns has not used anything before it. */
struct member members_at(struct members *m, size_t index, uint64_t since_boottime_ns);

void members_free(struct members *m);

#endif
