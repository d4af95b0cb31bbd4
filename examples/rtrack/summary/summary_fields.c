/* SPDX-License-Identifier: MIT */
/* The figures of a summary: their names, units and values. */
#include "summary_fields.h"

#include <inttypes.h>
#include <string.h>

#include "text/json.h"
#include "text/units.h"

#define RUN USAGE_RUN
#define TREE (USAGE_RUN | USAGE_ATTACH)
#define SYSTEM USAGE_SYSTEM
#define ANY (TREE | SYSTEM)

#define NO_SUCH_VALUE (UINT64_MAX - 1)
#define UNBOUNDED UINT64_MAX

#define AT(member) offsetof(struct usage, member)

/* In the order in which people read them. Where a line has no label, only programs see it. */
static const struct summary_field fields[] = {
	{ NULL, "label", ANY, UNIT_WORD, AT(label), 0, NO_SUCH_VALUE, PLACE_ALWAYS, "label", NULL },
	{ "limit", "reason", TREE, UNIT_WORD, AT(limit_reason), 0, NO_SUCH_VALUE, PLACE_ALWAYS,
	  "ended", NULL },
	{ "limit", "passed", TREE, UNIT_WORD, AT(limit_passed), 0, NO_SUCH_VALUE, PLACE_NOT_SHOWN,
	  NULL, NULL },
	{ "limit", "passed_late", TREE, UNIT_WORD, AT(limit_passed_late), 0, NO_SUCH_VALUE,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ "limit", "late_reason", TREE, UNIT_WORD, AT(limit_late_reason), 0, NO_SUCH_VALUE,
	  PLACE_ALWAYS, "not ended", NULL },
	{ "limit", "wall_seconds", TREE, UNIT_SECONDS, AT(limit_wall_ns), 0, 0, PLACE_NOT_SHOWN,
	  NULL, NULL },
	{ "limit", "memory_bytes", TREE, UNIT_BYTES, AT(limit_memory_bytes), 0, 0, PLACE_NOT_SHOWN,
	  NULL, NULL },
	{ "limit", "cpu_seconds", TREE, UNIT_SECONDS, AT(limit_cpu_ns), 0, 0, PLACE_NOT_SHOWN, NULL,
	  NULL },
	{ "limit", "processes", TREE, UNIT_COUNT, AT(limit_processes), 0, 0, PLACE_NOT_SHOWN, NULL,
	  NULL },
	{ "limit", "timeout_seconds", TREE, UNIT_SECONDS, AT(limit_timeout_ns), 0, 0,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ "limit", "max_memory_bytes", TREE, UNIT_BYTES, AT(limit_max_memory_bytes), 0, 0,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ "limit", "max_cpu_seconds", TREE, UNIT_SECONDS, AT(limit_max_cpu_ns), 0, 0,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ "limit", "max_processes", TREE, UNIT_COUNT, AT(limit_max_processes), 0, 0,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "wall_seconds", ANY, UNIT_SECONDS, AT(wall_ns), 0, NO_SUCH_VALUE, PLACE_ALWAYS,
	  "wall time", NULL },
	{ NULL, "cpu_seconds", ANY, UNIT_SECONDS, AT(cpu_ns), RT_HAS_CPU, NO_SUCH_VALUE,
	  PLACE_ALWAYS, "CPU time", NULL },
	{ NULL, "cores_used", ANY, UNIT_REAL, AT(cores_used), RT_HAS_CPU, NO_SUCH_VALUE,
	  PLACE_ALWAYS, "cores", NULL },
	{ NULL, "peak_footprint_bytes", TREE, UNIT_BYTES, AT(peak_tree_bytes),
	  RT_HAS_PEAK_FOOTPRINT, 0, PLACE_ALWAYS, "peak memory", NULL },
	{ NULL, "peak_rss_bytes", TREE, UNIT_BYTES, AT(peak_rss_bytes), RT_HAS_PEAK_RSS,
	  NO_SUCH_VALUE, PLACE_ALWAYS, "", "largest process, resident" },
	{ NULL, "peak_needed_bytes", TREE, UNIT_BYTES, AT(peak_needed_bytes), RT_HAS_PEAK_NEEDED, 0,
	  PLACE_LONG, "", "needed: all processes, without files" },
	{ "footprint", "anon_bytes", TREE, UNIT_BYTES, AT(footprint_anon_bytes),
	  RT_HAS_PEAK_FOOTPRINT, UNBOUNDED, PLACE_NOT_SHOWN, NULL, NULL },
	{ "footprint", "shmem_bytes", TREE, UNIT_BYTES, AT(footprint_shmem_bytes),
	  RT_HAS_PEAK_FOOTPRINT, UNBOUNDED, PLACE_NOT_SHOWN, NULL, NULL },
	{ "footprint", "file_bytes", TREE, UNIT_BYTES, AT(footprint_file_bytes),
	  RT_HAS_PEAK_FOOTPRINT, UNBOUNDED, PLACE_NOT_SHOWN, NULL, NULL },
	{ "footprint", "hugetlb_bytes", TREE, UNIT_BYTES, AT(footprint_hugetlb_bytes),
	  RT_HAS_PEAK_FOOTPRINT, UNBOUNDED, PLACE_NOT_SHOWN, NULL, NULL },
	{ "footprint", "swap_bytes", TREE, UNIT_BYTES, AT(footprint_swap_bytes),
	  RT_HAS_PEAK_FOOTPRINT, UNBOUNDED, PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "peak_tree_bytes", TREE, UNIT_BYTES, AT(peak_tree_bytes), RT_HAS_PEAK_FOOTPRINT, 0,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "peak_tree_low_bytes", TREE, UNIT_BYTES, AT(peak_tree_low_bytes), 0, 0, PLACE_LONG,
	  "", "lower bound of the peak" },
	{ NULL, "peak_tree_high_bytes", TREE, UNIT_BYTES, AT(peak_tree_high_bytes), 0, UNBOUNDED,
	  PLACE_LONG, "", "upper bound of the peak" },
	{ NULL, "peak_memory_used_bytes", SYSTEM, UNIT_BYTES, AT(peak_memory_used_bytes), 0, 0,
	  PLACE_ALWAYS, "peak memory", NULL },
	{ "cgroup", "cores_used", SYSTEM, UNIT_REAL, AT(own_cores), RT_HAS_CGROUP_CPU_TIME,
	  NO_SUCH_VALUE, PLACE_ALWAYS, "own cores", NULL },
	{ "cgroup", "cpus_allowed", SYSTEM, UNIT_REAL, AT(own_cpus_allowed), RT_HAS_CGROUP_CPU,
	  NO_SUCH_VALUE, PLACE_NOT_SHOWN, NULL, NULL },
	{ "cgroup", "peak_memory_bytes", SYSTEM, UNIT_BYTES, AT(own_peak_memory_bytes),
	  RT_HAS_CGROUP_MEMORY, UINT64_MAX, PLACE_ALWAYS, "own memory", NULL },
	{ "cgroup", "memory_limit_bytes", SYSTEM, UNIT_BYTES, AT(own_memory_limit_bytes),
	  RT_HAS_CGROUP_MEMORY, UNBOUNDED, PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "read_bytes", TREE, UNIT_BYTES, AT(read_bytes), RT_HAS_IO, NO_SUCH_VALUE,
	  PLACE_ALWAYS, "read", "from storage" },
	{ NULL, "write_bytes", TREE, UNIT_BYTES, AT(write_bytes), RT_HAS_IO, NO_SUCH_VALUE,
	  PLACE_ALWAYS, "written", "to storage" },
	{ NULL, "disk_read_bytes", SYSTEM, UNIT_BYTES, AT(disk_read_bytes), RT_HAS_DISK,
	  NO_SUCH_VALUE, PLACE_ALWAYS, "read", "from disks" },
	{ NULL, "disk_write_bytes", SYSTEM, UNIT_BYTES, AT(disk_write_bytes), RT_HAS_DISK,
	  NO_SUCH_VALUE, PLACE_ALWAYS, "written", "to disks" },
	{ NULL, "network_receive_bytes", SYSTEM, UNIT_BYTES, AT(network_receive_bytes),
	  RT_HAS_NETWORK, NO_SUCH_VALUE, PLACE_ALWAYS, "received", "by network devices" },
	{ NULL, "network_transmit_bytes", SYSTEM, UNIT_BYTES, AT(network_transmit_bytes),
	  RT_HAS_NETWORK, NO_SUCH_VALUE, PLACE_ALWAYS, "sent", "by network devices" },
	{ "gpu", "note", ANY, UNIT_WORD, AT(gpu_note), 0, NO_SUCH_VALUE, PLACE_ALWAYS, "GPUs",
	  NULL },
	{ "gpu", "busy_seconds", ANY, UNIT_SECONDS, AT(gpu_busy_ns), RT_HAS_GPU, NO_SUCH_VALUE,
	  PLACE_ALWAYS, "GPU time", NULL },
	{ "gpu", "busy_gpus", ANY, UNIT_REAL, AT(busy_gpus), RT_HAS_GPU, NO_SUCH_VALUE,
	  PLACE_ALWAYS, "", "GPUs busy, on average" },
	{ "gpu", "peak_memory_bytes", ANY, UNIT_BYTES, AT(gpu_memory_peak_bytes), RT_HAS_GPU_MEMORY,
	  NO_SUCH_VALUE, PLACE_ALWAYS, "", "peak memory of GPUs" },
	{ "gpu", "energy_joules", SYSTEM, UNIT_REAL, AT(gpu_energy_joules), RT_HAS_GPU_ENERGY,
	  NO_SUCH_VALUE, PLACE_ALWAYS, "", "joules used by GPUs" },
	{ "gpu", "gpus", ANY, UNIT_COUNT, AT(gpus), 0, UNBOUNDED, PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "processes", TREE, UNIT_COUNT, AT(processes), RT_HAS_PROCESSES, NO_SUCH_VALUE,
	  PLACE_ALWAYS, "processes", "in all" },
	{ NULL, "processes_peak", TREE, UNIT_COUNT, AT(processes_peak), RT_HAS_PROCESSES_PEAK,
	  NO_SUCH_VALUE, PLACE_LONG, "", "at once, at most" },
	{ NULL, "minor_faults", TREE, UNIT_COUNT, AT(minor_faults), RT_HAS_FAULTS, NO_SUCH_VALUE,
	  PLACE_LONG, "faults", "minor: no storage was read" },
	{ NULL, "major_faults", TREE, UNIT_COUNT, AT(major_faults), RT_HAS_FAULTS, NO_SUCH_VALUE,
	  PLACE_LONG, "", "major: storage was read" },
	{ NULL, "voluntary_switches", TREE, UNIT_COUNT, AT(voluntary_switches), RT_HAS_CTXSW,
	  NO_SUCH_VALUE, PLACE_LONG, "switches", "voluntary: it waited" },
	{ NULL, "involuntary_switches", TREE, UNIT_COUNT, AT(involuntary_switches), RT_HAS_CTXSW,
	  NO_SUCH_VALUE, PLACE_LONG, "", "involuntary: its CPU was taken" },
	{ "cgroup", "memory_peak_bytes", TREE, UNIT_BYTES, AT(cgroup_memory_peak_bytes),
	  RT_HAS_CGROUP_MEMORY, NO_SUCH_VALUE, PLACE_LONG, "cgroup",
	  "peak memory, page cache included" },
	{ "cgroup", "read_bytes", TREE, UNIT_BYTES, AT(cgroup_read_bytes), RT_HAS_CGROUP_IO,
	  NO_SUCH_VALUE, PLACE_LONG, "", "read from devices" },
	{ "cgroup", "write_bytes", TREE, UNIT_BYTES, AT(cgroup_write_bytes), RT_HAS_CGROUP_IO,
	  NO_SUCH_VALUE, PLACE_LONG, "", "written to devices" },
	{ "cgroup", "tasks_peak", TREE, UNIT_COUNT, AT(cgroup_tasks_peak), RT_HAS_CGROUP_TASKS,
	  NO_SUCH_VALUE, PLACE_LONG, "", "threads at once, at most" },
	{ "cgroup", "oom_kills", TREE, UNIT_COUNT, AT(cgroup_oom_kills), RT_HAS_CGROUP_OOM_KILLS,
	  NO_SUCH_VALUE, PLACE_LONG, "", "processes killed because memory ran out" },
	{ NULL, "command", TREE, UNIT_WORDS, AT(argv), 0, NO_SUCH_VALUE, PLACE_NOT_SHOWN, NULL,
	  NULL },
	{ NULL, "cgroup_path", TREE, UNIT_WORD, AT(cgroup), 0, NO_SUCH_VALUE, PLACE_NOT_SHOWN, NULL,
	  NULL },
	{ NULL, "pid", TREE, UNIT_NUMBER, AT(pid), 0, NO_SUCH_VALUE, PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "exit_code", TREE, UNIT_NUMBER, AT(exit_code), 0, NO_SUCH_VALUE, PLACE_NOT_SHOWN,
	  NULL, NULL },
	{ NULL, "signal", TREE, UNIT_SIGNAL, AT(signal), 0, NO_SUCH_VALUE, PLACE_NOT_SHOWN, NULL,
	  NULL },
	{ NULL, "exit_status", TREE, UNIT_NUMBER, AT(exit_status), 0, NO_SUCH_VALUE,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "timed_out", TREE, UNIT_FLAG, AT(timed_out), 0, NO_SUCH_VALUE, PLACE_NOT_SHOWN,
	  NULL, NULL },
	{ NULL, "ended", TREE, UNIT_FLAG, AT(has_ended), 0, NO_SUCH_VALUE, PLACE_NOT_SHOWN, NULL,
	  NULL },
	{ NULL, "start_time", ANY, UNIT_SECONDS, AT(start_realtime_ns), 0, NO_SUCH_VALUE,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "cpu_user_seconds", ANY, UNIT_SECONDS, AT(cpu_user_ns), RT_HAS_CPU, NO_SUCH_VALUE,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "cpu_system_seconds", ANY, UNIT_SECONDS, AT(cpu_system_ns), RT_HAS_CPU,
	  NO_SUCH_VALUE, PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "cpu_seconds_before", TREE, UNIT_SECONDS, AT(cpu_before_ns), RT_HAS_CPU,
	  NO_SUCH_VALUE, PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "cpu_seconds_before_exact", TREE, UNIT_FLAG, AT(cpu_before_exact), RT_HAS_CPU,
	  NO_SUCH_VALUE, PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "cpu_percent", ANY, UNIT_REAL, AT(cpu_percent), RT_HAS_CPU, NO_SUCH_VALUE,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "peak_cores", ANY, UNIT_REAL, AT(peak_cores), 0, NO_SUCH_VALUE, PLACE_NOT_SHOWN,
	  NULL, NULL },
	{ NULL, "peak_cores_exact", ANY, UNIT_FLAG, AT(peak_cores_exact), 0, NO_SUCH_VALUE,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "cpus_online", ANY, UNIT_COUNT, AT(cpus), 0, 0, PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "peak_tree_kind", TREE, UNIT_WORD, AT(peak_kind), 0, NO_SUCH_VALUE, PLACE_NOT_SHOWN,
	  NULL, NULL },
	{ NULL, "memory_total_bytes", SYSTEM, UNIT_BYTES, AT(memory_total_bytes), RT_HAS_MEMORY,
	  NO_SUCH_VALUE, PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "processes_exact", TREE, UNIT_FLAG, AT(processes_exact), 0, NO_SUCH_VALUE,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "left_running", TREE, UNIT_COUNT, AT(left_running), 0, NO_SUCH_VALUE,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "samples", ANY, UNIT_COUNT, AT(samples), 0, NO_SUCH_VALUE, PLACE_NOT_SHOWN, NULL,
	  NULL },
	{ NULL, "samples_missed", ANY, UNIT_COUNT, AT(samples_missed), 0, NO_SUCH_VALUE,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ "accounting", "level", TREE, UNIT_WORD, AT(accounting_method), 0, NO_SUCH_VALUE,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ "accounting", "complete", TREE, UNIT_FLAG, AT(complete), 0, NO_SUCH_VALUE,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ "accounting", "error_bound_seconds", TREE, UNIT_SECONDS, AT(error_bound_ns), RT_HAS_CPU,
	  UNBOUNDED, PLACE_NOT_SHOWN, NULL, NULL },
	{ "accounting", "reasons", TREE, UNIT_REASONS, AT(reasons), 0, NO_SUCH_VALUE,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ "accounting", "cpu_seconds_low", TREE, UNIT_SECONDS, AT(cpu_low_ns), RT_HAS_CPU,
	  NO_SUCH_VALUE, PLACE_NOT_SHOWN, NULL, NULL },
	{ "accounting", "cpu_seconds_high", TREE, UNIT_SECONDS, AT(cpu_high_ns), RT_HAS_CPU,
	  UNBOUNDED, PLACE_NOT_SHOWN, NULL, NULL },
	{ "accounting", "cpu_seconds_estimate", TREE, UNIT_SECONDS, AT(cpu_low_ns), RT_HAS_CPU,
	  NO_SUCH_VALUE, PLACE_NOT_SHOWN, NULL, NULL },
	{ "accounting", "members_skipped", TREE, UNIT_COUNT, AT(members_skipped), 0, NO_SUCH_VALUE,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "valid", ANY, UNIT_DOMAINS, AT(marks.valid), 0, NO_SUCH_VALUE, PLACE_NOT_SHOWN,
	  NULL, NULL },
	{ NULL, "partial", ANY, UNIT_DOMAINS, AT(marks.partial), 0, NO_SUCH_VALUE, PLACE_NOT_SHOWN,
	  NULL, NULL },
	{ NULL, "estimated", ANY, UNIT_DOMAINS, AT(marks.estimated), 0, NO_SUCH_VALUE,
	  PLACE_NOT_SHOWN, NULL, NULL },
	{ NULL, "overhead_cpu_seconds", ANY, UNIT_SECONDS, AT(overhead_cpu_ns), 0, NO_SUCH_VALUE,
	  PLACE_LONG, "overhead", NULL },
};

