/* SPDX-License-Identifier: MIT */
/* The limits of a command: finds out which one is passed first, and by what.
 *
 * The memory of the tree may be an estimate. An estimate above the limit ends nothing: then the
 * memory of each process is read. E.g.: eight children share the 300 MiB of their parent; until
 * that is read, it is not known whether they have copied it. */
#include "run_limits.h"

#include <errno.h>
#include <stdio.h>

#include "follow/clock.h"
#include "follow/figures.h"
#include "own_cgroup.h"
#include "process/tree.h"
#include "text/message.h"
#include "text/units.h"

/* The time between two looks. If they would take more than 2 % of a CPU it is longer, up to 0.1 s,
 * and longer than that if they would take more than 10 %. */
#define LOOK_NS (NS_PER_S / 50)
#define LOOK_SLOW_NS (NS_PER_S / 10)
#define LOOK_COST_FACTOR 50
#define LOOK_COST_FACTOR_MIN 10
/* The same of reads of all memory: if the estimate is above the limit, and if only its upper bound
 * is. */
#define READ_COST_FACTOR 20
#define READ_DOUBT_COST_FACTOR 200

static const char *const names[] = {
	[LIMIT_TIMEOUT] = "timeout",
	[LIMIT_MEMORY] = "max-memory",
	[LIMIT_CPU_TIME] = "max-cpu-time",
	[LIMIT_PROCESSES] = "max-processes",
};

static bool has_figures(const struct options *o)
{
	return o->max_memory_bytes || o->max_cpu_ns || o->max_processes;
}

void limits_init(struct limits *l, const struct options *options, struct rt_command *command,
                 int64_t start_ns)
{
	bool has_timeout = options->timeout_ns > 0 && options->timeout_ns < NEVER - start_ns;
	struct rt_tracker *account = options->max_memory_bytes ? own_cgroup_memory(command) : NULL;

	*l = (struct limits){
		.options = options,
		.tracker = rt_command_tracker(command),
		.account = account,
		.next_account_ns = account ? start_ns + LOOK_NS : NEVER,
		.start_ns = start_ns,
		.timeout_at = has_timeout ? start_ns + options->timeout_ns : NEVER,
		.next_look_ns = has_figures(options) ? start_ns + LOOK_NS : NEVER,
		.pause_ns = LOOK_NS,
	};
}

void limits_free(struct limits *l)
{
	rt_tracker_free(l->account);
	l->account = NULL;
}

int64_t limits_due(const struct limits *l)
{
	int64_t due = l->timeout_at < l->next_look_ns ? l->timeout_at : l->next_look_ns;

	return due < l->next_account_ns ? due : l->next_account_ns;
}

static void pass(struct limits *l, enum limit limit, uint64_t value, const char *is_at_least)
{
	const struct options *o = l->options;

	if (l->passed) {
		l->is_far_above = true;
		l->next_look_ns = l->next_account_ns = NEVER;
		return;
	}
	l->passed = limit;
	l->value = value;
	l->timeout_at = NEVER;
	l->pause_ns = LOOK_NS;
	l->next_look_ns = l->next_look_ns == NEVER ? NEVER : clock_now() + LOOK_NS;
	switch (limit) {
	case LIMIT_TIMEOUT:
		snprintf(l->reason, sizeof(l->reason), "wall time %s passed --timeout %.60s",
		         human_time(value).s, o->limit_words.timeout);
		break;
	case LIMIT_MEMORY:
		snprintf(l->reason, sizeof(l->reason), "memory %s%s passed --max-memory %.60s",
		         is_at_least, human_bytes(value).s, o->limit_words.memory);
		break;
	case LIMIT_CPU_TIME:
		snprintf(l->reason, sizeof(l->reason), "CPU time %s%s passed --max-cpu-time %.60s",
		         is_at_least, human_time(value).s, o->limit_words.cpu_time);
		break;
	default:
		snprintf(l->reason, sizeof(l->reason),
		         "%s%s processes passed --max-processes %.60s", is_at_least,
		         human_count(value).s, o->limit_words.processes);
	}
}

/* Returns true once for each limit. */
static bool must_warn(struct limits *l, enum limit limit)
{
	bool is_first = !(l->warned_of & 1U << limit);

	l->warned_of |= 1U << limit;
	return is_first;
}

