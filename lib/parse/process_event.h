/* SPDX-License-Identifier: MIT */
/* Parser of the messages of the kernel's proc connector (drivers/connector/cn_proc.c).
 *
 * It is not in parse.h because os/proc_connector.h needs nothing else from there. */
#ifndef RTI_PARSE_PROCESS_EVENT_H
#define RTI_PARSE_PROCESS_EVENT_H

#include <stddef.h>
#include <stdint.h>

enum rti_process_event_kind {
	RTI_EVENT_FORK, /* pid is the new process */
	RTI_EVENT_EXEC,
	RTI_EVENT_COMM,  /* the thread tid changed its name */
	RTI_EVENT_EXIT,  /* the thread tid exited */
	RTI_EVENT_TRACE, /* a tracer attached to the thread tid, or detached */
	RTI_EVENT_OTHER  /* any other message, e.g. the answer to a request */
};

struct rti_process_event {
	enum rti_process_event_kind kind;
	int32_t pid, tid, ppid; /* ppid: for a fork; for an exit since Linux 4.18; else 0 */
	uint32_t status;        /* for an exit, as from wait(2) */
	uint64_t monotonic_ns;
	char comm[17]; /* for RTI_EVENT_COMM */
};

/* Parse one message. Returns 0, or -EBADMSG if it is too short. */
int rti_parse_process_event(const void *data, size_t len, struct rti_process_event *out);

/* Offsets and values of fields in a message, also used by the socket filter. */
#define RTI_EVENT_AT_WHAT 36
#define RTI_EVENT_AT_TIME 44
#define RTI_EVENT_AT_DATA 52
#define RTI_EVENT_WHAT_NONE 0u /* the answer to a request */
#define RTI_EVENT_WHAT_FORK 0x1u
#define RTI_EVENT_WHAT_EXEC 0x2u
#define RTI_EVENT_WHAT_TRACE 0x100u
#define RTI_EVENT_WHAT_COMM 0x200u
#define RTI_EVENT_WHAT_EXIT 0x80000000u

#endif
