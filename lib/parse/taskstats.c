/* SPDX-License-Identifier: MIT */
/* Parser of the messages of taskstats.
 *
 * A message is a struct nlmsghdr, a struct genlmsghdr, and attributes. */
#include "parse/taskstats.h"

#include <errno.h>
#include <string.h>

#include "parse/netlink.h"

#define ATTRIBUTES_AT 20 /* after both heads */

int rti_parse_genl_family(const void *data, size_t len, uint16_t *id)
{
	size_t whole = rti_netlink_message_len(data, len, ATTRIBUTES_AT);
	struct rti_attribute family;

	if (!whole)
		return -EBADMSG;
	if (rti_netlink_is_error(data)) {
		int err = rti_parse_netlink_ack(data, len);

		return err ? err : -EBADMSG;
	}
	if (!rti_netlink_find((const char *)data + ATTRIBUTES_AT, whole - ATTRIBUTES_AT,
	                      RTI_CTRL_ATTR_FAMILY_ID, &family) ||
	    family.len < sizeof(*id))
		return -EBADMSG;
	*id = rti_netlink_u16(family.value, 0);
	return 0;
}

static void fill(const char *stats, struct rti_task_exit *out)
{
	*out = (struct rti_task_exit){
		.pid = (int32_t)rti_netlink_u32(stats, RTI_TASKSTATS_AT_TGID),
		.tid = (int32_t)rti_netlink_u32(stats, RTI_TASKSTATS_AT_PID),
		.is_last = (unsigned char)stats[RTI_TASKSTATS_AT_FLAG] & RTI_TASKSTATS_LAST,
		.cpu_ns = rti_netlink_u64(stats, RTI_TASKSTATS_AT_CPU_NS),
		.user_us = rti_netlink_u64(stats, RTI_TASKSTATS_AT_USER_US),
		.system_us = rti_netlink_u64(stats, RTI_TASKSTATS_AT_SYSTEM_US),
		.read_bytes = rti_netlink_u64(stats, RTI_TASKSTATS_AT_READ_BYTES),
		.write_bytes = rti_netlink_u64(stats, RTI_TASKSTATS_AT_WRITE_BYTES),
	};
	memcpy(out->comm, stats + RTI_TASKSTATS_AT_COMM, sizeof(out->comm) - 1);
	if (__builtin_mul_overflow(rti_netlink_u64(stats, RTI_TASKSTATS_AT_LIFETIME_US), 1000u,
	                           &out->lifetime_ns))
		out->lifetime_ns = UINT64_MAX;
	if (__builtin_mul_overflow(rti_netlink_u64(stats, RTI_TASKSTATS_AT_PEAK_KIB), 1024u,
	                           &out->peak_rss_bytes))
		out->peak_rss_bytes = 0;
}

int rti_parse_taskstats(const void *data, size_t len, struct rti_task_exit *out)
{
	const char *message = data;
	size_t whole = rti_netlink_message_len(data, len, ATTRIBUTES_AT);
	struct rti_attribute thread, stats;

	*out = (struct rti_task_exit){ 0 };
	if (!whole || rti_netlink_is_error(data) || message[16] != RTI_TASKSTATS_CMD_NEW ||
	    !rti_netlink_find(message + ATTRIBUTES_AT, whole - ATTRIBUTES_AT,
	                      RTI_TASKSTATS_TYPE_AGGR_PID, &thread) ||
	    !rti_netlink_find(thread.value, thread.len, RTI_TASKSTATS_TYPE_STATS, &stats) ||
	    stats.len < 2)
		return -EBADMSG;
	if (rti_netlink_u16(stats.value, 0) < RTI_TASKSTATS_VERSION_MIN)
		return -EOPNOTSUPP;
	if (stats.len < RTI_TASKSTATS_BYTES_MIN)
		return -EBADMSG;
	fill(stats.value, out);
	return 0;
}
