/* SPDX-License-Identifier: MIT */
/* Which members have forked, by the kernel's process events. */
#include "tree/parents.h"

#include "os/proc_connector.h"

#define PAYS_FROM_STATS 64 /* in a smaller tree it is not worth a descriptor */
#define COST_OF_EVENT 2    /* to those that fork and to us, in reads of stat */
#define RETRY_AFTER_SAMPLES 64

static void unsubscribe(struct rti_tree *tree)
{
	struct rti_parents *parents = &tree->parents;

	rti_events_close(parents->fd);
	parents->fd = -1;
	parents->retry_sample = tree->table.samples + RETRY_AFTER_SAMPLES;
}

static void subscribe(struct rti_tree *tree)
{
	struct rti_parents *parents = &tree->parents;

	parents->fd = rti_events_open(RTI_EVENTS_FORKS_ALONE, NULL);
	parents->is_unavailable = parents->fd < 0;
	if (parents->fd < 0) {
		parents->fd = -1;
		return;
	}
	parents->owner = tree->ctx->platform->getpid();
	parents->subscription++;
}

static void handle_event(void *arg, const struct rti_process_event *event)
{
	struct rti_tree *tree = arg;
	struct rti_member *m = NULL;

	tree->parents.events++;
	if (event->kind == RTI_EVENT_FORK)
		m = rti_member_find(&tree->table, event->ppid);
	if (m)
		m->parent.has_forked = true;
}

void rti_parents_poll(struct rti_tree *tree)
{
	struct rti_parents *parents = &tree->parents;

	if (parents->fd < 0)
		return;
	if (parents->owner != tree->ctx->platform->getpid() ||
	    rti_events_drain(parents->fd, handle_event, tree) < 0)
		unsubscribe(tree);
}

/* Forks are as many as the pids that were given out, or fewer. */
static bool is_worthwhile(const struct rti_tree *tree, uint64_t last_pid)
{
	const struct rti_parents *parents = &tree->parents;

	return parents->stats >= PAYS_FROM_STATS && last_pid >= parents->last_pid &&
	       parents->last_pid &&
	       COST_OF_EVENT * (last_pid - parents->last_pid) <= parents->stats;
}

/* Without a subscription nothing is known. So one begins with a read of stat of each member. */
void rti_parents_begin_sample(struct rti_tree *tree)
{
	struct rti_parents *parents = &tree->parents;
	uint64_t last_pid = tree->discovery.last_pid;

	if (!tree->ctx->platform->cpu_clock || parents->is_unavailable)
		return;
	if (parents->fd >= 0 && COST_OF_EVENT * parents->events > parents->spared &&
	    parents->events >= PAYS_FROM_STATS)
		unsubscribe(tree);
	else if (parents->fd < 0 && tree->table.samples >= parents->retry_sample &&
	         is_worthwhile(tree, last_pid))
		subscribe(tree);
	parents->events = parents->stats = parents->spared = 0;
	parents->last_pid = last_pid;
}

bool rti_parents_knows_no_fork(const struct rti_tree *tree, const struct rti_member *m)
{
	return tree->parents.fd >= 0 && m->parent.heard_since == tree->parents.subscription &&
	       !m->parent.has_forked;
}

void rti_parents_note_stat(struct rti_tree *tree, struct rti_member *m)
{
	if (tree->parents.fd < 0)
		return;
	m->parent.heard_since = tree->parents.subscription;
}

void rti_parents_count_stat(struct rti_tree *tree, bool was_spared)
{
	*(was_spared ? &tree->parents.spared : &tree->parents.stats) += 1;
}

void rti_parents_free(struct rti_tree *tree)
{
	if (tree->parents.fd >= 0)
		rti_events_close(tree->parents.fd);
	tree->parents.fd = -1;
}
