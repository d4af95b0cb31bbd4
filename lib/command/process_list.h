/* SPDX-License-Identifier: MIT */
/* The list of all processes of a command: what samples saw of them, joined with what the
 * supervisor recorded. */
#ifndef RTI_PROCESS_LIST_H
#define RTI_PROCESS_LIST_H

#include <stdbool.h>

#include "os/platform.h"
#include "os/protocol/supervisor_protocol.h"
#include "tree/tree.h"

/* One process. The texts of the list hold its own, with the lengths that the row shows. */
struct rti_process_row {
	struct rt_command_process shown;
	uint32_t command_at, cwd_at;
	uint64_t cpu_gap_ns; /* CPU time that it may have used beyond a lower bound; 0: unknown */
	uint64_t threads_gap_ns; /* likewise, by the ends of its threads */
};

/* Written by process_list.c, but for tick_ns: command.c. */
struct rti_process_list {
	struct rti_process_row *rows; /* until it is finished, times are CLOCK_BOOTTIME */
	size_t count, capacity;
	char *texts;      /* NULL: none */
	uint64_t tick_ns; /* the clock tick in which /proc gives start times */
	bool is_short;    /* memory ran out: rows are missing */
	bool is_lossy;    /* processes have no record, in an account of BPF programs */
	bool is_finished; /* no row is added any more */
};

/* Add what samples saw of a member: of one that runs on, or as rti_tree_command.on_exit of one
 * that has exited, unless the list is finished: what was left running is in it then. list: a struct
 * rti_process_list. */
void rti_process_list_add_member(struct rti_process_list *list, const struct rti_member_row *m);
void rti_process_list_add_exited(void *list, const struct rti_member_row *m);

/* What the supervisor has recorded. */
struct rti_process_records {
	const struct rti_process_record *records;
	size_t count;
	const char *texts; /* of the records */
	size_t text_bytes;
	bool sees_every_exec;
};

/* Add all of it, once. */
void rti_process_list_add_records(struct rti_process_list *list,
                                  const struct rti_process_records *all, const struct rti_now *now);

/* Add the row of a process that is not from a sample, with times of CLOCK_BOOTTIME. It is copied.
 * rti_process_list_take_texts() gets its texts. */
void rti_process_list_add_row(struct rti_process_list *list, const struct rt_command_process *row,
                              uint32_t command_at, uint32_t cwd_at);

/* The list owns the texts from then on, and frees them. NULL: none. */
void rti_process_list_take_texts(struct rti_process_list *list, char *texts);

/* The supervisor had no room for some records. */
void rti_process_list_mark_short(struct rti_process_list *list);

/* BPF programs have not recorded some processes. */
void rti_process_list_mark_lossy(struct rti_process_list *list);

/* Join the rows that belong to one process, sort them by their start, and convert times to
 * CLOCK_REALTIME. */
void rti_process_list_finish(struct rti_process_list *list, const struct rti_now *now);

/* Set how a process ended that has no record: the program itself, if it was our own child. */
void rti_process_list_set_exit(struct rti_process_list *list, int32_t pid, int32_t exit_code,
                               int32_t signal, uint64_t end_realtime_ns);

/* Share what the rows lack of their total CPU time among rows that may have used more than is
 * known. If that does not explain it, all are lower bounds. */
void rti_process_list_fit_cpu(struct rti_process_list *list, uint64_t total_ns);

/* Raise the I/O of the tree to what the rows prove: what the threads of each process have caused
 * adds up, and a row with children is a lower bound by itself. */
void rti_process_list_raise_io(const struct rti_process_list *list, uint64_t *read_bytes,
                               uint64_t *write_bytes);

/* Returns a text of a row, and its length in *len. It is not terminated. text: RT_TEXT_ value. */
const char *rti_process_list_text(const struct rti_process_list *list, size_t row, uint32_t text,
                                  size_t *len);

/* Clear the running flag of the rows of processes that have ended since. */
void rti_process_list_update(struct rti_process_list *list, const struct rti_tree *tree);

void rti_process_list_free(struct rti_process_list *list);

#endif
