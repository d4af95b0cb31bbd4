/* SPDX-License-Identifier: MIT */
/* The subscription of one tree to process events. */
#include "tree/sources/fork_tracker.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/account/tree_account.h"
#include "os/platform.h"
#include "os/proc_connector.h"
#include "util/array.h"
#include "util/descendant_set.h"

#define DEFAULT_MAX 8

#define COUNT_BITS 4 /* hold DEFAULT_MAX */
#define COUNT_MASK ((1u << COUNT_BITS) - 1)

/* How many subscriptions of this process no caller has asked for, and above that its pid: a forked
 * child begins with none. Written by this file only. */
static atomic_uint defaults;

static int32_t own_pid(void)
{
	struct rti_platform platform;

	rti_platform_init(&platform, false);
	return platform.getpid();
}

/* Returns false if there are enough. */
static bool count_default(void)
{
	unsigned none = (unsigned)own_pid() << COUNT_BITS, old = atomic_load(&defaults), now;

	do {
		now = (old & ~COUNT_MASK) == none ? old : none;
		if ((now & COUNT_MASK) == DEFAULT_MAX)
			return false;
	} while (!atomic_compare_exchange_weak(&defaults, &old, now + 1));
	return true;
}

static void unsubscribe(struct rti_fork_tracker *tracker)
{
	if (tracker->fd >= 0)
		rti_events_close(tracker->fd);
	if (tracker->is_default && tracker->owner == own_pid())
		atomic_fetch_sub(&defaults, 1);
	tracker->is_default = false;
	tracker->fd = -1;
	tracker->account = NULL;
}

static int make_set(struct rti_fork_tracker *tracker)
{
	tracker->descendants = calloc(1, sizeof(*tracker->descendants));
	if (tracker->descendants)
		return 0;
	unsubscribe(tracker);
	return -ENOMEM;
}

static int subscribe(struct rti_fork_tracker *tracker, unsigned also)
{
	*tracker = (struct rti_fork_tracker){ .fd = -1, .owner = own_pid() };
	tracker->fd = rti_events_open(also, &tracker->ahead_ns);
	return tracker->fd < 0 ? tracker->fd : make_set(tracker);
}

int rti_fork_tracker_subscribe(struct rti_fork_tracker *tracker)
{
	return subscribe(tracker, 0);
}

int rti_fork_tracker_subscribe_by_default(struct rti_fork_tracker *tracker)
{
	int err;

	if (!count_default())
		return -EUSERS;
	err = subscribe(tracker, RTI_EVENTS_CHEAP);
	tracker->is_default = err == 0;
	if (err < 0)
		atomic_fetch_sub(&defaults, 1);
	return err;
}

int rti_fork_tracker_subscribe_to_all(struct rti_fork_tracker *tracker)
{
	return subscribe(tracker, RTI_EVENTS_UNFILTERED);
}

void rti_fork_tracker_filter(struct rti_fork_tracker *tracker)
{
	rti_events_filter(tracker->fd, 0);
}

int rti_fork_tracker_use_account(struct rti_fork_tracker *tracker, struct rti_tree_account *account)
{
	*tracker = (struct rti_fork_tracker){ .fd = -1, .account = account, .owner = own_pid() };
	return make_set(tracker);
}

void rti_fork_tracker_forget_account(struct rti_fork_tracker *tracker)
{
	tracker->has_lost_events |= tracker->account != NULL;
	tracker->account = NULL;
}

int rti_fork_tracker_fd(const struct rti_fork_tracker *tracker)
{
	if (tracker->is_default)
		return -1;
	return tracker->account ? rti_account_event_fd(tracker->account) : tracker->fd;
}

void rti_fork_tracker_set_root(struct rti_fork_tracker *tracker, int32_t root)
{
	tracker->root = root;
	rti_fork_tracker_add(tracker, root);
}

void rti_fork_tracker_close(struct rti_fork_tracker *tracker)
{
	unsubscribe(tracker);
	rti_reap_proof_free(&tracker->proof);
	free(tracker->descendants);
	free(tracker->new_pids);
	*tracker = (struct rti_fork_tracker)RTI_FORK_TRACKER_INIT;
}

bool rti_fork_tracker_is_complete(const struct rti_fork_tracker *tracker)
{
	return tracker->fd >= 0 || tracker->account;
}

static void add_new_pid(struct rti_fork_tracker *tracker, int32_t pid)
{
	int32_t *new_pids = rti_array_grow(tracker->new_pids, &tracker->capacity,
	                                   tracker->count + 1, sizeof(*new_pids));

	if (!new_pids) {
		tracker->has_lost_events = true;
		return;
	}
	tracker->new_pids = new_pids;
	tracker->new_pids[tracker->count++] = pid;
}

/* The root's own parent is outside of the tree. */
static void handle_exit(struct rti_fork_tracker *tracker, const struct rti_process_event *event)
{
	struct rti_descendant_set *set = tracker->descendants;
	bool has_parent = rti_descendant_set_has(set, event->ppid);

	if (!rti_descendant_set_has(set, event->pid))
		return;
	if (event->pid != tracker->root && event->ppid && !has_parent)
		tracker->has_unwaited_exit = true;
	rti_reap_proof_exit(&tracker->proof, event->pid, has_parent ? event->ppid : 0,
	                    event->monotonic_ns);
	rti_descendant_set_exit(set, event->pid);
}

