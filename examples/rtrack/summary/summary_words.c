/* SPDX-License-Identifier: MIT */
/* The sentences of a summary for people, which text and Markdown share. */
#include "summary_words.h"

#include <string.h>

#include "follow/own_limits.h"
#include "text/units.h"

#define SHOWN_ERROR_NS 1000000 /* a smaller one is not worth a word */

static bool is_named(const struct summary_field *field, const char *name)
{
	return !field->group && strcmp(field->name, name) == 0;
}

static bool has_no_memory(const struct usage *u)
{
	return !is_known(u->marks, RT_HAS_PEAK_FOOTPRINT) && !is_known(u->marks, RT_HAS_PEAK_RSS);
}

static bool is_of_cgroup(const struct summary_field *field, const char *name)
{
	return field->group && strcmp(field->group, "cgroup") == 0 &&
	       strcmp(field->name, name) == 0;
}

/* What the own cgroup uses says something only beside a limit. */
static bool lacks_limit(const struct summary_field *field, const struct usage *u)
{
	return (is_of_cgroup(field, "cores_used") && u->own_cpus_allowed < 0) ||
	       (is_of_cgroup(field, "peak_memory_bytes") &&
	        u->own_memory_limit_bytes == UINT64_MAX);
}

bool summary_shows(const struct summary_field *field, const struct usage *u, bool is_long)
{
	if (!(field->kinds & u->kind) || field->place < (is_long ? PLACE_LONG : PLACE_ALWAYS))
		return false;
	/* One line says that nothing is known. */
	if (is_named(field, "peak_rss_bytes") && has_no_memory(u))
		return false;
	if (lacks_limit(field, u))
		return false;
	/* Of these, most commands have none. */
	if (field->group || field->unit == UNIT_WORD || field->place == PLACE_LONG)
		return summary_field_is_known(field, u);
	return true;
}

/* A lower bound of 0 says nothing, nor does an estimate of 0. The line of the processes says how
 * many were seen, and of an empty cgroup that is none. */
bool summary_is_unknown(const struct summary_field *field, const struct usage *u)
{
	return !summary_field_is_known(field, u) ||
	       ((u->marks.partial | u->marks.estimated) & field->bits &&
	        summary_field_is_zero(field, u) && !is_named(field, "processes"));
}

void summary_add_value(struct text *out, const struct summary_field *field, const struct usage *u)
{
	if (summary_is_unknown(field, u)) {
		text_add(out, "unknown");
		return;
	}
	if (!summary_field_is_zero(field, u))
		text_add(out, summary_field_reservation(field, u));
	summary_field_add_human(out, field, u);
}

static void add_cpu_part(struct text *out, const struct usage *u, uint64_t ns, const char *name)
{
	if (ns == 0 && u->marks.partial & RT_HAS_CPU)
		text_printf(out, "unknown %s", name);
	else
		text_printf(out, "%s %s", human_time(ns).s, name);
}

static void add_cpu_meaning(struct text *out, const struct summary_field *field,
                            const struct usage *u)
{
	if (summary_is_unknown(field, u))
		return;
	add_cpu_part(out, u, u->cpu_user_ns, "user");
	text_add(out, ", ");
	add_cpu_part(out, u, u->cpu_system_ns, "system");
}

static void add_tree_meaning(struct text *out, const struct usage *u)
{
	if (u->peak_tree_kind == RT_PEAK_CGROUP)
		text_add(out, "all processes, as charged to the cgroup, page cache too");
	else if (u->peak_tree_kind)
		text_add(out, "all processes, each page once");
	else if (u->kind == USAGE_RUN)
		text_add(out, "the command ended before its memory was read");
}

static void add_overhead_meaning(struct text *out, const struct usage *u)
{
	text_printf(out, "CPU time of rtrack for %s sample%s", human_count(u->samples).s,
	            u->samples == 1 ? "" : "s");
	if (u->samples_missed > 0)
		text_printf(out, " (%s missed)", human_count(u->samples_missed).s);
	if (u->wall_ns > 0)
		text_printf(out, ", %.2f %% of one core",
		            100.0 * (double)u->overhead_cpu_ns / (double)u->wall_ns);
}

