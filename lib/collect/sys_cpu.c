/* SPDX-License-Identifier: MIT */
/* CPU time of the system by mode and by CPU, and its activity, from /proc/stat.
 *
 * The first line counts every CPU that ever was online. So that line is the total, and not the sum
 * of the others. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collector.h"
#include "collect/counter.h"
#include "collect/rows.h"
#include "util/arith.h"
#include "util/array.h"
#include "util/visit.h"

#define CORRECTION_MAX_NS UINT64_C(3000000000)
/* A kernel that counts at all has counted half of what passed by then: a clock tick is 10 ms. */
#define BELIEVED_AFTER_TICKS 10

enum mode { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, GUEST, GUEST_NICE, MODES };

/* A CPU that goes offline keeps its entry, and so its counters. */
struct cpu {
	uint32_t id;
	uint64_t round; /* the sample in which it was last online */
	bool is_reset;  /* a counter was, in that sample */
	struct rti_counter mode[MODES];
};

struct state {
	struct rti_proc_file file;
	struct rti_counter user, system, mode[MODES];
	struct rti_counter forks, context_switches, interrupts;
	struct cpu *cpu; /* invariant: sorted by id */
	size_t count, room;
	size_t next; /* where the next line's CPU is likely to be */
	uint64_t round;
	uint64_t whole_round; /* the last one that was read to its end; 0: none yet */
	uint64_t whole_online;
	uint64_t online; /* CPUs, in the last sample */
	uint64_t stayed; /* of them, those that were online in whole_round, too */
	uint64_t tick_ns, correction_max;
	/* What all modes had counted at a time of CLOCK_MONOTONIC, on so many CPUs; 0: never. */
	uint64_t counted, counted_at_ns, counted_on;
	bool is_believed; /* the kernel counts the modes */
	struct rti_rows rows;
};

static int cpu_open(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	(void)ctx;
	st->file = (struct rti_proc_file)RTI_PROC_FILE_INIT;
	return 0;
}

/* Move all modes on. The kernel counts guest time twice, as guest and within user or nice, so
 * subtract it there. Returns true if a counter was reset: see rti_counter_hold().
 *
 * has_switched: a CPU has gone offline or come back. The kernel shows the idle time of one that is
 * online by its exact clock, and else by ticks, which an idle CPU does without (Linux,
 * fs/proc/stat.c, get_idle_time()). So a fall is the same as a jump of hours: neither counts. */
static bool hold_modes(struct rti_counter *mode, const struct rti_cpu_ticks *ticks,
                       uint64_t correction_max, bool has_switched)
{
	const uint64_t now[MODES] = {
		[USER] = rti_subtract_saturated(ticks->user, ticks->guest),
		[NICE] = rti_subtract_saturated(ticks->nice, ticks->guest_nice),
		[SYSTEM] = ticks->system,
		[IDLE] = ticks->idle,
		[IOWAIT] = ticks->iowait,
		[IRQ] = ticks->irq,
		[SOFTIRQ] = ticks->softirq,
		[STEAL] = ticks->steal,
		[GUEST] = ticks->guest,
		[GUEST_NICE] = ticks->guest_nice,
	};
	bool is_reset = has_switched;

	if (has_switched) {
		mode[IDLE].last = now[IDLE];
		mode[IOWAIT].last = now[IOWAIT];
	}
	for (int i = 0; i < MODES; i++)
		is_reset |= rti_counter_hold(&mode[i], now[i], correction_max);
	return is_reset;
}

/* Returns the CPU, which is added if it is new, or NULL if memory is short. */
static struct cpu *find_cpu(struct state *st, uint32_t id)
{
	size_t at = st->next < st->count && st->cpu[st->next].id <= id ? st->next : 0;
	struct cpu *cpu;

	while (at < st->count && st->cpu[at].id < id)
		at++;
	st->next = at + 1;
	if (at < st->count && st->cpu[at].id == id)
		return &st->cpu[at];
	cpu = rti_array_grow(st->cpu, &st->room, st->count + 1, sizeof(*cpu));
	if (!cpu)
		return NULL;
	st->cpu = cpu;
	memmove(&st->cpu[at + 1], &st->cpu[at], (st->count - at) * sizeof(*st->cpu));
	st->cpu[at] = (struct cpu){ .id = id };
	st->count++;
	return &st->cpu[at];
}

static int update_cpu(void *arg, uint32_t id, const struct rti_cpu_ticks *ticks)
{
	struct state *st = arg;
	struct cpu *cpu = find_cpu(st, id);
	bool has_stayed;

	if (!cpu)
		return -ENOMEM;
	has_stayed = st->whole_round && cpu->round == st->whole_round;
	cpu->is_reset = hold_modes(cpu->mode, ticks, st->correction_max, cpu->round && !has_stayed);
	cpu->round = st->round;
	st->online++;
	st->stayed += has_stayed;
	return RTI_CONTINUE;
}

