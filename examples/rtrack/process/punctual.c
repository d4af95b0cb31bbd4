/* SPDX-License-Identifier: MIT */
/* Wakes up on time, though other programs want the CPU. */
#include "punctual.h"

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "text/units.h"

/* From about here on, the usual slice of 3 ms makes samples late. */
#define LONGEST_INTERVAL_NS (NS_PER_S / 50)
#define SLICE_NS 100000 /* the shortest that the kernel takes */
#define RESET_ON_FORK 1

/* The kernel's struct sched_attr, as of 3.14: not every C library has it. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* The scheduler prefers the thread with the earlier deadline, which is a slice away: see
 * sched_attr::sched_runtime of SCHED_OTHER in sched(7), since Linux 6.12. Before that it has no
 * effect. Another policy was chosen by the user, and stays. */
void punctual_begin(int64_t interval_ns)
{
	struct attributes a = { .size = sizeof(a) };

	if (interval_ns > LONGEST_INTERVAL_NS)
		return;
	if (syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0) < 0 || a.policy != SCHED_OTHER)
		return;
	a.flags |= RESET_ON_FORK;
	a.runtime = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &a, 0);
}
