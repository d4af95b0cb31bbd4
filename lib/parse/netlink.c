/* SPDX-License-Identifier: MIT */
/* What the messages of all families of netlink(7) have in common. */
#include "parse/netlink.h"

#include <errno.h>
#include <string.h>

#define HEAD_BYTES 4
#define TYPE_MASK 0x3fffu /* the other bits are flags */

uint16_t rti_netlink_u16(const char *data, size_t at)
{
	uint16_t value;

	memcpy(&value, data + at, sizeof(value));
	return value;
}

uint32_t rti_netlink_u32(const char *data, size_t at)
{
	uint32_t value;

	memcpy(&value, data + at, sizeof(value));
	return value;
}

uint64_t rti_netlink_u64(const char *data, size_t at)
{
	uint64_t value;

	memcpy(&value, data + at, sizeof(value));
	return value;
}

bool rti_netlink_find(const char *data, size_t len, uint16_t type, struct rti_attribute *out)
{
	size_t at = 0, size;

	while (len - at >= HEAD_BYTES) {
		size = rti_netlink_u16(data, at);
		if (size < HEAD_BYTES || size > len - at)
			return false;
		*out = (struct rti_attribute){ rti_netlink_u16(data, at + 2) & TYPE_MASK,
			                       data + at + HEAD_BYTES, size - HEAD_BYTES };
		if (out->type == type)
			return true;
		size = (size + 3) / 4 * 4;
		at += size < len - at ? size : len - at;
	}
	return false;
}

size_t rti_netlink_message_len(const char *data, size_t len, size_t least)
{
	return len >= least && rti_netlink_u32(data, 0) >= least && rti_netlink_u32(data, 0) <= len
	           ? rti_netlink_u32(data, 0)
	           : 0;
}

bool rti_netlink_is_error(const char *data)
{
	return rti_netlink_u16(data, 4) == RTI_NLMSG_ERROR;
}

int rti_parse_netlink_ack(const void *data, size_t len)
{
	int32_t error;

	if (!rti_netlink_message_len(data, len, RTI_NLMSG_AT_ERROR + 4) ||
	    !rti_netlink_is_error(data))
		return -EBADMSG;
	error = (int32_t)rti_netlink_u32(data, RTI_NLMSG_AT_ERROR);
	return error <= 0 && error > -4096 ? error : -EBADMSG;
}
