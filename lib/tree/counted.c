/* SPDX-License-Identifier: MIT */
/* What BPF programs have counted of a tree. */
#include "tree/counted.h"

#include "os/cpu_time.h"
#include "util/arith.h"

static void set_counters(const struct rti_account_use *use, uint64_t out[RTI_COUNTERS])
{
	rti_split_cpu(use->cpu_ns, use->user_part_ns, use->user_part_ns + use->system_part_ns,
	              &out[RTI_CPU_USER], &out[RTI_CPU_SYSTEM]);
	out[RTI_MINOR_FAULTS] = use->minflt;
	out[RTI_MAJOR_FAULTS] = use->majflt;
	out[RTI_VOLUNTARY] = use->voluntary_switches;
	out[RTI_INVOLUNTARY] = use->involuntary_switches;
	out[RTI_READ_BYTES] = use->read_bytes;
	out[RTI_WRITE_BYTES] = use->write_bytes;
	out[RTI_CANCELLED_BYTES] = use->cancelled_write_bytes;
	out[RTI_READ_CHARS] = use->read_chars;
	out[RTI_WRITE_CHARS] = use->write_chars;
	out[RTI_READ_CALLS] = use->read_calls;
	out[RTI_WRITE_CALLS] = use->write_calls;
}

void rti_tree_counted_set(struct rti_tree_counted *counted, const struct rti_account_totals *totals,
                          uint64_t page_size)
{
	bool lacks_peaks = totals->rowless || totals->unmarked || totals->peakless;

	*counted = (struct rti_tree_counted){
		.peak_rss_bytes = rti_multiply_saturated(totals->peak_pages, page_size),
		.processes = totals->processes,
		.has_ended = totals->running == 0,
		.has_peaks = totals->is_whole && !lacks_peaks,
		.lacks_peaks = lacks_peaks,
		.has_io = totals->has_io,
		.has_switches = totals->ended_early == 0,
	};
	set_counters(&totals->use, counted->counters);
}
