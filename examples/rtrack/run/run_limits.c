/* SPDX-License-Identifier: MIT */
/* The limits of a command: finds out which one is passed first, and by what.
 *
 * The limit of memory is for what the tree needs: its footprint without files, and its swap. An
 * estimate ends nothing. If one is above the limit, all that it rests on is read, and then the
 * lower bound decides. E.g.: eight children share the 300 MiB of their parent; until that is read,
 * it is not known whether they have copied it. */
#include "run_limits.h"

#include <errno.h>
#include <stdio.h>

#include "follow/clock.h"
#include "follow/figures.h"
#include "own_cgroup.h"
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

static void set_reason(struct limits *l, enum limit limit, uint64_t value, const char *is_at_least)
{
	const struct options *o = l->options;

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

static void pass(struct limits *l, enum limit limit, uint64_t value, const char *is_at_least)
{
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
	set_reason(l, limit, value, is_at_least);
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

/* Take a sample that reads all memory, unless that was done a moment ago. Returns whether it
 * has. */
static bool read_memory(struct limits *l, bool is_in_doubt, struct rt_metrics *now)
{
	int64_t pause_ns =
	    l->read_cost_ns * (is_in_doubt ? READ_DOUBT_COST_FACTOR : READ_COST_FACTOR);
	int err;

	if (clock_now() - l->read_at_ns < pause_ns)
		return false;
	l->read_cost_ns = clock_cpu();
	rt_tracker_read_memory(l->tracker);
	err = rt_sample(l->tracker, now, sizeof(*now));
	l->read_cost_ns = clock_cpu() - l->read_cost_ns;
	l->read_at_ns = clock_now();
	return err == 0;
}

static uint64_t swap_of(const struct rt_metrics *now)
{
	return now->valid & RT_HAS_TREE_SWAP ? now->swap_bytes : 0;
}

/* What is needed, by what was read just now: the figure if it is exact, else its lower bound. */
static void judge_memory(struct limits *l, const struct rt_metrics *now, uint64_t limit)
{
	bool is_exact = now->valid & RT_HAS_NEEDED;
	uint64_t bytes = swap_of(now) + (is_exact ? now->needed_bytes : now->needed_low_bytes);

	if (bytes > limit)
		pass(l, LIMIT_MEMORY, bytes, is_exact ? "" : "at least ");
	else
		l->was_memory_freed = true;
	if (bytes <= limit && swap_of(now) + now->needed_bytes > limit)
		warn_of_unknown(l, LIMIT_MEMORY, RT_HAS_NEEDED);
}

static void check_memory(struct limits *l, const struct rt_metrics *now)
{
	uint64_t limit = bound_of(l, LIMIT_MEMORY, l->options->max_memory_bytes),
		 swap = swap_of(now);
	bool is_in_doubt = now->needed_bytes + swap <= limit;
	struct rt_metrics read;

	if (limit == 0)
		return;
	if (!is_known(metrics_marks(now), RT_HAS_NEEDED))
		warn_of_unknown(l, LIMIT_MEMORY, RT_HAS_NEEDED);
	else if ((!is_in_doubt || now->needed_high_bytes > limit - (swap < limit ? swap : limit)) &&
	         read_memory(l, is_in_doubt, &read))
		judge_memory(l, &read, limit);
}

/* The kernel holds the limit of the cgroup by killing a process. */
static bool pass_by_kill(struct limits *l, const struct rt_metrics *m)
{
	if (!l->options->hard_memory || l->passed || m->cgroup_oom_kills == 0 ||
	    !is_known(metrics_marks(m), RT_HAS_CGROUP_OOM_KILLS))
		return false;
	pass(l, LIMIT_MEMORY, 0, ""); /* how much it was at that time is not known */
	snprintf(l->reason, sizeof(l->reason),
	         "memory passed --max-memory %.60s: killed by the kernel (--hard-memory)",
	         l->options->limit_words.memory);
	return true;
}

/* The anonymous and shared memory of the cgroup. It costs one file, however many processes there
 * are, and has the files of tmpfs that no process maps, too. Only smaps shows which pages were
 * freed lazily: those do not count. */
static void check_account(struct limits *l)
{
	uint64_t limit = bound_of(l, LIMIT_MEMORY, l->options->max_memory_bytes), bytes, lazy;
	struct rt_metrics m, read;

	l->next_account_ns = clock_now() + LOOK_NS;
	if (rt_sample(l->account, &m, sizeof(m)) < 0 || !(m.valid & RT_HAS_CGROUP_MEMORY))
		return;
	if (pass_by_kill(l, &m))
		return;
	bytes = m.cgroup_memory_anon_bytes + m.cgroup_memory_shmem_bytes;
	if (bytes <= limit || !read_memory(l, false, &read))
		return;
	/* What could not be read may have been freed, too. E.g.: the command exits. */
	lazy = read.footprint_bytes - read.footprint_file_bytes -
	       (read.valid & RT_HAS_NEEDED ? read.needed_bytes : read.needed_low_bytes);
	if (bytes - (lazy < bytes ? lazy : bytes) > limit)
		pass(l, LIMIT_MEMORY, bytes - lazy, "at least ");
	else
		l->was_memory_freed = true;
}

void limits_note_end(struct limits *l)
{
	struct rt_metrics m;

	if (l->account && rt_sample(l->account, &m, sizeof(m)) == 0)
		pass_by_kill(l, &m);
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

/* Between two looks, or at the very end, a limit may have been passed unseen. What is certain of
 * the final figures shows that. E.g.: a child takes 60 MiB and exits 5 ms later. */
static enum limit find_late(const struct limits *l, const struct usage *u, uint64_t *value)
{
	const struct options *o = l->options;
	uint64_t cpu = (u->marks.valid | u->marks.partial) & RT_HAS_CPU ? u->cpu_ns : 0,
		 processes = u->marks.valid & RT_HAS_PROCESSES_PEAK ? u->processes_peak : 0;

	/* What is not read counts as needed, though it may have been freed lazily. */
	*value = u->peak_needed_low_bytes;
	if (o->max_memory_bytes && !l->was_memory_freed && *value > o->max_memory_bytes)
		return LIMIT_MEMORY;
	*value = cpu;
	if (o->max_cpu_ns && *value > (uint64_t)o->max_cpu_ns)
		return LIMIT_CPU_TIME;
	*value = processes;
	return o->max_processes && *value > o->max_processes ? LIMIT_PROCESSES : LIMIT_NONE;
}

static void set_late(struct limits *l, struct usage *usage)
{
	uint64_t value;

	l->late = find_late(l, usage, &value);
	if (l->late == LIMIT_NONE)
		return;
	set_reason(l, l->late, value, l->late == LIMIT_MEMORY ? "at least " : "");
	usage->limit_passed_late = names[l->late];
	usage->limit_late_reason = l->reason;
}

void limits_set_usage(struct limits *l, struct usage *usage)
{
	const struct options *o = l->options;

	usage->limit_timeout_ns = (uint64_t)o->timeout_ns;
	usage->limit_max_memory_bytes = o->max_memory_bytes;
	usage->limit_max_cpu_ns = (uint64_t)o->max_cpu_ns;
	usage->limit_max_processes = o->max_processes;
	if (l->passed == LIMIT_NONE) {
		set_late(l, usage);
		return;
	}
	usage->timed_out = l->passed == LIMIT_TIMEOUT;
	usage->limit_passed = names[l->passed];
	usage->limit_reason = l->reason;
	usage->limit_wall_ns = l->passed == LIMIT_TIMEOUT ? l->value : 0;
	usage->limit_memory_bytes = l->passed == LIMIT_MEMORY ? l->value : 0;
	usage->limit_cpu_ns = l->passed == LIMIT_CPU_TIME ? l->value : 0;
	usage->limit_processes = l->passed == LIMIT_PROCESSES ? l->value : 0;
}
