/* SPDX-License-Identifier: MIT */
/* A tree in the event loop of a host. */
#ifndef RTI_TREE_EVENT_LOOP_H
#define RTI_TREE_EVENT_LOOP_H

struct rti_tree;
struct rti_tree_loop_state;

/* To be called before all others. */
void rti_tree_loop_init(struct rti_tree_loop_state *loop);

/* A descriptor that becomes readable when there is something to sample. It stays the tree's.
 * Returns -EOPNOTSUPP if nothing can be heard of: another root, or no pidfd and no events; or
 * another -errno. */
int rti_tree_fd(struct rti_tree *tree);

/* All that the descriptor has shown so far is looked at next. */
void rti_tree_loop_begin(struct rti_tree_loop_state *loop);

/* What could not be looked at any more has the descriptor readable again. */
void rti_tree_loop_end(struct rti_tree *tree);

void rti_tree_loop_free(struct rti_tree_loop_state *loop);

#endif
