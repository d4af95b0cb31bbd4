/* SPDX-License-Identifier: MIT */
/* Messages of the kernel's proc connector (drivers/connector/cn_proc.c): bytes to events. Apart
 * from parse.h, since the supervisor needs them too, and nothing else of that. */
#ifndef RTI_PARSE_PROCESS_EVENT_H
#define RTI_PARSE_PROCESS_EVENT_H

#include <stddef.h>
#include <stdint.h>

enum rti_process_event_kind {
	RTI_EVENT_FORK, /* pid is the new process */
	RTI_EVENT_EXEC,
	RTI_EVENT_COMM, /* it named itself */
	RTI_EVENT_EXIT, /* of one thread: tid */
	RTI_EVENT_OTHER /* another message, such as the answer to a request */
};

struct rti_process_event {
	enum rti_process_event_kind kind;
	int32_t pid, tid, ppid; /* ppid: of a fork, and of an exit since Linux 4.18, else 0 */
	uint32_t status;        /* of an exit, as wait(2) gives it */
	uint64_t monotonic_ns;
	char comm[17];
};

/* 0, or -EBADMSG if the message is cut short. */
int rti_parse_process_event(const void *data, size_t len, struct rti_process_event *out);

/* Where the fields of a message lie: for the filter of a socket. */
#define RTI_EVENT_AT_WHAT 36
#define RTI_EVENT_AT_DATA 52
#define RTI_EVENT_WHAT_NONE 0u /* the answer to a request */
#define RTI_EVENT_WHAT_FORK 0x1u
#define RTI_EVENT_WHAT_EXEC 0x2u
#define RTI_EVENT_WHAT_COMM 0x200u
#define RTI_EVENT_WHAT_EXIT 0x80000000u

#endif
