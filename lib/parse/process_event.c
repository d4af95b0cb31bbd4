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

int rti_parse_process_event(const void *data, size_t len, struct rti_process_event *out)
{
	const char *event;

	*out = (struct rti_process_event){ 0 };
	if (len < RTI_EVENT_AT_DATA + 8)
		return -EBADMSG;
	event = (const char *)data + RTI_EVENT_AT_DATA;
	len -= RTI_EVENT_AT_DATA;
	memcpy(&out->monotonic_ns, (const char *)data + RTI_EVENT_AT_TIME,
	       sizeof(out->monotonic_ns));
	out->tid = (int32_t)read_u32(event, 0);
	out->pid = (int32_t)read_u32(event, 4);
	switch (read_u32(data, RTI_EVENT_AT_WHAT)) {
	case RTI_EVENT_WHAT_FORK:
		if (len < 16)
			return -EBADMSG;
		out->kind = RTI_EVENT_FORK;
		out->ppid = (int32_t)read_u32(event, 4);
		out->tid = (int32_t)read_u32(event, 8);
		out->pid = (int32_t)read_u32(event, 12);
		break;
	case RTI_EVENT_WHAT_EXEC:
		out->kind = RTI_EVENT_EXEC;
		break;
	case RTI_EVENT_WHAT_COMM:
		if (len < 24)
			return -EBADMSG;
		out->kind = RTI_EVENT_COMM;
		memcpy(out->comm, event + 8, 16);
		break;
	case RTI_EVENT_WHAT_TRACE:
		out->kind = RTI_EVENT_TRACE;
		break;
	case RTI_EVENT_WHAT_EXIT:
		if (len < 12)
			return -EBADMSG;
		out->kind = RTI_EVENT_EXIT;
		out->status = read_u32(event, 8);
		if (len >= 24)
			out->ppid = (int32_t)read_u32(event, 20);
		break;
	default:
		out->kind = RTI_EVENT_OTHER;
		break;
	}
	return 0;
}
