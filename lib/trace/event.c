/* SPDX-License-Identifier: MIT */
/* Makes public events of the records of a back end. */
#include "trace/event.h"

#include <errno.h>
#include <string.h>

#include "api/rusage.h"
#include "os/platform.h"
#include "parse/kernel_rusage.h"
#include "trace/live_children.h"

/* include/linux/errno.h */
#define ERESTARTSYS 512
#define ERESTART_RESTARTBLOCK 516

_Static_assert(RTI_TRACE_USAGE_BYTES == RTI_KERNEL_RUSAGE_BYTES &&
                   RTI_TRACE_USAGE_BYTES_32 == RTI_KERNEL_RUSAGE_BYTES_32,
               "the record holds the kernel's struct");
_Static_assert(RTI_TRACE_GETRUSAGE == RT_TRACE_CALL_GETRUSAGE &&
                   RTI_TRACE_WAIT4 == RT_TRACE_CALL_WAIT4 &&
                   RTI_TRACE_WAITID == RT_TRACE_CALL_WAITID,
               "calls");
_Static_assert(RTI_TRACE_32BIT == RT_TRACE_EVENT_32BIT &&
                   RTI_TRACE_UNREAD == RT_TRACE_EVENT_UNREAD &&
                   RTI_TRACE_NO_ENTRY == RT_TRACE_EVENT_NO_ENTRY,
               "flags");

int rti_event_maker_init(struct rti_event_maker *maker, bool has_live_children)
{
	*maker = (struct rti_event_maker){ .has_live_children = has_live_children };
	return rti_exe_cache_new(&maker->exe_cache);
}

void rti_event_maker_set_time(struct rti_event_maker *maker)
{
	struct rti_platform platform;
	struct rti_now now;

	rti_platform_init(&platform, false);
	platform.now(&now);
	maker->realtime_offset = (int64_t)(now.realtime_ns - now.monotonic_ns);
}

static void set_live_children(const struct rti_event_maker *maker, struct rt_trace_event *out)
{
	struct rti_live_children live;

	if (!maker->has_live_children || out->call != RT_TRACE_CALL_GETRUSAGE ||
	    out->who != RT_RUSAGE_CHILDREN || out->result != 0 || !out->rusage_valid ||
	    !rti_live_children_read(out->pid, &out->rusage, &live))
		return;
	out->live_children = live.usage;
	out->live_children_valid = live.valid;
	out->live_children_partial = live.partial;
	out->live_children_at_ns = live.at_ns;
}

void rti_event_make(struct rti_event_maker *maker, const struct rti_trace_record *record,
                    struct rt_trace_event *out)
{
	const struct rti_exe_file file = { record->exe_device, record->exe_inode };
	bool has_entry = !(record->flags & RTI_TRACE_NO_ENTRY);
	uint64_t whole[RTI_TRACE_USAGE_WORDS];

	*out = (struct rt_trace_event){
		.flags = record->flags,
		.lost = record->lost,
		.call = record->call,
		.who = record->who,
		.wait_id = record->wait_id,
		.wait_options = record->wait_options,
		.result = record->result,
		.usage_address = record->usage_address,
		.status_address = record->status_address,
		.cpu = record->cpu,
		.pid = record->pid,
		.tid = record->tid,
		.ppid = record->ppid,
		.host_pid = record->host_pid,
		.host_tid = record->host_tid,
		.host_ppid = record->host_ppid,
		.ns_pid = record->ns_pid,
		.ns_tid = record->ns_tid,
		.ns_ppid = record->ns_ppid,
		.uid = record->uid,
		.thread_start_ns = record->thread_start_ns,
		.process_start_ns = record->process_start_ns,
		.parent_start_ns = record->parent_start_ns,
		.cgroup_id = record->cgroup_id,
		.mount_namespace = record->mount_namespace,
		.pid_namespace = record->pid_namespace,
	};
	memcpy(out->comm, record->comm, sizeof(record->comm));
	memcpy(out->host_name, record->host_name, sizeof(record->host_name));
	/* A call that a signal interrupts returns -EINTR, or the kernel makes it again by itself.
	 * At its return that is not decided yet. */
	if (out->result <= -ERESTARTSYS && out->result >= -ERESTART_RESTARTBLOCK)
		out->result = -EINTR;
	out->monotonic_ns = has_entry ? record->entry_ns : record->return_ns;
	out->realtime_ns = out->monotonic_ns + (uint64_t)maker->realtime_offset;
	if (has_entry && record->return_ns > record->entry_ns)
		out->duration_ns = record->return_ns - record->entry_ns;
	if (record->usage_bytes == RTI_TRACE_USAGE_BYTES)
		rti_trace_unpack_usage(whole, record->usage);
	else
		memcpy(whole, record->usage, RTI_TRACE_USAGE_BYTES_32);
	if (rti_parse_kernel_rusage(whole, record->usage_bytes, &out->rusage) == 0)
		out->rusage_valid = RTI_RUSAGE_ALL;
	/* First: the children go on running. */
	set_live_children(maker, out);
	if (!rti_exe_cache_get(maker->exe_cache, file, record->pid, out->exe, sizeof(out->exe)))
		out->flags |= RT_TRACE_EVENT_EXE_CUT;
}

void rti_event_maker_fini(struct rti_event_maker *maker)
{
	rti_exe_cache_free(maker->exe_cache);
}