/* Returns where a struct usage has the value of a field. */
static const void *value_at(const struct summary_field *field, const struct usage *u)
{
	return (const char *)u + field->offset;
}

static double real_of(const struct summary_field *field, const struct usage *u)
{
	double value;

	memcpy(&value, value_at(field, u), sizeof(value));
	return value;
}

static int32_t number_of(const struct summary_field *field, const struct usage *u)
{
	int32_t value;

	memcpy(&value, value_at(field, u), sizeof(value));
	return value;
}

static bool flag_of(const struct summary_field *field, const struct usage *u)
{
	bool value;

	memcpy(&value, value_at(field, u), sizeof(value));
	return value;
}

static const char *word_of(const struct summary_field *field, const struct usage *u)
{
	const char *value;

	memcpy(&value, value_at(field, u), sizeof(value));
	return value;
}

static const char *const *words_of(const struct summary_field *field, const struct usage *u)
{
	const char *const *value;

	memcpy(&value, value_at(field, u), sizeof(value));
	return value;
}

uint64_t summary_field_whole(const struct summary_field *field, const struct usage *u)
{
	uint64_t value;
	uint32_t bits;

	if (field->unit == UNIT_REASONS) {
		memcpy(&bits, value_at(field, u), sizeof(bits));
		return bits;
	}
	memcpy(&value, value_at(field, u), sizeof(value));
	return value;
}

