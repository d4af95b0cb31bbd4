/* SPDX-License-Identifier: MIT */
/* Parser of the messages of taskstats.
 *
 * A message is a struct nlmsghdr, a struct genlmsghdr, and attributes: a length of 16 bits, which
 * includes the attribute's head, a type of 16 bits, and the value, padded to 4 bytes. */
#include "parse/taskstats.h"

#include <errno.h>
#include <string.h>

#define ATTRIBUTES_AT 20 /* after both heads */
#define HEAD_BYTES 4
#define TYPE_MASK 0x3fffu /* the other bits are flags */

struct attribute {
	uint16_t type;
	const char *value;
	size_t len;
};

static uint16_t read_u16(const char *data, size_t at)
{
	uint16_t value;

	memcpy(&value, data + at, sizeof(value));
	return value;
}

static uint32_t read_u32(const char *data, size_t at)
{
	uint32_t value;

	memcpy(&value, data + at, sizeof(value));
	return value;
}

static uint64_t read_u64(const char *data, size_t at)
{
	uint64_t value;

	memcpy(&value, data + at, sizeof(value));
	return value;
}

/* Find the first attribute of a type. Returns false if there is none, or one before is cut. */
static bool find(const char *data, size_t len, uint16_t type, struct attribute *out)
{
	size_t at = 0, size;

	while (len - at >= HEAD_BYTES) {
		size = read_u16(data, at);
		if (size < HEAD_BYTES || size > len - at)
			return false;
		*out = (struct attribute){ read_u16(data, at + 2) & TYPE_MASK,
			                   data + at + HEAD_BYTES, size - HEAD_BYTES };
		if (out->type == type)
			return true;
		size = (size + 3) / 4 * 4;
		at += size < len - at ? size : len - at;
	}
	return false;
}

/* Returns the length of a message, or 0 if it is cut. */
static size_t message_len(const char *data, size_t len, size_t least)
{
	return len >= least && read_u32(data, 0) >= least && read_u32(data, 0) <= len
	           ? read_u32(data, 0)
	           : 0;
}

static bool is_error(const char *data)
{
	return read_u16(data, 4) == RTI_NLMSG_ERROR;
}

int rti_parse_netlink_ack(const void *data, size_t len)
{
	int32_t error;

	if (!message_len(data, len, ATTRIBUTES_AT) || !is_error(data))
		return -EBADMSG;
	error = (int32_t)read_u32(data, RTI_NLMSG_AT_ERROR);
	return error <= 0 && error > -4096 ? error : -EBADMSG;
}

int rti_parse_genl_family(const void *data, size_t len, uint16_t *id)
{
	size_t whole = message_len(data, len, ATTRIBUTES_AT);
	struct attribute family;

	if (!whole)
		return -EBADMSG;
	if (is_error(data)) {
		int err = rti_parse_netlink_ack(data, len);

		return err ? err : -EBADMSG;
	}
	if (!find((const char *)data + ATTRIBUTES_AT, whole - ATTRIBUTES_AT,
	          RTI_CTRL_ATTR_FAMILY_ID, &family) ||
	    family.len < sizeof(*id))
		return -EBADMSG;
	*id = read_u16(family.value, 0);
	return 0;
}

static void fill(const char *stats, struct rti_task_exit *out)
{
	*out = (struct rti_task_exit){
		.pid = (int32_t)read_u32(stats, RTI_TASKSTATS_AT_TGID),
		.tid = (int32_t)read_u32(stats, RTI_TASKSTATS_AT_PID),
		.is_last = (unsigned char)stats[RTI_TASKSTATS_AT_FLAG] & RTI_TASKSTATS_LAST,
		.cpu_ns = read_u64(stats, RTI_TASKSTATS_AT_CPU_NS),
		.user_us = read_u64(stats, RTI_TASKSTATS_AT_USER_US),
		.system_us = read_u64(stats, RTI_TASKSTATS_AT_SYSTEM_US),
		.read_bytes = read_u64(stats, RTI_TASKSTATS_AT_READ_BYTES),
		.write_bytes = read_u64(stats, RTI_TASKSTATS_AT_WRITE_BYTES),
	};
	memcpy(out->comm, stats + RTI_TASKSTATS_AT_COMM, sizeof(out->comm) - 1);
	if (__builtin_mul_overflow(read_u64(stats, RTI_TASKSTATS_AT_LIFETIME_US), 1000u,
	                           &out->lifetime_ns))
		out->lifetime_ns = UINT64_MAX;
	if (__builtin_mul_overflow(read_u64(stats, RTI_TASKSTATS_AT_PEAK_KIB), 1024u,
	                           &out->peak_rss_bytes))
		out->peak_rss_bytes = 0;
}

int rti_parse_taskstats(const void *data, size_t len, struct rti_task_exit *out)
{
	const char *message = data;
	size_t whole = message_len(data, len, ATTRIBUTES_AT);
	struct attribute thread, stats;

	*out = (struct rti_task_exit){ 0 };
	if (!whole || is_error(data) || message[16] != RTI_TASKSTATS_CMD_NEW ||
	    !find(message + ATTRIBUTES_AT, whole - ATTRIBUTES_AT, RTI_TASKSTATS_TYPE_AGGR_PID,
	          &thread) ||
	    !find(thread.value, thread.len, RTI_TASKSTATS_TYPE_STATS, &stats) || stats.len < 2)
		return -EBADMSG;
	if (read_u16(stats.value, 0) < RTI_TASKSTATS_VERSION_MIN)
		return -EOPNOTSUPP;
	if (stats.len < RTI_TASKSTATS_BYTES_MIN)
		return -EBADMSG;
	fill(stats.value, out);
	return 0;
}
