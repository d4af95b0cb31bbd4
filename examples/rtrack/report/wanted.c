/* SPDX-License-Identifier: MIT */
/* Which domains a tracker has to measure: those of the outputs, and no others. */
#include "wanted.h"

#include <stdbool.h>
#include <stddef.h>

#include <rtrack/rtrack.h>

#include "live.h"
#include "series/gpu.h"
#include "summary/summary_fields.h"

/* A summary of the system has few figures, the one of a tree nearly all. That of a cgroup has those
 * of a tree, too, where the kernel has no account. */
static uint64_t domains_of_summary(uint32_t kind)
{
	const struct summary_field *field;
	uint64_t domains = RT_HAS_MEMORY_AVAILABLE; /* its history */

	if (kind != RT_KIND_SYSTEM)
		return (rt_default_domains(kind) | rt_default_domains(RT_KIND_PID)) &
		       ~(uint64_t)RT_HAS_PSS;
	for (size_t i = 0; (field = summary_field_at(i)); i++)
		domains |= field->kinds & USAGE_SYSTEM ? field->bits : 0;
	return domains;
}

/* What a figure is made from, besides its own file. RT_HAS_PSS has PSS read, so it is asked for by
 * its columns alone. */
static uint64_t with_sources(uint64_t want)
{
	if (want & (RT_HAS_PSS | RT_HAS_FOOTPRINT | RT_HAS_NEEDED | RT_HAS_PEAK_FOOTPRINT |
	            RT_HAS_PEAK_NEEDED))
		want |= RT_HAS_RSS | RT_HAS_PEAK_RSS;
	return want;
}

uint64_t wanted_domains(const struct options *options, const struct series *series, uint32_t kind)
{
	bool has_summary = options->summary != SUMMARY_NONE;
	uint64_t want = series_domains(series, kind);

	if (options->max_memory_bytes)
		want |= RT_HAS_NEEDED | RT_HAS_TREE_SWAP;
	if (options->max_processes)
		want |= RT_HAS_PROCESSES;
	if (series->is_per_process) /* for the count of those without a row */
		want |= RT_HAS_PROCESSES | RT_HAS_PROCESSES_SEEN;
	if (has_summary)
		want |= domains_of_summary(kind) | GPU_DOMAINS;
	/* The list of the processes has what samples saw of them. */
	if (options->processes || live_is_wanted(options, series))
		want |= rt_default_domains(kind) & ~(uint64_t)RT_HAS_PSS;
	if (options->pss == PSS_EXACT)
		want |= RT_HAS_PSS;
	if (!options->gpu)
		want &= ~GPU_DOMAINS;
	if (kind == RT_KIND_SYSTEM) /* the number of CPUs, from the file of CPU time */
		want |= RT_HAS_CPU_MODES;
	/* 0 would stand for the default domains. */
	return (with_sources(want) & rt_domains(kind)) | RT_HAS_CPU;
}
