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

enum mode { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, GUEST, GUEST_NICE, MODES };

/* A CPU that goes offline keeps its entry, and so its counters. */
struct cpu {
	uint32_t id;
	uint64_t round; /* the sample in which it was last online */
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
	uint64_t online; /* CPUs, in the last sample */
	uint64_t tick_ns;
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
 * subtract it there. Returns true if a counter was reset: see rti_counter_hold(). */
static bool hold_modes(struct rti_counter *mode, const struct rti_cpu_ticks *ticks)
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
	bool is_reset = false;

	for (int i = 0; i < MODES; i++)
		is_reset |= rti_counter_hold(&mode[i], now[i]);
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

	if (!cpu)
		return -ENOMEM;
	cpu->round = st->round;
	st->online++;
	hold_modes(cpu->mode, ticks);
	return RTI_CONTINUE;
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
			.user_ns = mode[USER].total * tick_ns,
			.nice_ns = mode[NICE].total * tick_ns,
			.system_ns = mode[SYSTEM].total * tick_ns,
			.idle_ns = mode[IDLE].total * tick_ns,
			.iowait_ns = mode[IOWAIT].total * tick_ns,
			.irq_ns = mode[IRQ].total * tick_ns,
			.softirq_ns = mode[SOFTIRQ].total * tick_ns,
			.steal_ns = mode[STEAL].total * tick_ns,
			.guest_ns = mode[GUEST].total * tick_ns,
			.guest_nice_ns = mode[GUEST_NICE].total * tick_ns,
		};
	}
}

/* The set_ functions return the RT_HAS_ bit of what they set, or 0 if a counter was reset. */
static uint64_t set_total(struct state *st, const struct rti_cpu_ticks *ticks, uint64_t tick_ns,
                          struct rt_metrics *out)
{
	bool is_reset = rti_counter_hold(&st->user, ticks->user + ticks->nice);

	is_reset |= rti_counter_hold(&st->system, ticks->system + ticks->irq + ticks->softirq);
	out->cpu_user_ns = st->user.total * tick_ns;
	out->cpu_system_ns = st->system.total * tick_ns;
	out->cpu_resolution_ns = tick_ns;
	out->rusage.ru_utime = (double)out->cpu_user_ns / 1e9;
	out->rusage.ru_stime = (double)out->cpu_system_ns / 1e9;
	if (is_reset)
		return 0;
	return RT_HAS_CPU;
}

static uint64_t set_modes(struct state *st, const struct rti_cpu_ticks *ticks, uint64_t tick_ns,
                          struct rt_metrics *out)
{
	bool is_reset = hold_modes(st->mode, ticks);

	out->cpu_mode_user_ns = st->mode[USER].total * tick_ns;
	out->cpu_mode_nice_ns = st->mode[NICE].total * tick_ns;
	out->cpu_mode_system_ns = st->mode[SYSTEM].total * tick_ns;
	out->cpu_mode_idle_ns = st->mode[IDLE].total * tick_ns;
	out->cpu_mode_iowait_ns = st->mode[IOWAIT].total * tick_ns;
	out->cpu_mode_irq_ns = st->mode[IRQ].total * tick_ns;
	out->cpu_mode_softirq_ns = st->mode[SOFTIRQ].total * tick_ns;
	out->cpu_mode_steal_ns = st->mode[STEAL].total * tick_ns;
	out->cpu_mode_guest_ns = st->mode[GUEST].total * tick_ns;
	out->cpu_mode_guest_nice_ns = st->mode[GUEST_NICE].total * tick_ns;
	out->cpus_online = st->online;
	return is_reset ? 0 : RT_HAS_CPU_MODES;
}

static uint64_t set_activity(struct state *st, const struct rti_stat *stat, struct rt_metrics *out)
{
	bool is_reset = rti_counter_hold(&st->forks, stat->forks);

	is_reset |= rti_counter_hold(&st->context_switches, stat->context_switches);
	is_reset |= rti_counter_hold(&st->interrupts, stat->interrupts);
	out->processes_running = stat->procs_running;
	out->processes_blocked = stat->procs_blocked;
	out->forks = st->forks.total;
	out->context_switches = st->context_switches.total;
	out->interrupts = st->interrupts.total;
	return is_reset ? 0 : RT_HAS_ACTIVITY;
}

static int cpu_collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct state *st = state;
	uint64_t tick_ns = ctx->platform->tick_ns, measured = RT_HAS_CPU | RT_HAS_CPU_MODES,
		 complete;
	struct rti_stat stat;
	int err;

	st->rows.count = 0;
	st->rows.is_due = false;
	st->tick_ns = tick_ns;
	st->online = 0;
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
	complete =
	    set_total(st, &stat.total, tick_ns, out) | set_modes(st, &stat.total, tick_ns, out);
	if (stat.has_procs) {
		measured |= RT_HAS_ACTIVITY;
		complete |= set_activity(st, &stat, out);
	}
	out->valid |= complete;
	out->partial |= measured & ~complete;
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
