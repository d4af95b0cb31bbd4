/* SPDX-License-Identifier: MIT */
/* Who belongs to a tree, told by forks alone: nobody is too short-lived to be counted. */
#include "util/descendant_set.h"

static int has(const uint64_t *bits, int32_t pid)
{
	return pid > 0 && pid < RTI_MOST_PIDS && bits[pid / 64] >> (pid % 64) & 1;
}

/* 1 when that changed something. */
static int put(uint64_t *bits, int32_t pid, int is_set)
{
	if (pid <= 0 || pid >= RTI_MOST_PIDS || has(bits, pid) == is_set)
		return 0;
	bits[pid / 64] ^= UINT64_C(1) << (pid % 64);
	return 1;
}

static void revive(struct rti_census *census, int32_t pid)
{
	if (put(census->is_alive, pid, 1) && ++census->alive > census->most_alive)
		census->most_alive = census->alive;
}

int rti_census_has(const struct rti_census *census, int32_t pid)
{
	return has(census->is_member, pid);
}

int rti_census_is_alive(const struct rti_census *census, int32_t pid)
{
	return has(census->is_alive, pid);
}

void rti_census_join(struct rti_census *census, int32_t pid)
{
	census->count += (uint64_t)put(census->is_member, pid, 1);
	revive(census, pid);
}

int rti_census_fork(struct rti_census *census, int32_t parent, int32_t child)
{
	if (!rti_census_has(census, parent)) {
		rti_census_exit(census, child);
		put(census->is_member, child, 0);
		return 0;
	}
	if (child <= 0 || child >= RTI_MOST_PIDS)
		return 0;
	/* Who joined before his fork was told is not counted again. */
	census->count += (uint64_t)(put(census->is_member, child, 1) || !has(census->is_alive, child));
	revive(census, child);
	return 1;
}

void rti_census_exec(struct rti_census *census, int32_t pid)
{
	if (rti_census_has(census, pid))
		revive(census, pid);
}

void rti_census_exit(struct rti_census *census, int32_t pid)
{
	if (put(census->is_alive, pid, 0))
		census->alive--;
}