void summary_add_meaning(struct text *out, const struct summary_field *field, const struct usage *u)
{
	if (is_named(field, "cpu_seconds"))
		add_cpu_meaning(out, field, u);
	else if (is_named(field, "cores_used") && u->cpus > 0)
		text_printf(out, "of %s, on average", human_count(u->cpus).s);
	else if (is_named(field, "peak_memory_used_bytes") && u->memory_total_bytes > 0)
		text_printf(out, "used, of %s", human_bytes(u->memory_total_bytes).s);
	else if (is_named(field, "peak_footprint_bytes"))
		add_tree_meaning(out, u);
	else if (is_named(field, "peak_rss_bytes") && u->kind == USAGE_RUN &&
	         !is_known(u->marks, RT_HAS_PEAK_RSS))
		text_printf(out, "%s: it ended before it was read", field->about);
	else if (is_named(field, "processes"))
		text_add(out, u->processes_exact ? "in all" : "seen");
	else if (is_named(field, "overhead_cpu_seconds"))
		add_overhead_meaning(out, u);
	else if (is_of_cgroup(field, "cores_used"))
		own_limits_add_cpus(out, u->own_cpus_allowed);
	else if (is_of_cgroup(field, "peak_memory_bytes"))
		text_printf(out, "at most, of %s allowed",
		            human_bytes(u->own_memory_limit_bytes).s);
	else if (field->about)
		text_add(out, field->about);
}

static const char *words_of_limit(const struct usage *u)
{
	if (u->timed_out)
		return "timed out, ";
	return u->limit_passed ? "limit passed, " : "";
}

bool summary_add_subject(struct text *words, struct text *name, const struct usage *u)
{
	if (u->kind == USAGE_SYSTEM)
		text_add(words, "system");
	else if (u->cgroup)
		text_add(words, "cgroup ");
	else if (u->kind == USAGE_ATTACH)
		text_printf(words, "process %d%s", (int)u->pid, u->argv ? ": " : "");
	if (u->cgroup)
		text_add(name, u->cgroup);
	for (size_t i = 0; u->argv && u->argv[i]; i++)
		text_printf(name, "%s%s", i ? " " : "", u->argv[i]);
	return u->cgroup || u->argv;
}

void summary_add_ending(struct text *out, const struct usage *u)
{
	if (u->kind == USAGE_ATTACH)
		text_add(out, u->has_ended ? "ended" : "still running");
	else if (!u->has_ended)
		text_printf(out, "%sstill running", words_of_limit(u));
	else if (u->signal > 0)
		text_printf(out, "%skilled by signal %d (%s)", words_of_limit(u), (int)u->signal,
		            strsignal(u->signal));
	else if (u->exit_code >= 0)
		text_printf(out, "%sexit %d", words_of_limit(u), (int)u->exit_code);
	else
		text_add(out, "exit status lost");
}

/* Returns the reasons why CPU time may be missing. There is none if the account is complete. */
static uint32_t missing_reasons(const struct usage *u)
{
	return u->reasons & ~(uint32_t)(RT_REASON_NO_SUPERVISOR | RT_REASON_PAST_UNKNOWN);
}

/* The account of a cgroup has all of its CPU time. What was used after the last sample is lost if
 * the cgroup is removed. */
static bool lacks_last_time(const struct usage *u)
{
	return u->cgroup && !missing_reasons(u) && !u->complete;
}

void summary_add_accounting(struct text *out, const struct usage *u)
{
	text_printf(out, "%s, ", u->accounting_method ? u->accounting_method : "unknown method");
	if (missing_reasons(u) || lacks_last_time(u))
		text_add(out, "perhaps incomplete");
	else if (u->error_bound_ns >= SHOWN_ERROR_NS && u->error_bound_ns != UINT64_MAX)
		text_printf(out, "complete to within %s of CPU", human_time(u->error_bound_ns).s);
	else
		text_add(out, "complete");
	if (!missing_reasons(u) && u->reasons & RT_REASON_PAST_UNKNOWN)
		text_add(out, " since rtrack attached");
	/* The account of a cgroup does not count its processes. */
	if (u->cgroup && u->complete)
		text_add(out, " for CPU time");
}

