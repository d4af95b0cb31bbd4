/* SPDX-License-Identifier: MIT */
/* The summary as one JSON object. Unknown values are null. */
#include <signal.h>
#include <stdbool.h>

#include "figures.h"
#include "gpu.h"
#include "json.h"
#include "summary.h"
#include "units.h"

enum { SCHEMA = 1 };

static void add_u64(struct text *out, const char *key, bool known, uint64_t value)
{
	if (known)
		json_u64(out, key, value);
	else
		json_null(out, key);
}

static void add_seconds(struct text *out, const char *key, bool known, uint64_t ns)
{
	if (known)
		json_double(out, key, seconds(ns));
	else
		json_null(out, key);
}

static void add_argv(struct text *out, const char *const *argv)
{
	json_begin(out, "command", '[');
	for (; *argv; argv++)
		json_string(out, NULL, *argv);
	json_end(out, ']');
}

static void add_end(struct text *out, const struct usage *u)
{
	if (u->exit_code >= 0)
		json_i64(out, "exit_code", u->exit_code);
	else
		json_null(out, "exit_code");
	if (u->signal > 0)
		json_i64(out, "signal", u->signal);
	else
		json_null(out, "signal");
	json_bool(out, "timed_out", u->timed_out);
}

static void add_accounting(struct text *out, const struct usage *u)
{
	bool cpu = is_known(u->marks, RT_HAS_CPU);

	json_begin(out, "accounting", '{');
	json_string(out, "level", accounting_name(u->accounting));
	json_bool(out, "complete", u->complete);
	add_seconds(out, "error_bound_seconds", cpu && u->error_bound_ns != UINT64_MAX,
	            u->error_bound_ns);
	json_reasons(out, "reasons", u->reasons);
	add_seconds(out, "cpu_seconds_low", cpu, u->cpu_low_ns);
	add_seconds(out, "cpu_seconds_high", cpu && u->cpu_high_ns != UINT64_MAX, u->cpu_high_ns);
	add_seconds(out, "cpu_seconds_estimate", cpu, u->cpu_estimate_ns);
	json_u64(out, "members_skipped", u->members_skipped);
	json_end(out, '}');
}

static void add_memory(struct text *out, const struct usage *u)
{
	add_u64(out, "peak_rss_bytes", is_known(u->marks, RT_HAS_PEAK_RSS), u->peak_rss_bytes);
	add_u64(out, "peak_tree_bytes", u->peak_tree_kind != 0, u->peak_tree_bytes);
	json_string(out, "peak_tree_kind", usage_peak_kind(u));
	add_u64(out, "peak_tree_low_bytes", u->peak_tree_low_bytes > 0, u->peak_tree_low_bytes);
	add_u64(out, "peak_tree_high_bytes", u->peak_tree_high_bytes != UINT64_MAX,
	        u->peak_tree_high_bytes);
}

static void add_cgroup(struct text *out, const struct usage *u)
{
	bool io = is_known(u->marks, RT_HAS_CGROUP_IO);

	json_begin(out, "cgroup", '{');
	add_u64(out, "memory_peak_bytes", is_known(u->marks, RT_HAS_CGROUP_MEMORY),
	        u->cgroup_memory_peak_bytes);
	add_u64(out, "read_bytes", io, u->cgroup_read_bytes);
	add_u64(out, "write_bytes", io, u->cgroup_write_bytes);
	add_u64(out, "tasks_peak", is_known(u->marks, RT_HAS_CGROUP_TASKS), u->cgroup_tasks_peak);
	json_end(out, '}');
}

static void add_processes(struct text *out, const struct usage *u)
{
	add_u64(out, "processes", is_known(u->marks, RT_HAS_PROCESSES), u->processes);
	json_bool(out, "processes_exact", (u->marks.valid & RT_HAS_PROCESSES) != 0);
	add_u64(out, "processes_peak", is_known(u->marks, RT_HAS_PROCESSES_PEAK),
	        u->processes_peak);
}

static void add_counters(struct text *out, const struct usage *u)
{
	bool io = is_known(u->marks, RT_HAS_IO), faults = is_known(u->marks, RT_HAS_FAULTS);
	bool switches = is_known(u->marks, RT_HAS_CTXSW);

	add_u64(out, "read_bytes", io, u->read_bytes);
	add_u64(out, "write_bytes", io, u->write_bytes);
	add_u64(out, "minor_faults", faults, u->minor_faults);
	add_u64(out, "major_faults", faults, u->major_faults);
	add_u64(out, "voluntary_switches", switches, u->voluntary_switches);
	add_u64(out, "involuntary_switches", switches, u->involuntary_switches);
}

