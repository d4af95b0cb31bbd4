/* SPDX-License-Identifier: MIT */
/* Clocks and constants of the system: the only code that asks for them. */
#ifndef RTI_PLATFORM_H
#define RTI_PLATFORM_H

#include <stdbool.h>
#include <stdint.h>

struct rti_now {
	uint64_t monotonic_ns, boottime_ns, realtime_ns;
};

/* CPU time of a process, by its CPU clocks. total_ns is exact. The two parts are sampled at ticks
 * and only serve as a ratio. */
struct rti_cpu_clock {
	uint64_t total_ns, user_part_ns, both_parts_ns;
	uint64_t parts_at_ns; /* total_ns when the parts were last read; 0: never read */
};

/* What the children that a process has waited for have used, with their own children. */
struct rti_reaped_use {
	uint64_t user_ns, system_ns, minor_faults, major_faults;
};

/* How long the library waits for its helpers, the supervisor and the tracer, in ns. See
 * docs/notes/waits.md. Tests have a hundredth. */
struct rti_wait_bounds {
	uint64_t begin_ns;      /* a helper begins */
	uint64_t look_ns;       /* between two looks at a helper that keeps the caller waiting */
	uint64_t idle_look_ns;  /* the same at one that may have nothing to do */
	uint64_t again_ns;      /* a helper that is still stopped is continued once more */
	uint64_t stopped_ns;    /* it is then given up */
	uint64_t signal_ns;     /* a signal that asks to end has been pending */
	uint64_t answer_ns;     /* an answer of a helper that has nothing else to do */
	uint64_t late_ns;       /* a report is late */
	uint64_t quiet_ns;      /* a report of a supervisor that uses no CPU time */
	uint64_t busy_ns;       /* of one that does */
	uint64_t unwanted_ns;   /* of either, once the caller asks to end */
	uint64_t unexecuted_ns; /* a program that was not executed ends */
};

/* Invariant: constant after rti_platform_init(). Tests fill in functions of their own. */
struct rti_platform {
	uint64_t tick_ns;       /* one clock tick of /proc */
	uint64_t page_size;     /* bytes */
	bool has_32_bit_kernel; /* so its counters of type long have 32 bits, too */
	struct rti_wait_bounds waits;
	void (*now)(struct rti_now *out);
	/* The monotonic clock alone: costs a tenth of now(). */
	uint64_t (*monotonic_ns)(void);
	uint64_t (*thread_cpu_ns)(void); /* CPU time of the calling thread */
	/* Read the CPU clocks of a process. Returns 0 or -ESRCH. Leaves the parts in *out as they
	 * are if total_ns has advanced by less than 1 ms since they were read. NULL if pids are of
	 * another pid namespace than the caller's. */
	int (*cpu_clock)(int32_t pid, struct rti_cpu_clock *out);
	/* Whether a pid is the id of a process, and not of one of its threads. Opens no file, and
	 * costs half as much as a CPU clock. NULL as cpu_clock. */
	bool (*is_process)(int32_t pid);
	/* Whether two processes run in one address space. NULL as cpu_clock. Returns false if that
	 * is unknown. */
	bool (*have_same_memory)(int32_t pid, int32_t other);
	int32_t (*getpid)(void);
	/* What the calling process has reaped: RUSAGE_CHILDREN of getrusage(2). NULL as
	 * cpu_clock. */
	void (*reaped_use)(struct rti_reaped_use *out);
	uint32_t (*cpu_count)(void); /* CPUs that are online */
	uint32_t (*fd_limit)(void);  /* soft RLIMIT_NOFILE, or UINT32_MAX */
};

/* Fill in the functions and constants of the running system. is_foreign: pids are those
 * of another root: CPU clocks do not know them, so cpu_clock becomes NULL. */
void rti_platform_init(struct rti_platform *platform, bool is_foreign);

/* Returns CLOCK_MONOTONIC, for code that needs no other clock. */
uint64_t rti_monotonic_ns(void);

/* Returns the length of the kernel's own clock tick (1 / CONFIG_HZ), which is not the tick of
 * /proc. */
uint64_t rti_platform_kernel_tick_ns(void);

#endif
