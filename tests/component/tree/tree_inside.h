/* SPDX-License-Identifier: MIT */
/* What the tests of this folder need from the inside of a tree tracker.
 *
 * These functions are the only code here that knows the structs of lib/tree. They make rare states
 * quick to reach, and show decisions that no figure shows. E.g.: a tree is read by BPF only after
 * thousands of reads by text, so a test calls use_batch_reader_now() instead. All trackers must be
 * of a process tree. A function with a pid fails the test if no member has that pid, unless it says
 * otherwise. */
#ifndef TREE_INSIDE_H
#define TREE_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/tracker.h"
#include "bpf/batch/loader.h"
#include "os/platform.h"
#include "os/protocol/supervisor_protocol.h"

/* Returns the clocks and constants of a tracker, of any kind. A test may replace the functions. */
struct rti_platform *get_platform(struct rt_tracker *tracker);

/* The tree has no past, and no process comes and goes between two samples: what may be missing then
 * has tests of its own. */
void assume_nothing_unseen(struct rt_tracker *tracker);

/* Returns the RT_HAS_ bits that a tracker of any kind wants. */
uint64_t get_wanted(const struct rt_tracker *tracker);

/* What a tracker of a tree does by its options. Without padding, so that two can be compared. */
struct tree_options {
	uint64_t flags, want; /* as in rt_opts */
	uint64_t follows_children, has_events;
	uint64_t files_max;
	uint64_t pss_share, pss_hold_ns;
};

struct tree_options get_tree_options(const struct rt_tracker *tracker);

/* From now on this member is the supervisor of the tree, and counts in the shared memory. */
void make_supervisor(struct rt_tracker *tracker, int32_t pid,
                     const struct rti_shared_stats *shared);

/* Apply what the supervisor has reaped, as it says in the end. */
void apply_final_account(struct rt_tracker *tracker, const struct rt_rusage *reaped,
                         int64_t inherited_kib);

/* The supervisor does not answer any more. */
void lose_supervisor(struct rt_tracker *tracker);

/* The root was waited for: wait4(2) has shown this CPU time, of it and of what it had reaped. */
void account_root_exit(struct rt_tracker *tracker, int32_t pid, double user_s, double system_s);

/* Check that what the last sample or poll has kept of the memory of the members is what they add up
 * to, and that each program is known by as many members as run it. */
void check_memory_sums(struct rt_tracker *tracker);

/* Make all samples from now on final: they put off nothing. */
void begin_final_sample(struct rt_tracker *tracker);

/* Set the PSS budget that is saved at present, whatever the tracker waits for. */
void set_pss_savings(struct rt_tracker *tracker, int64_t ns);
int64_t get_pss_savings(const struct rt_tracker *tracker);

/* Returns the result of starting another tree at pid with the files and clocks of this tracker. The
 * tree is freed. */
int try_second_tree(struct rt_tracker *tracker, int32_t pid);

/* Returns how many new members one scan adds at most. */
size_t get_new_members_max(void);

/* --- Members --- */

/* Returns whether a member has this pid. Members that exited since the last sample are included. */
bool has_member(const struct rt_tracker *tracker, int32_t pid);

/* Returns how many files of a member are open. */
unsigned open_files_of(const struct rt_tracker *tracker, int32_t pid);

/* The same of its files that are read seldom. */
unsigned open_seldom_files_of(const struct rt_tracker *tracker, int32_t pid);

/* Returns the CPU time in the account of a member, without reaped children. */
uint64_t get_member_cpu_ns(const struct rt_tracker *tracker, int32_t pid);

/* Returns the voluntary context switches in the account of a member. */
uint64_t get_member_switches(const struct rt_tracker *tracker, int32_t pid);

/* Returns the RT_HAS_ bits of the figures of a member that are valid. */
uint64_t get_member_valid(const struct rt_tracker *tracker, int32_t pid);

/* Get or overwrite the RSS of a member in the last sample. A test that overwrites it sees whether
 * it is read again. */
uint64_t get_member_rss(const struct rt_tracker *tracker, int32_t pid);
void set_member_rss(struct rt_tracker *tracker, int32_t pid, uint64_t bytes);

