/* SPDX-License-Identifier: MIT */
/* The list of all processes of a command: what samples saw of them, joined with what the
 * supervisor recorded. */
#ifndef RTI_PROCESS_LIST_H
#define RTI_PROCESS_LIST_H

#include "os/platform.h"
#include "os/supervisor_protocol.h"
#include "tree/tree.h"

/* Written by process_list.c, but for tick_ns: command.c. */
struct rti_process_list {
	struct rt_command_process *rows; /* until it is finished, times are CLOCK_BOOTTIME */
	size_t count, capacity;
	uint64_t tick_ns; /* the clock tick in which /proc gives start times */
	bool is_short;    /* rows are missing for want of memory */
};

/* Add what samples saw of a member: of one that runs on, or as rti_tree_command.on_exit of one
 * that has exited. list: a struct rti_process_list. */
void rti_process_list_add_member(struct rti_process_list *list, const struct rti_member_row *m);
void rti_process_list_add_exited(void *list, const struct rti_member_row *m);

/* Add what the supervisor has recorded. */
void rti_process_list_add_records(struct rti_process_list *list,
                                  const struct rti_process_record *records, size_t count,
                                  const struct rti_now *now);

/* The supervisor had no room for some records. */
void rti_process_list_mark_short(struct rti_process_list *list);

/* Join the rows that belong to one process, sort them by their start, and convert times to
 * CLOCK_REALTIME. */
void rti_process_list_finish(struct rti_process_list *list, const struct rti_now *now);

/* Set how a process ended that has no record: the program itself, if it was our own child. */
void rti_process_list_set_exit(struct rti_process_list *list, int32_t pid, int32_t exit_code,
                               int32_t signal, uint64_t end_realtime_ns);

/* Clear the running flag of the rows of processes that have ended since. */
void rti_process_list_update(struct rti_process_list *list, const struct rti_tree *tree);

void rti_process_list_free(struct rti_process_list *list);

#endif
