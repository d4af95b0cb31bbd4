/* SPDX-License-Identifier: MIT */
/* The members of a tree by pid, and their cached descriptors.
 *
 * Owner: the tree. A member is (pid, start time). */
#ifndef RTI_MEMBER_TABLE_H
#define RTI_MEMBER_TABLE_H

#include "tree/member/member.h"

/* Written by member_table.c only. */
struct rti_member_table {
	struct rti_member
	    *members; /* a parent stands before the children that were found through it */
	size_t count, capacity;
	uint32_t *slots; /* hash of pids: index + 1, or 0 */
	size_t slot_count;
	uint64_t added;        /* members so far */
	uint64_t samples;      /* so far; for the age of cached descriptors */
	uint32_t files_cached; /* open, or about to be opened */
	uint32_t files_max;
	bool needs_file_count; /* some may not have been opened */
	size_t evict_next;     /* where the search for a member that gives up descriptors goes on */
	size_t evict_looks;    /* left in this sample: one for each member */
};

/* An empty table that caches files_max descriptors at most. Returns 0 or -ENOMEM. */
int rti_member_table_init(struct rti_member_table *table, uint32_t files_max);
void rti_member_table_free(struct rti_member_table *table, const struct rti_context *ctx);

/* Add a process. On success the table takes the descriptor that its stat was read from if it may
 * cache one, and sets file->fd to -1; file may be NULL. Members move in memory. Returns 0 or
 * -ENOMEM. */
int rti_member_table_add_take(struct rti_member_table *table, const struct rti_context *ctx,
                              const struct rti_pid_stat *stat, struct rti_file *file);

/* Make a process the only member. */
void rti_member_table_replace_all(struct rti_member_table *table, const struct rti_context *ctx,
                                  const struct rti_pid_stat *stat);

/* Find a member by pid, one that has exited since the last sample included. Returns NULL if
 * there is none. */
struct rti_member *rti_member_find(const struct rti_member_table *table, int32_t pid);

/* Read the stat of a member again. Returns 0; -ESRCH if it has exited; -EACCES if it runs but is
 * hidden; or another -errno. On failure the last stat stays. */
int rti_member_read_stat(struct rti_member_table *table, const struct rti_context *ctx,
                         struct rti_member *m);

/* Forget what the member itself has mapped. */
void rti_member_free_image(struct rti_member *m);

/* Take over what a batch row has of stat. */
void rti_member_apply_row(struct rti_member *m, uint64_t tick_ns);

/* Whether the member is still there: 0, -ESRCH, or another -errno if that cannot be found out.
 * Changes nothing that is known of it. */
int rti_member_check(const struct rti_context *ctx, struct rti_member *m);

/* The same. True if it cannot be found out. */
bool rti_member_is_alive(const struct rti_context *ctx, struct rti_member *m);

/* Whether a cached statm proves that the member is there and no zombie. False proves nothing. */
bool rti_member_has_live_files(const struct rti_context *ctx, struct rti_member *m);

/* Reserve room for a cached descriptor of a member. If need be, another that was not read for a
 * while gives up its own. Returns false if no more may be cached. */
bool rti_member_reserve_file(struct rti_member_table *table, const struct rti_context *ctx,
                             struct rti_member *m, const struct rti_file *file);

/* The same for a file that is read seldom. Returns false as well where there is no room for all
 * files of all members: the others are read more often. */
bool rti_member_reserve_seldom_file(struct rti_member_table *table, const struct rti_context *ctx,
                                    struct rti_member *m, const struct rti_file *file);

/* Have the next sample read all that may change while members are idle. */
void rti_member_table_look_anew(struct rti_member_table *table);

/* A new sample begins. */
void rti_member_table_begin_sample(struct rti_member_table *table);

/* Count the descriptors that are really cached, at the end of a sample, if that may have
 * changed. */
void rti_member_table_count_files(struct rti_member_table *table);

/* Close all cached descriptors, and cache half as many from now on. */
void rti_member_table_drop_files(struct rti_member_table *table, const struct rti_context *ctx);

/* Remove the members that have exited. Members move in memory. Returns whether there were any. */
bool rti_member_table_remove_exited(struct rti_member_table *table, const struct rti_context *ctx);

#endif
