/* SPDX-License-Identifier: MIT */
/* The processes that used most CPU time and memory, with their command lines. */
#ifndef TOP_PROCESSES_H
#define TOP_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

#include "text/units.h"

/* Shortest time between two looks. */
#define TOP_LOOK_NS (NS_PER_S / 10)

enum {
	TOP_COUNT = 3,
	TOP_REMEMBERED = 64,
	TOP_COMMAND_BYTES = 512,
};

struct top_process {
	int32_t pid;
	uint64_t start_realtime_ns;
	bool has_cpu, has_memory;
	bool is_cpu_final, is_memory_final; /* false: as of the last sample that saw it */
	bool is_cpu_estimated;              /* it may be above or below the truth */
	uint64_t cpu_ns, peak_rss_bytes;
	uint64_t first_cpu_ns, least_cpu_ns; /* when seen first, and last without estimates */
	uint64_t seen_at_ns, command_at_ns;  /* monotonic time of the last sample, and of command */
	char name[64];                       /* as in rt_process.comm */
	char command[TOP_COMMAND_BYTES];     /* words with spaces between them; may hold any byte */
};

struct top_list {
	struct top_process process[TOP_COUNT];
	size_t count;
};

struct top_processes {
	int64_t next_look_ns; /* when the next look is due, on the clock of clock_now() */
	struct top_list by_cpu, by_memory; /* the result */
	/* What samples saw. A process that is among the top at the end was among those of its last
	 * sample, so it is remembered. */
	struct top_process seen[TOP_REMEMBERED];
	size_t seen_count;
	struct top_base *base; /* CPU time before rtrack attached, ordered by pid */
	size_t base_count;
	struct rt_process *rows; /* kept between samples */
	size_t room;
};

/* Note how much CPU time the members have used already, which does not count. */
void top_processes_set_base(struct top_processes *top, const struct rt_tracker *tracker);

/* Look at the members of the last sample, if it is time for it. Reads the command lines of those
 * that used most. The next look comes after what keeps the cost below half a percent of one CPU. */
void top_processes_look(struct top_processes *top, const struct rt_tracker *tracker,
                        const struct rt_metrics *now);

/* The same, with a sample for it: between two rows, since processes may live shorter. Returns the
 * error of that sample; 0 if it was not time for it. */
int top_processes_sample(struct top_processes *top, struct rt_tracker *tracker);

/* Returns how much CPU time samples saw the remembered processes use: a lower bound for a cgroup.
 * What one has used before it was seen may have been elsewhere. */
uint64_t top_processes_seen_cpu(const struct top_processes *top);

/* Rank what samples saw. */
void top_processes_rank(struct top_processes *top);

/* Rank the processes of a command by its own list, if it was started with one. Processes that no
 * sample saw have their names only. Returns 0 or a negative errno value. */
int top_processes_rank_list(struct top_processes *top, struct rt_command *command);

/* Set the result for a command that is a single process. */
void top_processes_set_single(struct top_processes *top, const struct top_process *process);

/* Fill command from the words of a command line. */
void top_process_set_command(struct top_process *process, const char *const *argv);

void top_processes_free(struct top_processes *top);

#endif