const struct summary_field *summary_field_at(size_t index)
{
	return index < sizeof(fields) / sizeof(fields[0]) ? &fields[index] : NULL;
}

static bool has_name(const struct summary_field *field, const char *name, size_t len)
{
	size_t group = field->group ? strlen(field->group) + 1 : 0;

	if (group > 0 &&
	    (len < group || strncmp(name, field->group, group - 1) != 0 || name[group - 1] != '_'))
		return false;
	return strlen(field->name) == len - group &&
	       strncmp(name + group, field->name, len - group) == 0;
}

const struct summary_field *summary_field_by_name(const char *name, size_t len, unsigned kinds)
{
	const struct summary_field *field;

	for (size_t i = 0; (field = summary_field_at(i)); i++) {
		if (field->kinds & kinds && has_name(field, name, len))
			return field;
	}
	return NULL;
}

bool summary_field_is_known(const struct summary_field *field, const struct usage *u)
{
	if (!is_known(u->marks, field->bits))
		return false;
	switch (field->unit) {
	case UNIT_REAL:
		return real_of(field, u) >= 0;
	case UNIT_NUMBER:
		return number_of(field, u) >= 0;
	case UNIT_SIGNAL:
		return number_of(field, u) > 0;
	case UNIT_WORD:
	case UNIT_WORDS:
		return word_of(field, u) != NULL;
	case UNIT_FLAG:
		return true;
	default:
		return summary_field_whole(field, u) != field->missing;
	}
}

