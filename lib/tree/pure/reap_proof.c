/* SPDX-License-Identifier: MIT */
/* How long processes lived that nothing proves were waited for. */
#include "tree/pure/reap_proof.h"

#include <stdlib.h>
#include <string.h>

#include "util/arith.h"

#define CAPACITY_MIN 64 /* a power of two, as all are */

void rti_reap_proof_free(struct rti_reap_proof *proof)
{
	free(proof->slots);
	free(proof->spare);
	*proof = (struct rti_reap_proof){ 0 };
}

/* The slot of a process, or a free one. At least half of them are free. */
static struct rti_unseen *slot_of(struct rti_unseen *slots, size_t capacity, int32_t pid)
{
	size_t at = (uint32_t)pid * 2654435761u & (capacity - 1);

	while (slots[at].pid && slots[at].pid != pid)
		at = (at + 1) & (capacity - 1);
	return &slots[at];
}

static struct rti_unseen *find(const struct rti_reap_proof *proof, int32_t pid)
{
	struct rti_unseen *slot = proof->count ? slot_of(proof->slots, proof->capacity, pid) : NULL;

	return slot && slot->pid ? slot : NULL;
}

/* Move what is to be kept to the spare table. */
static void move_slots(struct rti_reap_proof *proof, size_t old_capacity)
{
	struct rti_unseen *old = proof->slots;

	for (size_t i = 0; proof->count > 0 && i < old_capacity; i++)
		if (old[i].pid)
			*slot_of(proof->spare, proof->capacity, old[i].pid) = old[i];
	proof->slots = proof->spare;
	proof->spare = old;
}

/* Returns false if memory is short; all is then as it was. */
static bool resize(struct rti_reap_proof *proof, size_t capacity)
{
	size_t old_capacity = proof->capacity;
	struct rti_unseen *slots = calloc(capacity, sizeof(*slots));
	struct rti_unseen *spare = calloc(capacity, sizeof(*spare));

	if (!slots || !spare) {
		free(slots);
		free(spare);
		return false;
	}
	free(proof->spare);
	proof->spare = slots;
	proof->capacity = capacity;
	move_slots(proof, old_capacity);
	free(proof->spare);
	proof->spare = spare;
	return true;
}

/* Returns the entry of a process, a new one if there is none, or NULL if memory is short. */
static struct rti_unseen *add(struct rti_reap_proof *proof, int32_t pid)
{
	struct rti_unseen *slot = find(proof, pid);

	if (slot)
		return slot;
	if (2 * (proof->count + 1) > proof->capacity &&
	    !resize(proof, (size_t)rti_max(2 * proof->capacity, CAPACITY_MIN))) {
		proof->unproven_ns = UINT64_MAX;
		return NULL;
	}
	slot = slot_of(proof->slots, proof->capacity, pid);
	*slot = (struct rti_unseen){ .pid = pid };
	proof->count++;
	return slot;
}

static void add_unproven(struct rti_reap_proof *proof, uint64_t ns)
{
	proof->unproven_ns = rti_add_saturated(proof->unproven_ns, ns);
}

void rti_reap_proof_fork(struct rti_reap_proof *proof, int32_t pid, uint64_t at_ns)
{
	struct rti_unseen *process = add(proof, pid);

	if (process)
		*process = (struct rti_unseen){ .pid = pid, .start_ns = at_ns };
}

/* It may have exited before the last look at its children, so by then they were no longer its
 * zombies. */
static void end(struct rti_reap_proof *proof, struct rti_unseen *process, uint64_t at_ns)
{
	add_unproven(proof, process->at_risk_ns);
	if (at_ns <= proof->looked_ns)
		add_unproven(proof, process->before_ns);
	process->at_risk_ns = process->before_ns = 0;
	process->has_ended = true;
}

void rti_reap_proof_exit(struct rti_reap_proof *proof, int32_t pid, int32_t parent, uint64_t at_ns)
{
	struct rti_unseen *process = find(proof, pid), *reaper;
	uint64_t lived_ns = 0;

	if (!process)
		return;
	if (process->start_ns)
		lived_ns = rti_max(rti_subtract_saturated(at_ns, process->start_ns), 1);
	end(proof, process, at_ns);
	if (!lived_ns)
		return;
	reaper = parent ? add(proof, parent) : NULL;
	if (reaper)
		reaper->at_risk_ns += lived_ns;
	else
		add_unproven(proof, lived_ns);
}

void rti_reap_proof_see(struct rti_reap_proof *proof, int32_t pid)
{
	struct rti_unseen *process = find(proof, pid);

	if (process)
		process->start_ns = 0;
}

void rti_reap_proof_end_look(struct rti_reap_proof *proof, uint64_t now_ns)
{
	proof->looked_ns = now_ns;
	if (proof->count == 0 && proof->capacity <= CAPACITY_MIN)
		return;
	for (size_t i = 0; i < proof->capacity; i++) {
		struct rti_unseen *process = &proof->slots[i];

		if (!process->pid)
			continue;
		process->before_ns = process->at_risk_ns;
		process->at_risk_ns = 0;
		if (process->has_ended || (!process->before_ns && !process->start_ns)) {
			process->pid = 0;
			proof->count--;
		}
	}
	/* After a storm of forks each look would go through the whole table. */
	if (proof->capacity > CAPACITY_MIN && 16 * proof->count < proof->capacity &&
	    resize(proof, (size_t)rti_max(proof->capacity / 4, CAPACITY_MIN)))
		return;
	memset(proof->spare, 0, proof->capacity * sizeof(*proof->spare));
	move_slots(proof, proof->capacity);
}