/* In ns, or as much as fits. E.g.: 4096 CPUs count 584 years in 52 days. */
static uint64_t ns_of(const struct rti_counter *ticks, uint64_t tick_ns)
{
	return rti_multiply_saturated(ticks->total, tick_ns);
}

static void fill_rows(struct state *st)
{
	struct rt_cpu *row = st->rows.data;
	uint64_t tick_ns = st->tick_ns;

	for (size_t i = 0; i < st->count; i++) {
		const struct rti_counter *mode = st->cpu[i].mode;

		if (st->cpu[i].round != st->round)
			continue;
		row[st->rows.count++] = (struct rt_cpu){
			.size = sizeof(*row),
			.id = st->cpu[i].id,
			.user_ns = ns_of(&mode[USER], tick_ns),
			.nice_ns = ns_of(&mode[NICE], tick_ns),
			.system_ns = ns_of(&mode[SYSTEM], tick_ns),
			.idle_ns = ns_of(&mode[IDLE], tick_ns),
			.iowait_ns = ns_of(&mode[IOWAIT], tick_ns),
			.irq_ns = ns_of(&mode[IRQ], tick_ns),
			.softirq_ns = ns_of(&mode[SOFTIRQ], tick_ns),
			.steal_ns = ns_of(&mode[STEAL], tick_ns),
			.guest_ns = ns_of(&mode[GUEST], tick_ns),
			.guest_nice_ns = ns_of(&mode[GUEST_NICE], tick_ns),
			.valid = st->is_believed && !st->cpu[i].is_reset ? RT_HAS_CPU_MODES : 0,
			.partial = st->is_believed && st->cpu[i].is_reset ? RT_HAS_CPU_MODES : 0,
		};
	}
}

/* The set_ functions return the RT_HAS_ bit of what they set, or 0 if a counter was reset. */
static uint64_t set_total(struct state *st, const struct rti_cpu_ticks *ticks, uint64_t tick_ns,
                          struct rt_metrics *out)
{
	bool is_reset = rti_counter_hold(&st->user, ticks->user + ticks->nice, st->correction_max);

	is_reset |= rti_counter_hold(&st->system, ticks->system + ticks->irq + ticks->softirq,
	                             st->correction_max);
	out->cpu_user_ns = ns_of(&st->user, tick_ns);
	out->cpu_system_ns = ns_of(&st->system, tick_ns);
	out->cpu_resolution_ns = tick_ns;
	out->rusage.ru_utime = (double)out->cpu_user_ns / 1e9;
	out->rusage.ru_stime = (double)out->cpu_system_ns / 1e9;
	if (is_reset || out->cpu_user_ns == UINT64_MAX || out->cpu_system_ns == UINT64_MAX)
		return 0;
	return RT_HAS_CPU;
}

static uint64_t set_modes(struct state *st, const struct rti_cpu_ticks *ticks, uint64_t tick_ns,
                          bool has_switched, struct rt_metrics *out)
{
	bool is_reset = hold_modes(st->mode, ticks, st->correction_max, has_switched);

	out->cpu_mode_user_ns = ns_of(&st->mode[USER], tick_ns);
	out->cpu_mode_nice_ns = ns_of(&st->mode[NICE], tick_ns);
	out->cpu_mode_system_ns = ns_of(&st->mode[SYSTEM], tick_ns);
	out->cpu_mode_idle_ns = ns_of(&st->mode[IDLE], tick_ns);
	out->cpu_mode_iowait_ns = ns_of(&st->mode[IOWAIT], tick_ns);
	out->cpu_mode_irq_ns = ns_of(&st->mode[IRQ], tick_ns);
	out->cpu_mode_softirq_ns = ns_of(&st->mode[SOFTIRQ], tick_ns);
	out->cpu_mode_steal_ns = ns_of(&st->mode[STEAL], tick_ns);
	out->cpu_mode_guest_ns = ns_of(&st->mode[GUEST], tick_ns);
	out->cpu_mode_guest_nice_ns = ns_of(&st->mode[GUEST_NICE], tick_ns);
	out->cpus_online = st->online;
	for (int i = 0; i < MODES; i++)
		is_reset |= ns_of(&st->mode[i], tick_ns) == UINT64_MAX;
	return is_reset ? 0 : RT_HAS_CPU_MODES;
}

