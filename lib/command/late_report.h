/* SPDX-License-Identifier: MIT */
/* How long to wait for a report of a supervisor: that its program has ended, or its account. */
#ifndef RTI_LATE_REPORT_H
#define RTI_LATE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "os/platform.h"

/* Written by late_report.c only. Times are CLOCK_MONOTONIC. */
struct rti_late_report {
	/* When the program was first seen to have ended, or the account was asked for; 0: not
	 * yet. */
	uint64_t ended_ns;
	const struct rti_wait_bounds *bounds; /* NULL until then */
	uint64_t cpu_ns;                      /* CPU time of the supervisor */
	uint64_t quiet_since_ns;              /* since when it is the same */
};

/* The program has ended, or the account was asked for. cpu_ns is the CPU time of the supervisor. */
void rti_late_report_begin(struct rti_late_report *late, const struct rti_wait_bounds *bounds,
                           uint64_t now_ns, uint64_t cpu_ns);

/* When to look again; UINT64_MAX while the program runs. */
uint64_t rti_late_report_next_ns(const struct rti_late_report *late, uint64_t now_ns);

/* Whether the supervisor is so late that it may be stopped. */
bool rti_late_report_is_late(const struct rti_late_report *late, uint64_t now_ns);

/* Whether to do without the report. A supervisor may have thousands of processes to reap before it
 * reports this one. So it has time for as long as it uses CPU time, up to a bound. is_unwanted: the
 * caller asks to end. */
bool rti_late_report_is_given_up(struct rti_late_report *late, uint64_t now_ns, uint64_t cpu_ns,
                                 bool is_unwanted);

#endif