bool summary_field_is_zero(const struct summary_field *field, const struct usage *u)
{
	if (field->unit == UNIT_REAL)
		return real_of(field, u) == 0;
	return field->unit <= UNIT_COUNT && summary_field_whole(field, u) == 0;
}

const char *summary_field_reservation(const struct summary_field *field, const struct usage *u)
{
	if (u->marks.estimated & field->bits)
		return "about ";
	return u->marks.partial & field->bits ? "at least " : "";
}

void summary_field_add_human(struct text *out, const struct summary_field *field,
                             const struct usage *u)
{
	switch (field->unit) {
	case UNIT_SECONDS:
		text_add(out, human_time(summary_field_whole(field, u)).s);
		break;
	case UNIT_BYTES:
		text_add(out, human_bytes(summary_field_whole(field, u)).s);
		break;
	case UNIT_COUNT:
		text_add(out, human_count(summary_field_whole(field, u)).s);
		break;
	case UNIT_REAL:
		text_printf(out, "%.2f", real_of(field, u));
		break;
	default:
		summary_field_add_plain(out, field, u);
	}
}

static void add_words(struct text *out, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		text_printf(out, "%s%s", i ? " " : "", words[i]);
}

void summary_field_add_plain(struct text *out, const struct summary_field *field,
                             const struct usage *u)
{
	if (!summary_field_is_known(field, u)) {
		text_add(out, "-");
		return;
	}
	switch (field->unit) {
	case UNIT_SECONDS:
		text_double(out, seconds(summary_field_whole(field, u)));
		break;
	case UNIT_BYTES:
	case UNIT_COUNT:
		text_u64(out, summary_field_whole(field, u));
		break;
	case UNIT_REAL:
		text_rounded(out, real_of(field, u), 6);
		break;
	case UNIT_NUMBER:
	case UNIT_SIGNAL:
		text_i64(out, number_of(field, u));
		break;
	case UNIT_FLAG:
		text_add(out, flag_of(field, u) ? "true" : "false");
		break;
	case UNIT_WORD:
		text_add(out, word_of(field, u));
		break;
	case UNIT_WORDS:
		add_words(out, words_of(field, u));
		break;
	case UNIT_DOMAINS:
		text_bits(out, RT_CONSTANTS_HAS, summary_field_whole(field, u), ",");
		break;
	case UNIT_REASONS:
		text_bits(out, RT_CONSTANTS_REASON, summary_field_whole(field, u), ",");
		break;
	}
}