/* Say once why a limit may be passed unnoticed. */
static void warn_of_unknown(struct limits *l, enum limit limit, uint64_t bit)
{
	struct rt_obstacle obstacle = { .text = "" };

	if (!must_warn(l, limit))
		return;
	rt_tracker_obstacle(l->tracker, bit, &obstacle, sizeof(obstacle));
	warn("--%s may be passed unnoticed: %s", names[limit],
	     obstacle.text[0] ? obstacle.text : "the figure is unknown here");
}

/* The memory of a process that exits may be gone. So a process counts as unreadable the second
 * time. */
static void note_unread(struct limits *l, int32_t pid)
{
	bool is_again = pid != 0 && pid == l->unread_pid;

	l->unread_pid = pid;
	if (is_again && must_warn(l, LIMIT_MEMORY))
		warn("--max-memory may be passed unnoticed: the memory of process %d cannot be "
		     "read",
		     (int)pid);
}

static const char *at_least(const struct rt_metrics *now, uint64_t bit)
{
	return now->valid & bit ? "" : "at least ";
}

/* Returns the bound of a figure. Once a limit is passed, that is twice what has passed it, or twice
 * another limit. E.g.: a fork bomb, to which one SIGTERM means little. */
static uint64_t bound_of(const struct limits *l, enum limit limit, uint64_t bound)
{
	uint64_t passed_by = l->passed == limit ? l->value : bound;

	if (!l->passed)
		return bound;
	return passed_by > UINT64_MAX / 2 ? UINT64_MAX : 2 * passed_by;
}

static void check_cpu(struct limits *l, const struct rt_metrics *now)
{
	uint64_t limit_ns = (uint64_t)l->options->max_cpu_ns;
	uint64_t used_ns = now->cpu_user_ns + now->cpu_system_ns;

	if (limit_ns == 0 || l->passed)
		return;
	if (!is_known(metrics_marks(now), RT_HAS_CPU))
		warn_of_unknown(l, LIMIT_CPU_TIME, RT_HAS_CPU);
	else if (used_ns > limit_ns)
		pass(l, LIMIT_CPU_TIME, used_ns, at_least(now, RT_HAS_CPU));
}

static void check_processes(struct limits *l, const struct rt_metrics *now)
{
	uint64_t limit = bound_of(l, LIMIT_PROCESSES, l->options->max_processes);

	if (limit == 0)
		return;
	if (!is_known(metrics_marks(now), RT_HAS_PROCESSES))
		warn_of_unknown(l, LIMIT_PROCESSES, RT_HAS_PROCESSES);
	else if (now->processes > limit)
		pass(l, LIMIT_PROCESSES, now->processes, at_least(now, RT_HAS_PROCESSES));
}

/* Read the memory of all processes, unless that was done a moment ago. */
static void confirm_memory(struct limits *l, uint64_t limit, bool is_in_doubt)
{
	int64_t pause_ns =
	    l->read_cost_ns * (is_in_doubt ? READ_DOUBT_COST_FACTOR : READ_COST_FACTOR);
	struct tree_memory memory;

	if (clock_now() - l->read_at_ns < pause_ns)
		return;
	l->read_cost_ns = clock_cpu();
	tree_read_memory(l->tracker, &memory);
	l->read_cost_ns = clock_cpu() - l->read_cost_ns;
	l->read_at_ns = clock_now();
	if (memory.pss_bytes > limit)
		pass(l, LIMIT_MEMORY, memory.pss_bytes, memory.unread_pid ? "at least " : "");
	else if (!is_in_doubt)
		note_unread(l, memory.unread_pid);
}

/* A sum that this sample has read is right; else the lower bound is sure, and an estimate needs a
 * read. */
static void check_memory(struct limits *l, const struct rt_metrics *now)
{
	uint64_t limit = bound_of(l, LIMIT_MEMORY, l->options->max_memory_bytes);
	bool is_read = now->valid & RT_HAS_PSS && now->pss_source == RT_PSS_READ;

	if (limit == 0)
		return;
	if (!is_known(metrics_marks(now), RT_HAS_PSS))
		warn_of_unknown(l, LIMIT_MEMORY, RT_HAS_PSS);
	else if (now->pss_bytes > limit && (is_read || now->partial & RT_HAS_PSS))
		pass(l, LIMIT_MEMORY, now->pss_bytes, at_least(now, RT_HAS_PSS));
	else if (!(now->valid & RT_HAS_PSS) && now->pss_low_bytes > limit)
		pass(l, LIMIT_MEMORY, now->pss_low_bytes, "at least ");
	else if (now->pss_bytes > limit)
		confirm_memory(l, limit, false);
	else if (now->estimated & RT_HAS_PSS && now->pss_high_bytes > limit)
		confirm_memory(l, limit, true);
}

