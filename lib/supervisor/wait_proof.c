/* SPDX-License-Identifier: MIT */
/* Proves by process events that every process of the tree was waited for. */
#include "supervisor/wait_proof.h"

#include <errno.h>

#include "os/platform.h"
#include "supervisor/table.h"
#include "util/descendant_set.h"

#define UNIT_NS 100000u /* of start times: 32 bits last for five days */

/* Invariant: written by the functions of this file only. The tables are indexed by pid, and only
 * the pages that are used take up memory. */
static struct proof {
	struct rti_shared_stats *shared;
	pid_t root;
	bool has_given_up;
	uint64_t begin_ns;
	uint64_t cpus;
	uint64_t unproven_ns, unwaited_ns, threads;
	/* In UNIT_NS since begin_ns, rounded down, plus 1. 0: unknown, or the exit was settled. */
	uint32_t start[RTI_PIDS_MAX];
	uint64_t has_threads[RTI_PIDS_MAX / 64], has_children[RTI_PIDS_MAX / 64];
} * proof;

static bool has(const uint64_t *bits, int32_t pid)
{
	return bits[pid / 64] >> (pid % 64) & 1;
}

static void set_bit(uint64_t *bits, int32_t pid)
{
	bits[pid / 64] |= UINT64_C(1) << (pid % 64);
}

static void clear_bit(uint64_t *bits, int32_t pid)
{
	bits[pid / 64] &= ~(UINT64_C(1) << (pid % 64));
}

static bool is_in_range(int32_t pid)
{
	return pid > 0 && pid < RTI_PIDS_MAX;
}

int rts_wait_proof_begin(struct rti_shared_stats *shared, pid_t root, uint64_t cpus)
{
	rts_wait_proof_end();
	proof = rts_table_new(sizeof(*proof));
	if (!proof)
		return -ENOMEM;
	proof->shared = shared;
	proof->root = root;
	proof->begin_ns = rti_monotonic_ns();
	proof->cpus = cpus;
	shared->unproven_ns = shared->unwaited_ns = shared->threads = UINT64_MAX;
	return 0;
}

void rts_wait_proof_end(void)
{
	rts_table_free(proof, sizeof(*proof));
	proof = NULL;
}

void rts_wait_proof_fork(const struct rti_process_event *event)
{
	uint64_t units = 0;

	if (!is_in_range(event->pid) || !is_in_range(event->ppid)) {
		proof->has_given_up = true;
		return;
	}
	/* After five days no start is known, so every lifetime is too long, which is safe. */
	if (event->monotonic_ns > proof->begin_ns)
		units = (event->monotonic_ns - proof->begin_ns) / UNIT_NS;
	proof->start[event->pid] = units < UINT32_MAX ? (uint32_t)units + 1 : 0;
	clear_bit(proof->has_threads, event->pid);
	clear_bit(proof->has_children, event->pid);
	set_bit(proof->has_children, event->ppid);
}

/* Nothing proves that a process waited for this one. Neither it nor the children that it waited for
 * can have run for longer than it lived. Returns that bound. */
static uint64_t add_unproven(int32_t pid, uint64_t end_ns)
{
	uint64_t start_ns = proof->begin_ns, used_ns;
	bool is_alone = !has(proof->has_threads, pid) && !has(proof->has_children, pid);

	if (proof->start[pid])
		start_ns += (uint64_t)(proof->start[pid] - 1) * UNIT_NS;
	used_ns = (end_ns > start_ns ? end_ns - start_ns : 0) * (is_alone ? 1 : proof->cpus);
	proof->unproven_ns += used_ns;
	proof->start[pid] = 0;
	return used_ns;
}

/* The start of a thread may be handled after the exit of its process, since it comes from another
 * socket. Then the process had threads when it exited. */
void rts_wait_proof_thread(const struct rti_process_event *event, bool is_alive)
{
	proof->threads++;
	if (!is_in_range(event->pid))
		return;
	set_bit(proof->has_threads, event->pid);
	if (is_alive || !proof->start[event->pid])
		return;
	add_unproven(event->pid, rti_monotonic_ns());
}

/* The supervisor waits for every child that it has, with threads or without. */
bool rts_wait_proof_exit(const struct rti_process_event *event, bool is_parent_known)
{
	if (!is_in_range(event->pid))
		return false;
	if (event->ppid == proof->root) {
		proof->start[event->pid] = 0;
		return true;
	}
	if (has(proof->has_threads, event->pid)) {
		add_unproven(event->pid, event->monotonic_ns);
		return false;
	}
	if (event->ppid != 0 && is_parent_known)
		return true;
	proof->unwaited_ns += add_unproven(event->pid, event->monotonic_ns);
	return false;
}

void rts_wait_proof_give_up(void)
{
	proof->has_given_up = true;
}

void rts_wait_proof_publish(bool is_whole)
{
	bool is_known = !proof->has_given_up && is_whole;

	proof->shared->unproven_ns = is_known ? proof->unproven_ns : UINT64_MAX;
	proof->shared->unwaited_ns = is_known ? proof->unwaited_ns : UINT64_MAX;
	proof->shared->threads = is_known ? proof->threads : UINT64_MAX;
}
