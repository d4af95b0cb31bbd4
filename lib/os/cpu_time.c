/* SPDX-License-Identifier: MIT */
/* Splits CPU time into user and system time. */
#include "os/cpu_time.h"

void rti_split_cpu(uint64_t total_ns, uint64_t user_part, uint64_t both_parts, uint64_t *user_ns,
                   uint64_t *system_ns)
{
	double share_ns = (double)total_ns;

	if (user_part < both_parts)
		share_ns *= (double)user_part / (double)both_parts;
	/* If no tick has hit the process yet, all is user time, as in the kernel. Above 104 days,
	 * a double may be rounded up to more than the total. */
	*user_ns = share_ns < (double)total_ns ? (uint64_t)share_ns : total_ns;
	*system_ns = total_ns - *user_ns;
}