static void handle_event(void *arg, const struct rti_process_event *event)
{
	struct rti_fork_tracker *tracker = arg;
	struct rti_descendant_set *set = tracker->descendants;

	switch (event->kind) {
	case RTI_EVENT_FORK:
		if (event->tid != event->pid) /* of a thread, before the filter */
			break;
		/* A root is forked from outside the tree, maybe after the subscription. The parent
		 * of a process that a scan has found may have been gone by that scan. */
		if (rti_descendant_set_is_alive(set, event->pid) &&
		    !rti_descendant_set_has(set, event->ppid))
			break;
		if (rti_descendant_set_fork(set, event->ppid, event->pid)) {
			add_new_pid(tracker, event->pid);
			rti_reap_proof_fork(&tracker->proof, event->pid, event->monotonic_ns);
		} else if (event->ppid == tracker->owner && event->pid != tracker->root) {
			tracker->has_other_child = true;
		}
		break;
	case RTI_EVENT_EXEC:
		rti_descendant_set_exec(set, event->pid);
		break;
	case RTI_EVENT_EXIT:
		if (event->tid == event->pid)
			handle_exit(tracker, event);
		break;
	case RTI_EVENT_COMM:
	case RTI_EVENT_TRACE:
	case RTI_EVENT_OTHER:
		break;
	}
}

/* The account has decided that it belongs to the tree. */
static void handle_account_event(void *arg, const struct rti_account_event *event)
{
	struct rti_fork_tracker *tracker = arg;

	if (event->kind == RTI_ACCOUNT_EXIT)
		rti_descendant_set_exit(tracker->descendants, event->pid);
	else if (rti_descendant_set_fork(tracker->descendants, tracker->root, event->pid))
		add_new_pid(tracker, event->pid);
}

static void add_running(void *arg, const struct rti_account_record *record)
{
	struct rti_fork_tracker *tracker = arg;

	rti_descendant_set_add(tracker->descendants, record->pid);
	add_new_pid(tracker, record->pid);
}

/* Events were lost, but the account knows which processes run. The root stays a member even if it
 * has exited: handle_account_event() takes every new process for its child. The processes that run
 * were counted before, so the count is kept. It lacks those with a lost event, but the account
 * has counted them. */
static int list_anew(struct rti_fork_tracker *tracker)
{
	const struct rti_account_taker taker = { .arg = tracker, .on_record = add_running };
	struct rti_descendant_set *set = tracker->descendants;
	uint64_t count = set->count;
	int err;

	memset(set, 0, sizeof(*set));
	tracker->count = 0;
	rti_descendant_set_add(set, tracker->root);
	rti_descendant_set_exit(set, tracker->root);
	err = rti_account_list_running(tracker->account, &taker);
	set->count = count;
	return err;
}

/* What is lost while events are taken shows in the next poll. */
static int take_from_account(struct rti_fork_tracker *tracker)
{
	const struct rti_account_taker taker = { .arg = tracker, .on_event = handle_account_event };
	struct rti_account_counts counts;
	int err;

	rti_account_count(tracker->account, &counts);
	err = rti_account_take(tracker->account, &taker);
	if (err < 0 || counts.lost_events == tracker->lost_events)
		return err;
	tracker->lost_events = counts.lost_events;
	return counts.rowless ? -ENOBUFS : list_anew(tracker);
}

void rti_fork_tracker_poll(struct rti_fork_tracker *tracker)
{
	int err;

	if (!rti_fork_tracker_is_complete(tracker))
		return;
	/* A forked child of the subscriber leaves the events to its parent. */
	if (tracker->owner != own_pid())
		err = -ESTALE;
	else if (tracker->account)
		err = take_from_account(tracker);
	else
		err = rti_events_drain(tracker->fd, handle_event, tracker);
	if (err < 0)
		tracker->has_lost_events = true;
	if (tracker->has_lost_events)
		unsubscribe(tracker);
}

bool rti_fork_tracker_has_more(const struct rti_fork_tracker *tracker)
{
	struct rti_account_counts counts;

	if (!tracker->account)
		return false;
	rti_account_count(tracker->account, &counts);
	return counts.has_events;
}

bool rti_fork_tracker_has_new(const struct rti_fork_tracker *tracker)
{
	return tracker->count > 0;
}

void rti_fork_tracker_take_new(struct rti_fork_tracker *tracker,
                               void (*each)(void *arg, int32_t pid, bool has_exited), void *arg)
{
	for (size_t i = 0; i < tracker->count; i++) {
		int32_t pid = tracker->new_pids[i];

		/* Otherwise a process outside the tree has the pid by now. */
		if (rti_descendant_set_has(tracker->descendants, pid))
			each(arg, pid, !rti_descendant_set_is_alive(tracker->descendants, pid));
	}
	tracker->count = 0;
	rti_reap_proof_end_look(&tracker->proof, rti_monotonic_ns() - (uint64_t)tracker->ahead_ns);
}

/* A process is known already if its fork event was received; its exit may be known, too. */
void rti_fork_tracker_add(struct rti_fork_tracker *tracker, int32_t pid)
{
	if (tracker->descendants && !rti_descendant_set_has(tracker->descendants, pid))
		rti_descendant_set_add(tracker->descendants, pid);
	rti_reap_proof_see(&tracker->proof, pid);
}

uint64_t rti_fork_tracker_unproven_ns(const struct rti_fork_tracker *tracker)
{
	return tracker->proof.unproven_ns;
}

uint64_t rti_fork_tracker_processes(const struct rti_fork_tracker *tracker)
{
	return tracker->descendants ? tracker->descendants->count : 0;
}
