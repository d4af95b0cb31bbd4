/* SPDX-License-Identifier: MIT */
/* The list of all processes of a command: what samples saw of them, joined with what the
 * supervisor wrote down. */
#ifndef RTI_PROCESS_LIST_H
#define RTI_PROCESS_LIST_H

#include <stdbool.h>

#include "os/platform.h"
#include "os/supervisor_protocol.h"
#include "tree/member_table.h"

struct rti_process_list {
	struct rt_command_process *rows; /* while they are gathered, times are CLOCK_BOOTTIME */
	size_t count, cap;
	uint64_t tick_ns; /* clock tick that /proc tells starts in */
	bool is_short;    /* of memory: somebody is missing */
};

/* What the last sample saw of a member, which has gone since then or runs on. */
void rti_process_list_add_member(struct rti_process_list *process_list, const struct rti_member *m,
                                 bool is_running);

/* What the supervisor has written down. */
void rti_process_list_add_records(struct rti_process_list *process_list,
                                  const struct rti_process_record *list, size_t count,
                                  const struct rti_now *now);

/* Join what belongs to one process, put them in the order of their start, and turn times into
 * CLOCK_REALTIME. */
void rti_process_list_finish(struct rti_process_list *process_list, const struct rti_now *now);

void rti_process_list_free(struct rti_process_list *process_list);

#endif