/* The anonymous and shared memory of the cgroup: what the tree holds without its mapped files. It
 * costs one file, however many processes there are, and is less than their PSS, or a little more:
 * it has the files of tmpfs that no process maps. */
static void check_account(struct limits *l)
{
	uint64_t limit = bound_of(l, LIMIT_MEMORY, l->options->max_memory_bytes), bytes;
	struct rt_metrics m;

	l->next_account_ns = clock_now() + LOOK_NS;
	if (rt_sample(l->account, &m, sizeof(m)) < 0 || !(m.valid & RT_HAS_CGROUP_MEMORY))
		return;
	bytes = m.cgroup_memory_anon_bytes + m.cgroup_memory_shmem_bytes;
	if (bytes > limit)
		pass(l, LIMIT_MEMORY, bytes, "at least ");
}

void limits_check(struct limits *l, const struct rt_metrics *now)
{
	if (l->next_look_ns == NEVER)
		return;
	l->next_look_ns = clock_now() + l->pause_ns;
	check_memory(l, now);
	check_cpu(l, now);
	check_processes(l, now);
}

/* is_urgent: the tree grows, or has passed a limit. */
static int64_t pause_after(int64_t cost_ns, bool is_urgent)
{
	int64_t pause_ns = cost_ns * LOOK_COST_FACTOR, least_ns = cost_ns * LOOK_COST_FACTOR_MIN;

	pause_ns = pause_ns < LOOK_SLOW_NS ? pause_ns : LOOK_SLOW_NS;
	if (is_urgent || pause_ns < least_ns)
		pause_ns = least_ns;
	return pause_ns > LOOK_NS ? pause_ns : LOOK_NS;
}

static void look(struct limits *l)
{
	int64_t cost_ns = clock_cpu();
	struct rt_metrics now = { 0 };
	int err = rt_sample(l->tracker, &now, sizeof(now));
	bool is_urgent;

	is_urgent = l->passed || (l->options->max_processes && now.processes > l->processes);
	l->processes = now.processes;
	l->pause_ns = pause_after(clock_cpu() - cost_ns, is_urgent);
	if (err == 0) {
		limits_check(l, &now);
		return;
	}
	l->next_look_ns = clock_now() + l->pause_ns;
	if (err != -ESRCH && must_warn(l, LIMIT_NONE))
		warn("limits may be passed unnoticed: cannot take a sample: %s", rt_strerror(err));
}

void limits_look(struct limits *l)
{
	int64_t now = clock_now();

	if (now >= l->timeout_at)
		pass(l, LIMIT_TIMEOUT, (uint64_t)(now - l->start_ns), "");
	if (now >= l->next_account_ns)
		check_account(l);
	if (now >= l->next_look_ns)
		look(l);
}

void limits_set_usage(const struct limits *l, struct usage *usage)
{
	const struct options *o = l->options;

	usage->limit_timeout_ns = (uint64_t)o->timeout_ns;
	usage->limit_max_memory_bytes = o->max_memory_bytes;
	usage->limit_max_cpu_ns = (uint64_t)o->max_cpu_ns;
	usage->limit_max_processes = o->max_processes;
	if (l->passed == LIMIT_NONE)
		return;
	usage->timed_out = l->passed == LIMIT_TIMEOUT;
	usage->limit_passed = names[l->passed];
	usage->limit_reason = l->reason;
	usage->limit_wall_ns = l->passed == LIMIT_TIMEOUT ? l->value : 0;
	usage->limit_memory_bytes = l->passed == LIMIT_MEMORY ? l->value : 0;
	usage->limit_cpu_ns = l->passed == LIMIT_CPU_TIME ? l->value : 0;
	usage->limit_processes = l->passed == LIMIT_PROCESSES ? l->value : 0;
}
