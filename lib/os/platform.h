/* SPDX-License-Identifier: MIT */
/* Clocks and constants of the machine: the only place that asks for them.
 *
 * Invariant: constant once made; tests fill in functions of their own. */
#ifndef RTI_PLATFORM_H
#define RTI_PLATFORM_H

#include <stdint.h>

struct rti_now {
	uint64_t monotonic_ns, boottime_ns, realtime_ns;
};

/* CPU time of a process by its CPU clocks. user and system are sampled at ticks and serve only
 * as a ratio. */
struct rti_cpu_clock {
	uint64_t total_ns, user_part_ns, both_parts_ns;
	uint64_t parts_at_ns; /* where total_ns stood when the parts were read; 0: never */
};

struct rti_platform {
	uint64_t tick_ns;   /* one clock tick of /proc */
	uint64_t page_size; /* bytes */
	void (*now)(struct rti_now *out);
	/* the first of the three, which costs a tenth of the next to read */
	uint64_t (*monotonic_ns)(void);
	uint64_t (*thread_cpu_ns)(void); /* CPU time of the calling thread */
	/* NULL where pids are not those of the caller's pid namespace. 0 or -ESRCH. The parts
	 * are left as they are in out where hardly any time has passed on the clock since they
	 * were read. */
	int (*cpu_clock)(int32_t pid, struct rti_cpu_clock *out);
	int32_t (*getpid)(void);
	uint32_t (*cpu_count)(void); /* CPUs that are online */
	uint32_t (*fd_limit)(void);  /* soft RLIMIT_NOFILE, or UINT32_MAX */
};

/* foreign: pids are those of another root, which the CPU clocks do not know. */
void rti_platform_init(struct rti_platform *platform, int foreign);

#endif