static uint64_t set_activity(struct state *st, const struct rti_stat *stat, struct rt_metrics *out)
{
	bool is_reset = rti_counter_hold_sum(&st->forks, stat->forks);

	is_reset |= rti_counter_hold_sum(&st->context_switches, stat->context_switches);
	is_reset |= rti_counter_hold_sum(&st->interrupts, stat->interrupts);
	/* This thread runs, and was forked. */
	is_reset |= stat->forks == 0 || stat->context_switches == 0 || stat->interrupts == 0 ||
	            stat->procs_running == 0;
	out->processes_running = stat->procs_running;
	out->processes_blocked = stat->procs_blocked;
	out->forks = st->forks.total;
	out->context_switches = st->context_switches.total;
	out->interrupts = st->interrupts.total;
	return is_reset ? 0 : RT_HAS_ACTIVITY;
}

/* Emulated kernels have a file of zeros, or of numbers that stand still. A CPU was idle or busy all
 * the time, so what all modes have counted grows by the time that has passed, on each CPU. Below
 * another root the file may be a copy. */
static bool is_counting(struct state *st, const struct rti_context *ctx,
                        const struct rti_cpu_ticks *ticks, uint64_t now_ns)
{
	uint64_t counted = ticks->user + ticks->nice + ticks->system + ticks->idle + ticks->iowait +
	                   ticks->irq + ticks->softirq + ticks->steal;
	uint64_t passed = (now_ns - st->counted_at_ns) / st->tick_ns;
	uint64_t least = passed * rti_min(st->online, st->counted_on) / 2;
	bool has_grown = true;

	if (ctx->procfs->is_foreign || counted == 0)
		return counted > 0;
	if (st->counted_at_ns && passed < BELIEVED_AFTER_TICKS)
		return st->is_believed;
	/* A fall is for rti_counter_hold() to judge. */
	if (st->counted_at_ns && counted >= st->counted)
		has_grown = counted - st->counted >= least;
	st->counted = counted;
	st->counted_at_ns = now_ns;
	st->counted_on = st->online;
	return has_grown;
}

static int cpu_collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct state *st = state;
	uint64_t tick_ns = ctx->platform->tick_ns, measured = 0, complete = 0;
	bool has_switched;
	struct rti_stat stat;
	int err;

	st->rows.count = 0;
	st->rows.is_due = false;
	st->tick_ns = tick_ns;
	st->correction_max = CORRECTION_MAX_NS / tick_ns;
	st->online = st->stayed = 0;
	st->next = 0;
	st->round++;
	err =
	    rti_procfs_read_proc_file(ctx->procfs, "stat", RTI_SINGLE_RECORD, &st->file, ctx->buf);
	if (err == 0)
		err = rti_parse_stat(ctx->buf->data, ctx->buf->len, &stat, update_cpu, st);
	if (err == 0)
		err = rti_rows_reserve(&st->rows, st->count, sizeof(struct rt_cpu));
	if (err < 0)
		return err;
	st->rows.is_due = true;
	has_switched =
	    st->whole_round && (st->stayed < st->online || st->stayed < st->whole_online);
	st->whole_round = st->round;
	st->whole_online = st->online;
	st->is_believed = is_counting(st, ctx, &stat.total, out->monotonic_ns);
	if (st->is_believed) {
		measured = RT_HAS_CPU | RT_HAS_CPU_MODES;
		complete = set_total(st, &stat.total, tick_ns, out) |
		           set_modes(st, &stat.total, tick_ns, has_switched, out);
	}
	if (stat.has_procs && (stat.forks | stat.context_switches | stat.interrupts)) {
		measured |= RT_HAS_ACTIVITY;
		complete |= set_activity(st, &stat, out);
	}
	out->valid |= complete;
	out->partial |= measured & ~complete;
	if (!st->is_believed)
		return -EOPNOTSUPP;
	return complete == (RT_HAS_CPU | RT_HAS_CPU_MODES | RT_HAS_ACTIVITY) ? 0 : -EBADMSG;
}

static void cpu_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	rti_procfs_close_file(ctx->procfs, &st->file.file);
	rti_rows_free(&st->rows);
	free(st->cpu);
}

static const void *cpu_rows(void *state, size_t *count)
{
	struct state *st = state;

	if (st->rows.is_due)
		fill_rows(st);
	st->rows.is_due = false;
	return rti_rows_get(&st->rows, count);
}

const struct rti_sys_collector rti_sys_cpu = {
	.provides = RT_HAS_CPU | RT_HAS_CPU_MODES | RT_HAS_ACTIVITY,
	.files = { "stat" },
	.state_size = sizeof(struct state),
	.open = cpu_open,
	.collect = cpu_collect,
	.close = cpu_close,
	.rows = cpu_rows,
};