static void add_tree(struct text *out, const struct usage *u)
{
	bool cpu = is_known(u->marks, RT_HAS_CPU);

	json_double(out, "start_time", seconds(u->start_realtime_ns));
	json_double(out, "wall_seconds", seconds(u->wall_ns));
	add_seconds(out, "cpu_user_seconds", cpu, u->cpu_user_ns);
	add_seconds(out, "cpu_system_seconds", cpu, u->cpu_system_ns);
	add_seconds(out, "cpu_seconds", cpu, usage_cpu_ns(u));
	if (u->cores->used > 0)
		json_double(out, "peak_cores", u->cores->peak);
	else
		json_null(out, "peak_cores");
	add_memory(out, u);
	add_counters(out, u);
	add_processes(out, u);
	json_u64(out, "left_running", u->left_running);
	json_u64(out, "samples", u->samples);
	add_accounting(out, u);
	add_cgroup(out, u);
	gpu_write_json(out, "gpu", &u->gpu);
	json_domains(out, "valid", u->marks.valid);
	json_domains(out, "partial", u->marks.partial);
	json_domains(out, "estimated", u->marks.estimated);
	json_double(out, "overhead_cpu_seconds", seconds(u->overhead_cpu_ns));
}

static void begin_summary(struct text *out, const char *kind)
{
	json_begin(out, NULL, '{');
	json_string(out, "type", "summary");
	json_i64(out, "schema", SCHEMA);
	json_string(out, "kind", kind);
}

static void end_summary(struct text *out)
{
	json_end(out, '}');
	text_add(out, "\n");
}

void json_of_command(struct text *out, const struct usage *u)
{
	begin_summary(out, "run");
	add_argv(out, u->argv);
	json_i64(out, "pid", u->pid);
	add_end(out, u);
	add_tree(out, u);
	end_summary(out);
}

void json_of_attached(struct text *out, const struct usage *usages, size_t count, uint64_t wall_ns)
{
	begin_summary(out, "attach");
	json_double(out, "wall_seconds", seconds(wall_ns));
	json_begin(out, "targets", '[');
	for (size_t i = 0; i < count; i++) {
		bool cpu = is_known(usages[i].marks, RT_HAS_CPU);

		json_begin(out, NULL, '{');
		json_i64(out, "pid", usages[i].pid);
		json_bool(out, "ended", usages[i].has_ended);
		add_seconds(out, "cpu_seconds_before", cpu, usages[i].cpu_before_ns);
		add_tree(out, &usages[i]);
		json_end(out, '}');
	}
	json_end(out, ']');
	end_summary(out);
}

static void add_system_totals(struct text *out, const struct rt_delta *d)
{
	bool cpu = is_known(delta_marks(d), RT_HAS_CPU),
	     disk = is_known(delta_marks(d), RT_HAS_DISK);
	bool network = is_known(delta_marks(d), RT_HAS_NETWORK);

	add_seconds(out, "cpu_user_seconds", cpu, d->cpu_user_ns);
	add_seconds(out, "cpu_system_seconds", cpu, d->cpu_system_ns);
	add_seconds(out, "cpu_seconds", cpu, d->cpu_user_ns + d->cpu_system_ns);
	add_u64(out, "disk_read_bytes", disk, d->disk_read_bytes);
	add_u64(out, "disk_write_bytes", disk, d->disk_write_bytes);
	add_u64(out, "network_receive_bytes", network, d->network_receive_bytes);
	add_u64(out, "network_transmit_bytes", network, d->network_transmit_bytes);
}

void json_of_system(struct text *out, const struct follow *f)
{
	const struct rt_metrics *m = &f->now;
	const struct gpu_use gpu = gpu_use_of(f);
	struct rt_delta total;

	rt_diff(&f->base, m, &total, sizeof(total));
	begin_summary(out, "system");
	json_double(out, "start_time", seconds(f->base.realtime_ns));
	json_double(out, "wall_seconds", seconds(total.interval_ns));
	add_system_totals(out, &total);
	if (f->cores.used > 0)
		json_double(out, "peak_cores", f->cores.peak);
	else
		json_null(out, "peak_cores");
	add_u64(out, "cpus_online", is_known(metrics_marks(m), RT_HAS_CPU_MODES), m->cpus_online);
	add_u64(out, "memory_total_bytes", is_known(metrics_marks(m), RT_HAS_MEMORY),
	        m->memory_total_bytes);
	add_u64(out, "peak_memory_used_bytes", f->memory.used > 0, (uint64_t)f->memory.peak);
	gpu_write_json(out, "gpu", &gpu);
	json_u64(out, "samples", f->samples);
	json_domains(out, "partial", total.partial | m->partial);
	json_domains(out, "estimated", total.estimated | m->estimated);
	json_double(out, "overhead_cpu_seconds", seconds(m->self_cpu_ns));
	end_summary(out);
}
