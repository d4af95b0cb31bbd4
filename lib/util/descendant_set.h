/* SPDX-License-Identifier: MIT */
/* Who belongs to a tree, told by forks alone: nobody is too short-lived to be counted. Pure.
 *
 * A member stays one after its end, since threads may outlive the first of them and fork on; its number is free again
 * when somebody else's fork gives it away. */
#ifndef RTI_CENSUS_H
#define RTI_CENSUS_H

#include <stdint.h>

#define RTI_MOST_PIDS (1 << 22) /* PID_MAX_LIMIT, include/linux/threads.h */

struct rti_census {
	uint64_t is_member[RTI_MOST_PIDS / 64], is_alive[RTI_MOST_PIDS / 64];
	uint64_t count;     /* of members that ever were */
	uint64_t alive;     /* now */
	uint64_t most_alive;
};

int rti_census_has(const struct rti_census *census, int32_t pid);
int rti_census_is_alive(const struct rti_census *census, int32_t pid);

/* Somebody who is there already belongs to it. */
void rti_census_join(struct rti_census *census, int32_t pid);

/* 1 when the child is a member. */
int rti_census_fork(struct rti_census *census, int32_t parent, int32_t child);

/* An exec makes the one thread that is left the process, whose end may have been told by then. */
void rti_census_exec(struct rti_census *census, int32_t pid);

void rti_census_exit(struct rti_census *census, int32_t pid);

#endif
