/* SPDX-License-Identifier: MIT */
/* Parser of the proc connector's messages.
 *
 * A message is a struct nlmsghdr, a struct cn_msg and a struct proc_event, in host byte order. */
#include "parse/process_event.h"

#include <errno.h>
#include <string.h>

static uint32_t read_u32(const char *data, size_t at)
{
	uint32_t value;

	memcpy(&value, data + at, sizeof(value));
	return value;
}

static int parse_fork(const char *event, size_t len, struct rti_process_event *out)
{
	if (len < 16)
		return -EBADMSG;
	out->ppid = (int32_t)read_u32(event, 4);
	out->tid = (int32_t)read_u32(event, 8);
	out->pid = (int32_t)read_u32(event, 12);
	return 0;
}

static int parse_comm(const char *event, size_t len, struct rti_process_event *out)
{
	if (len < 24)
		return -EBADMSG;
	memcpy(out->comm, event + 8, 16);
	return 0;
}

static int parse_exit(const char *event, size_t len, struct rti_process_event *out)
{
	if (len < 12)
		return -EBADMSG;
	out->status = read_u32(event, 8);
	if (len >= 24)
		out->ppid = (int32_t)read_u32(event, 20);
	return 0;
}

int rti_parse_process_event(const void *data, size_t len, struct rti_process_event *out)
{
	const char *event;
	uint32_t what;

	*out = (struct rti_process_event){ 0 };
	if (len < RTI_EVENT_AT_DATA + 8)
		return -EBADMSG;
	event = (const char *)data + RTI_EVENT_AT_DATA;
	len -= RTI_EVENT_AT_DATA;
	memcpy(&out->monotonic_ns, (const char *)data + RTI_EVENT_AT_TIME,
	       sizeof(out->monotonic_ns));
	out->tid = (int32_t)read_u32(event, 0);
	out->pid = (int32_t)read_u32(event, 4);
	what = read_u32(data, RTI_EVENT_AT_WHAT);
	switch (what) {
	case RTI_EVENT_WHAT_FORK:
		out->kind = RTI_EVENT_FORK;
		return parse_fork(event, len, out);
	case RTI_EVENT_WHAT_EXEC:
		out->kind = RTI_EVENT_EXEC;
		return 0;
	case RTI_EVENT_WHAT_COMM:
		out->kind = RTI_EVENT_COMM;
		return parse_comm(event, len, out);
	case RTI_EVENT_WHAT_TRACE:
		out->kind = RTI_EVENT_TRACE;
		return 0;
	case RTI_EVENT_WHAT_EXIT:
		out->kind = RTI_EVENT_EXIT;
		return parse_exit(event, len, out);
	default:
		out->kind = RTI_EVENT_OTHER;
		return 0;
	}
}