static void add_json_words(struct text *out, const char *key, const char *const *words)
{
	json_begin(out, key, '[');
	for (; *words; words++)
		json_string(out, NULL, *words);
	json_end(out, ']');
}

void summary_field_add_json(struct text *out, const struct summary_field *field,
                            const struct usage *u)
{
	const char *key = field->name;

	if (!summary_field_is_known(field, u)) {
		json_null(out, key);
		return;
	}
	switch (field->unit) {
	case UNIT_SECONDS:
		json_double(out, key, seconds(summary_field_whole(field, u)));
		break;
	case UNIT_BYTES:
	case UNIT_COUNT:
		json_u64(out, key, summary_field_whole(field, u));
		break;
	case UNIT_REAL:
		json_rounded(out, key, real_of(field, u), 6);
		break;
	case UNIT_NUMBER:
	case UNIT_SIGNAL:
		json_i64(out, key, number_of(field, u));
		break;
	case UNIT_FLAG:
		json_bool(out, key, flag_of(field, u));
		break;
	case UNIT_WORD:
		json_string(out, key, word_of(field, u));
		break;
	case UNIT_WORDS:
		add_json_words(out, key, words_of(field, u));
		break;
	case UNIT_DOMAINS:
		json_bits(out, RT_CONSTANTS_HAS, key, summary_field_whole(field, u));
		break;
	case UNIT_REASONS:
		json_bits(out, RT_CONSTANTS_REASON, key, summary_field_whole(field, u));
		break;
	}
}
