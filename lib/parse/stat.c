/* SPDX-License-Identifier: MIT */
/* Parser of /proc/stat. */
#include "parse/parse.h"
#include "parse/scan.h"

#include <errno.h>

enum { INTERRUPTS, CONTEXT_SWITCHES, BOOT_TIME, FORKS, PROCS_RUNNING, PROCS_BLOCKED, KEYS };

static const char *const keys[KEYS] = {
	[INTERRUPTS] = "intr ",
	[CONTEXT_SWITCHES] = "ctxt ",
	[BOOT_TIME] = "btime ",
	[FORKS] = "processes ",
	[PROCS_RUNNING] = "procs_running ",
	[PROCS_BLOCKED] = "procs_blocked ",
};

/* The first four are as old as the file; every kernel that grew it added at the end. */
static int take_ticks(struct rti_scan *line, struct rti_cpu_ticks *out)
{
	uint64_t *const later[] = {
		&out->iowait, &out->irq, &out->softirq, &out->steal, &out->guest, &out->guest_nice,
	};

	*out = (struct rti_cpu_ticks){ 0 };
	if (!rti_scan_u64(line, &out->user) || !rti_scan_u64(line, &out->nice) || !rti_scan_u64(line, &out->system) ||
	    !rti_scan_u64(line, &out->idle))
		return 0;
	for (unsigned i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		if (!rti_scan_u64(line, later[i]))
			break;
	return 1;
}

static int parse_cpu(struct rti_scan *line, int (*each)(void *arg, uint32_t cpu, const struct rti_cpu_ticks *ticks),
                     void *arg)
{
	struct rti_cpu_ticks ticks;
	uint32_t cpu;

	if (!rti_scan_u32(line, &cpu) || !take_ticks(line, &ticks))
		return -EBADMSG;
	return each ? each(arg, cpu, &ticks) : 0;
}

static void parse_counter(struct rti_scan *line, uint64_t *values, unsigned *has)
{
	for (unsigned key = 0; key < KEYS; key++) {
		if (rti_scan_literal(line, keys[key])) {
			*has |= (unsigned)rti_scan_u64(line, &values[key]) << key;
			return;
		}
	}
}

static void set_counters(struct rti_stat *out, const uint64_t *values, unsigned has)
{
	out->interrupts = values[INTERRUPTS];
	out->context_switches = values[CONTEXT_SWITCHES];
	out->boot_time_s = values[BOOT_TIME];
	out->forks = values[FORKS];
	out->procs_running = values[PROCS_RUNNING];
	out->procs_blocked = values[PROCS_BLOCKED];
	out->has_procs = has == (1u << KEYS) - 1;
}

int rti_parse_stat(const char *data, size_t len, struct rti_stat *out,
                   int (*each)(void *arg, uint32_t cpu, const struct rti_cpu_ticks *ticks), void *arg)
{
	struct rti_scan s = rti_scan(data, len), line;
	uint64_t values[KEYS] = { 0 };
	unsigned has = 0;
	int has_total = 0;

	while (rti_scan_line(&s, &line)) {
		int err = 0;

		if (!rti_scan_literal(&line, "cpu"))
			parse_counter(&line, values, &has);
		else if (rti_scan_literal(&line, " "))
			has_total = take_ticks(&line, &out->total);
		else
			err = parse_cpu(&line, each, arg);
		if (err)
			return err;
	}
	set_counters(out, values, has);
	return has_total ? 0 : -EBADMSG;
}
