/* SPDX-License-Identifier: MIT */
/* A tree in the event loop of a host: a descriptor that shows that there is something to sample. */
#include "tree/event_loop.h"

#include <errno.h>

#include "os/process/pidfd.h"
#include "tree/state/state.h"

void rti_tree_loop_init(struct rti_tree_loop_state *loop)
{
	loop->wakeup = (struct rti_wakeup)RTI_WAKEUP_INIT;
	loop->root = -1;
}

/* Watch the root, and process events if there are any. Of several roots, none is watched. The pidfd
 * of the root was opened before the root was recognised, so that no process that reuses its pid is
 * watched. A root that has ended already shows at once. A kernel without pidfd, or a filter of
 * system calls, is not the same as a shortage: then events alone will do. */
static int watch(struct rti_tree *tree)
{
	struct rti_tree_loop_state *loop = &tree->loop;
	int events = rti_fork_tracker_fd(&tree->discovery.fork_tracker);
	int32_t pid = tree->discovery.fork_tracker.root;
	struct rti_member *root = rti_member_find(&tree->table, pid);
	int err = 0;

	if (tree->discovery.has_many_roots)
		return events < 0 ? -EOPNOTSUPP : rti_wakeup_add(&loop->wakeup, events);
	loop->root = rti_pidfd_open(pid);
	if (loop->root < 0)
		err = rti_is_out_of_files(-errno) || errno == ENOMEM ? -errno : -EOPNOTSUPP;
	if (!root || !rti_member_is_alive(tree->ctx, root)) {
		rti_wakeup_set_time(&loop->wakeup, 0);
		err = 0;
	} else if (err == 0) {
		err = rti_wakeup_add(&loop->wakeup, loop->root);
	}
	if (events < 0 || (err < 0 && err != -EOPNOTSUPP))
		return err;
	return rti_wakeup_add(&loop->wakeup, events);
}

int rti_tree_fd(struct rti_tree *tree)
{
	int err;

	if (rti_wakeup_is_foreign(&tree->loop.wakeup))
		rti_tree_loop_free(&tree->loop); /* a copy of the parent's, which goes on */
	if (tree->loop.wakeup.epoll >= 0)
		return tree->loop.wakeup.epoll;
	if (tree->ctx->procfs->is_foreign)
		return -EOPNOTSUPP;
	err = rti_wakeup_open(&tree->loop.wakeup, true);
	if (err == 0)
		err = watch(tree);
	if (err < 0)
		rti_tree_loop_free(&tree->loop);
	return err < 0 ? err : tree->loop.wakeup.epoll;
}

void rti_tree_loop_begin(struct rti_tree_loop_state *loop)
{
	if (loop->wakeup.epoll < 0)
		return;
	rti_wakeup_clear(&loop->wakeup);
	rti_wakeup_set_time(&loop->wakeup, UINT64_MAX);
}

void rti_tree_loop_end(struct rti_tree *tree)
{
	if (tree->loop.wakeup.epoll >= 0 &&
	    rti_fork_tracker_has_more(&tree->discovery.fork_tracker))
		rti_wakeup_set_time(&tree->loop.wakeup, 0);
}

void rti_tree_loop_free(struct rti_tree_loop_state *loop)
{
	rti_wakeup_close(&loop->wakeup);
	rti_pidfd_close(loop->root);
	loop->root = -1;
}