/* Other programs are to blame only if there is an account that they share. The parent of the
 * process that was followed is not in its tree. */
static const char *words_of(const struct named_bit *reason, const struct usage *u)
{
	if (reason->bit == RT_REASON_UNWAITED && u->kind == USAGE_ATTACH && u->has_ended)
		return "a process, perhaps the one that was followed, exited and no parent in the "
		       "tree waited for it";
	if (reason->bit == RT_REASON_UNVERIFIED && u->cpu_high_ns == UINT64_MAX)
		return "nothing here shows that every process was waited for";
	return reason->about;
}

/* E.g.: "up to 0.500 s of CPU may be missing: a process could not be read in full". */
static void add_missing_cpu(struct text *out, const struct usage *u)
{
	struct named_bit reason;
	const char *gap = ": ";

	if (u->error_bound_ns == UINT64_MAX)
		text_add(out, "CPU time may be missing, and it is not known how much");
	else
		text_printf(out, "up to %s of CPU may be missing", human_time(u->error_bound_ns).s);
	for (uint32_t i = 0; next_bit(RT_CONSTANTS_REASON, &i, &reason);) {
		if (!(missing_reasons(u) & reason.bit))
			continue;
		text_printf(out, "%s%s", gap, words_of(&reason, u));
		gap = "; ";
	}
}

static void add_supervisor_problem(struct text *out, const struct usage *u)
{
	struct named_bit reason;

	text_printf(out, "accounting is by %s: ", accounting_name(u->accounting));
	if (u->supervisor_problem) {
		text_add(out, u->supervisor_problem);
		return;
	}
	for (uint32_t i = 0; next_bit(RT_CONSTANTS_REASON, &i, &reason);) {
		if (reason.bit == RT_REASON_NO_SUPERVISOR)
			text_add(out, reason.about);
	}
}

bool summary_add_caveat(struct text *out, const struct usage *u, unsigned index)
{
	unsigned at = 0;

	if (u->reasons & RT_REASON_NO_SUPERVISOR && index == at++) {
		add_supervisor_problem(out, u);
		return true;
	}
	if (missing_reasons(u) && index == at++) {
		add_missing_cpu(out, u);
		return true;
	}
	if (lacks_last_time(u) && index == at++) {
		text_add(out,
		         u->has_ended
		             ? "CPU time since the last sample is missing: the cgroup was removed"
		             : "the cgroup has no account of CPU time");
		return true;
	}
	/* That the process itself runs, the title says. */
	if (u->left_running > (u->kind == USAGE_ATTACH) && index == at++) {
		text_printf(out, "%s process%s %s running at the end",
		            human_count(u->left_running).s, u->left_running == 1 ? "" : "es",
		            u->kind == USAGE_RUN ? "left" : "still");
		return true;
	}
	if (u->members_skipped > 0 && index == at++) {
		text_printf(out, "%s process%s left out of a sample",
		            human_count(u->members_skipped).s,
		            u->members_skipped == 1 ? " was" : "es were");
		return true;
	}
	if (*u->io_problem && index == at++) {
		text_printf(out, "read, written: %s", u->io_problem);
		return true;
	}
	return false;
}

bool summary_shows_top(const struct usage *u)
{
	return u->top && (u->processes != 1 || !u->processes_exact) &&
	       (u->top->by_cpu.count > 0 || u->top->by_memory.count > 0);
}

void summary_add_top_cpu(struct text *out, const struct top_process *process)
{
	const char *bound = process->is_cpu_estimated ? "about " : "at least ";

	text_printf(out, "%s%s", process->is_cpu_final ? "" : bound, human_time(process->cpu_ns).s);
}

void summary_add_top_memory(struct text *out, const struct top_process *process)
{
	text_printf(out, "%s%s", process->is_memory_final ? "" : "at least ",
	            human_bytes(process->peak_rss_bytes).s);
}

const char *summary_top_command(const struct top_process *process)
{
	return process->command[0] ? process->command : process->name;
}
