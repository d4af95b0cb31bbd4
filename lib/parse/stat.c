/* SPDX-License-Identifier: MIT */
/* Parser of /proc/stat. */
#include <errno.h>
#include <stdbool.h>

#include "parse/parse.h"
#include "parse/scan.h"
#include "util/visit.h"

enum { INTERRUPTS, CONTEXT_SWITCHES, FORKS, PROCS_RUNNING, PROCS_BLOCKED, KEYS };

static const struct rti_scan_key keys[KEYS] = {
	[INTERRUPTS] = RTI_SCAN_KEY("intr "),
	[CONTEXT_SWITCHES] = RTI_SCAN_KEY("ctxt "),
	[FORKS] = RTI_SCAN_KEY("processes "),
	[PROCS_RUNNING] = RTI_SCAN_KEY("procs_running "),
	[PROCS_BLOCKED] = RTI_SCAN_KEY("procs_blocked "),
};

/* The first four fields have always been there. Later kernels added fields at the end. */
static bool parse_ticks(struct rti_scan *s, struct rti_cpu_ticks *out)
{
	uint64_t *const later[] = {
		&out->iowait, &out->irq, &out->softirq, &out->steal, &out->guest, &out->guest_nice,
	};

	*out = (struct rti_cpu_ticks){ 0 };
	if (!rti_scan_u64(s, &out->user) || !rti_scan_u64(s, &out->nice) ||
	    !rti_scan_u64(s, &out->system) || !rti_scan_u64(s, &out->idle))
		return false;
	for (unsigned i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		if (!rti_scan_u64(s, later[i]))
			break;
	return true;
}

int rti_parse_stat(const char *data, size_t len, struct rti_stat *out,
                   int (*each)(void *arg, uint32_t cpu, const struct rti_cpu_ticks *ticks),
                   void *arg)
{
	uint64_t values[KEYS] = { 0 };
	struct rti_scan_numbers numbers = { .keys = keys, .count = KEYS, .value = values };
	struct rti_scan s = rti_scan(data, len);
	bool has_total = false;

	while (s.at < s.end) {
		struct rti_cpu_ticks ticks;
		uint32_t cpu;
		int err;

		if (!rti_scan_literal(&s, "cpu")) {
			rti_scan_keyed_line(&s, &numbers);
			continue;
		}
		if (rti_scan_literal(&s, " ")) {
			has_total = parse_ticks(&s, &out->total);
		} else {
			if (!rti_scan_u32(&s, &cpu) || !parse_ticks(&s, &ticks))
				return -EBADMSG;
			err = each ? each(arg, cpu, &ticks) : RTI_CONTINUE;
			if (err != RTI_CONTINUE)
				return err;
		}
		rti_scan_skip_line(&s);
	}
	out->interrupts = values[INTERRUPTS];
	out->context_switches = values[CONTEXT_SWITCHES];
	out->forks = values[FORKS];
	out->procs_running = values[PROCS_RUNNING];
	out->procs_blocked = values[PROCS_BLOCKED];
	out->has_procs = numbers.has == (1u << KEYS) - 1;
	return has_total ? 0 : -EBADMSG;
}
