/* SPDX-License-Identifier: MIT */
/* What is kept to see what members have done since the sample before. */
#ifndef RTI_MEMBER_CHANGE_H
#define RTI_MEMBER_CHANGE_H

struct rti_tree;
struct rti_member;

/* A sample begins: forget what ended by the one before. For lib/tree alone, as the next three. */
void rti_changes_begin(struct rti_tree *tree);

/* It ends: members that end from now on belong to the next one. */
void rti_changes_end(struct rti_tree *tree);

/* A member is about to be read: keep what the last sample knew of its counters. */
void rti_change_note_read(const struct rti_tree *tree, struct rti_member *m);

/* A member has ended. */
void rti_change_note_end(struct rti_tree *tree, const struct rti_member *m);

void rti_changes_free(struct rti_tree *tree);

#endif