/* The same for the RSS that the memory of the tree is computed from: that of the last sample or
 * peak poll. */
uint64_t get_noted_rss(const struct rt_tracker *tracker, int32_t pid);
void set_noted_rss(struct rt_tracker *tracker, int32_t pid, uint64_t bytes);

/* Forget where the CPU clocks of all members stood, so that the next sample reads every member,
 * even one that has not run. */
void forget_clocks(struct rt_tracker *tracker);

/* Pretend that all figures of a member were read when its CPU clock stood here. */
void set_read_clock(struct rt_tracker *tracker, int32_t pid, uint64_t clock_ns);

/* --- Batch reads --- */

/* Make a batch reader pay off at once, as after thousands of reads by text. */
void use_batch_reader_now(struct rt_tracker *tracker);

/* Close the batch reader, and read by text until allow_batch_reader(). */
void forbid_batch_reader(struct rt_tracker *tracker);
void allow_batch_reader(struct rt_tracker *tracker);

/* Returns whether a batch reader is open. */
bool has_batch_reader(const struct rt_tracker *tracker);

/* Get or set what counts towards a batch reader: members that were read from files, and CPU clocks
 * that were read alone. */
uint64_t get_text_reads(const struct rt_tracker *tracker);
void set_text_reads(struct rt_tracker *tracker, uint64_t count);
uint64_t get_clock_reads(const struct rt_tracker *tracker);
void set_clock_reads(struct rt_tracker *tracker, uint64_t count);

/* Returns the row of the member with this index in the last batch read. */
const struct rti_batch_row *get_batch_row(const struct rt_tracker *tracker, size_t index);

/* Returns how many rows of the last batch read have only the marker of an idle process. */
size_t count_idle_rows(const struct rt_tracker *tracker);

/* Discover new members and read the CPU clocks, the first step of a sample. */
void discover_members(struct rt_tracker *tracker);

/* Returns whether the last step of that kind has found the CPU clock, or a row, of a member. */
bool is_clock_known(const struct rt_tracker *tracker, int32_t pid);
bool has_member_row(const struct rt_tracker *tracker, int32_t pid);

/* --- Watches --- */

/* Have the kernel watch the tree from the sample after the next one on, as if it were large. */
void use_watch_now(struct rt_tracker *tracker);

/* From now on the tree is too small for a watch to pay. */
void make_watch_costly(struct rt_tracker *tracker);

/* Close the watch, and do without from now on. */
void forbid_watch(struct rt_tracker *tracker);

/* Returns whether the last sample has looked only at members that the kernel has named, and how
 * many those were. */
bool was_partial_sample(const struct rt_tracker *tracker);
size_t count_looks(const struct rt_tracker *tracker);

/* Returns how many looks at members that have not run a watch would have saved so far. */
uint64_t count_looks_to_save(const struct rt_tracker *tracker);

/* Have the next sample sum up all members, and not what has changed. */
void sum_all_members(struct rt_tracker *tracker);

/* --- Process events --- */

/* Subscribe the tracker to process events that the test sends with add_fork_event(), instead of
 * those of the kernel. From now on only these events lead to new members. Returns the other end of
 * the connection, which the caller closes. */
int subscribe_to_test_events(struct rt_tracker *tracker, int32_t root_pid);

/* Send the event that the root has forked this process. With has_exited, also that the process has
 * exited. */
void add_fork_event(struct rt_tracker *tracker, int32_t root_pid, int32_t pid, bool has_exited);

/* An event says that a process has ended, the parent of which is no member of the tree. */
void note_unwaited_exit(struct rt_tracker *tracker);

/* Returns how many processes of the tree are alive according to the events. */
uint64_t count_alive_by_events(const struct rt_tracker *tracker);

/* Returns how many processes that were no members the last scan of /proc has looked at. 0: there
 * was none. */
size_t count_scanned_others(const struct rt_tracker *tracker);

/* Returns the CPU time of all that the members have reaped, by their accounts. */
uint64_t get_reaped_cpu_ns(const struct rt_tracker *tracker);

#endif
