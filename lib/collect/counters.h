/* SPDX-License-Identifier: MIT */
/* The counters of a process that the ledger adds up. */
#ifndef RTI_COUNTERS_H
#define RTI_COUNTERS_H

enum rti_counter_id {
	RTI_CPU_USER,   /* ns */
	RTI_CPU_SYSTEM, /* ns */
	RTI_MINOR_FAULTS,
	RTI_MAJOR_FAULTS,
	RTI_VOLUNTARY,
	RTI_INVOLUNTARY,
	/* From here on the kernel adds what reaped children used to the process's own count. */
	RTI_READ_BYTES,
	RTI_WRITE_BYTES,
	RTI_CANCELLED_BYTES,
	RTI_READ_CHARS,
	RTI_WRITE_CHARS,
	RTI_READ_CALLS,
	RTI_WRITE_CALLS,
	RTI_COUNTERS
};

struct rti_counter_range {
	enum rti_counter_id first;
	unsigned count; /* 0: no counters */
};

#endif
