/* SPDX-License-Identifier: MIT */
/* Splits CPU time into user and system time. */
#include "os/cpu_time.h"

void rti_split_cpu(uint64_t total_ns, uint64_t user_part, uint64_t both_parts, uint64_t *user_ns,
                   uint64_t *system_ns)
{
	if (user_part > both_parts)
		user_part = both_parts;
	/* If no tick has hit the process yet, all is user time, as in the kernel. */
	*user_ns = total_ns;
	if (user_part < both_parts)
		*user_ns = (uint64_t)((double)total_ns * ((double)user_part / (double)both_parts));
	*system_ns = total_ns - *user_ns;
}
