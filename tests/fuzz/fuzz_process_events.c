/* SPDX-License-Identifier: MIT */
/* Any series of process events in the subscription of a tree, beside a plain model of which pids
 * belong to it. */
#include "messages.h"

#include <unistd.h>

#include "tree/sources/fork_tracker.h"
#include "util/descendant_set.h"

#define ROOT 1

static struct rti_descendant_set set;
static struct rti_fork_tracker tracker;

/* By linear search, so that nothing is shared with the set. */
static struct {
	int32_t pid;
	bool is_member, is_alive;
} model[512];
static size_t model_count;

static size_t slot_of(int32_t pid)
{
	size_t i = 0;

	while (i < model_count && model[i].pid != pid)
		i++;
	if (i == model_count) {
		require(model_count < sizeof(model) / sizeof(model[0]));
		model[model_count].pid = pid;
		model[model_count].is_member = model[model_count].is_alive = false;
		model_count++;
	}
	return i;
}

static bool is_possible(int32_t pid)
{
	return pid > 0 && pid < RTI_PIDS_MAX;
}

static void model_fork(int32_t ppid, int32_t pid)
{
	size_t child = slot_of(pid);

	if (model[child].is_alive && !model[slot_of(ppid)].is_member)
		return;
	model[child].is_member = model[child].is_alive =
	    model[slot_of(ppid)].is_member && is_possible(pid);
}

static void model_event(uint32_t what, const uint32_t data[6])
{
	size_t of = slot_of((int32_t)data[1]);

	if (what == 1 && data[2] == data[3]) /* not of a thread */
		model_fork((int32_t)data[1], (int32_t)data[3]);
	else if (what == 2 && model[of].is_member)
		model[of].is_alive = true;
	else if (what == 0x80000000u && data[0] == data[1])
		model[of].is_alive = false;
}

static void check_new(void *arg, int32_t pid, bool has_exited)
{
	(void)arg;
	require(is_possible(pid));
	require(model[slot_of(pid)].is_member);
	require(model[slot_of(pid)].is_alive == !has_exited);
}

static void check_model(void)
{
	uint64_t alive = 0;

	for (size_t i = 0; i < model_count; i++) {
		require(model[i].is_member == rti_descendant_set_has(&set, model[i].pid));
		require(model[i].is_alive == rti_descendant_set_is_alive(&set, model[i].pid));
		alive += model[i].is_alive;
	}
	require(set.alive == alive && set.alive <= set.alive_peak && set.alive_peak <= set.count);
	require(rti_fork_tracker_processes(&tracker) == set.count);
}

/* The set is too large to be cleared as a whole. */
static void clear(void)
{
	for (size_t i = 0; i < model_count; i++)
		rti_descendant_set_fork(&set, -1, model[i].pid);
	require(set.alive == 0);
	set.count = set.alive_peak = 0;
	model_count = 0;
}

void __wrap_rti_events_close(int fd);

void __wrap_rti_events_close(int fd)
{
	require(fd == MESSAGES_EVENTS_FD);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = fuzz_input(data, len);
	struct rti_fork_tracker kept = tracker; /* its array stays allocated */

	rti_reap_proof_free(&tracker.proof);
	tracker = (struct rti_fork_tracker){ .fd = MESSAGES_EVENTS_FD,
		                             .owner = kept.owner,
		                             .descendants = &set,
		                             .new_pids = kept.new_pids,
		                             .capacity = kept.capacity };
	if (!tracker.owner)
		tracker.owner = (int32_t)getpid();
	messages_begin(&in);
	messages_on_event = model_event;
	rti_fork_tracker_set_root(&tracker, ROOT);
	model[slot_of(ROOT)].is_member = model[slot_of(ROOT)].is_alive = true;
	for (int polls = 0; polls < 4 && rti_fork_tracker_is_complete(&tracker); polls++) {
		rti_fork_tracker_poll(&tracker);
		require(tracker.has_lost_events == !rti_fork_tracker_is_complete(&tracker));
		rti_fork_tracker_take_new(&tracker, check_new, NULL);
		require(tracker.count == 0);
	}
	check_model();
	clear();
	messages_begin(NULL);
	return 0;
}
