/* SPDX-License-Identifier: MIT */
/* The set of processes that belong to a tree, built from fork events. */
#include "util/descendant_set.h"

static bool has(const uint64_t *bits, int32_t pid)
{
	return pid > 0 && pid < RTI_PIDS_MAX && bits[pid / 64] >> (pid % 64) & 1;
}

/* Returns true if the bit changed. */
static bool assign_bit(uint64_t *bits, int32_t pid, bool is_set)
{
	if (pid <= 0 || pid >= RTI_PIDS_MAX || has(bits, pid) == is_set)
		return false;
	bits[pid / 64] ^= UINT64_C(1) << (pid % 64);
	return true;
}

static void mark_alive(struct rti_descendant_set *descendants, int32_t pid)
{
	if (assign_bit(descendants->is_alive, pid, true) &&
	    ++descendants->alive > descendants->alive_peak)
		descendants->alive_peak = descendants->alive;
}

bool rti_descendant_set_has(const struct rti_descendant_set *descendants, int32_t pid)
{
	return has(descendants->is_member, pid);
}

bool rti_descendant_set_is_alive(const struct rti_descendant_set *descendants, int32_t pid)
{
	return has(descendants->is_alive, pid);
}

void rti_descendant_set_add(struct rti_descendant_set *descendants, int32_t pid)
{
	descendants->count += (uint64_t)assign_bit(descendants->is_member, pid, true);
	mark_alive(descendants, pid);
}

bool rti_descendant_set_fork(struct rti_descendant_set *descendants, int32_t parent, int32_t child)
{
	if (!rti_descendant_set_has(descendants, parent)) {
		rti_descendant_set_exit(descendants, child);
		assign_bit(descendants->is_member, child, false);
		return false;
	}
	if (child <= 0 || child >= RTI_PIDS_MAX)
		return false;
	/* A member that was added before its fork event arrived is not counted again. */
	descendants->count += (uint64_t)(assign_bit(descendants->is_member, child, true) ||
	                                 !has(descendants->is_alive, child));
	mark_alive(descendants, child);
	return true;
}

void rti_descendant_set_exec(struct rti_descendant_set *descendants, int32_t pid)
{
	if (rti_descendant_set_has(descendants, pid))
		mark_alive(descendants, pid);
}

void rti_descendant_set_exit(struct rti_descendant_set *descendants, int32_t pid)
{
	if (assign_bit(descendants->is_alive, pid, false))
		descendants->alive--;
}
