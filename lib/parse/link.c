/* SPDX-License-Identifier: MIT */
/* Parser of the network interfaces that rtnetlink(7) lists.
 *
 * A message is a struct nlmsghdr, a struct ifinfomsg, and attributes. */
#include "parse/link.h"

#include <errno.h>
#include <string.h>

#include "parse/netlink.h"
#include "util/visit.h"

#define INFO_AT RTI_NLMSG_AT_ERROR /* struct ifinfomsg */
#define INDEX_AT (INFO_AT + 4)
#define FLAGS_AT (INFO_AT + 8)
#define ATTRIBUTES_AT (INFO_AT + 16)

static bool parse_link(const char *message, size_t len, struct rti_link *out)
{
	const char *attributes = message + ATTRIBUTES_AT;
	size_t left = len - ATTRIBUTES_AT;
	struct rti_attribute found, kind;

	*out = (struct rti_link){ .index = rti_netlink_u32(message, INDEX_AT) };
	if (out->index == 0 || out->index > INT32_MAX ||
	    !rti_netlink_find(attributes, left, RTI_IFLA_IFNAME, &found) || found.len < 2 ||
	    found.len > sizeof(out->name) ||
	    memchr(found.value, '\0', found.len) != found.value + found.len - 1)
		return false;
	memcpy(out->name, found.value, found.len);
	if (rti_netlink_find(attributes, left, RTI_IFLA_ADDRESS, &found)) {
		if (found.len > sizeof(out->address))
			return false;
		memcpy(out->address, found.value, found.len);
		out->address_len = (uint8_t)found.len;
	}
	if (rti_netlink_find(attributes, left, RTI_IFLA_MASTER, &found)) {
		if (found.len != sizeof(out->master))
			return false;
		out->master = rti_netlink_u32(found.value, 0);
	}
	out->is_hardware = rti_netlink_find(attributes, left, RTI_IFLA_PARENT_DEV_NAME, &found) ||
	                   (!(rti_netlink_u32(message, FLAGS_AT) & RTI_IFF_LOOPBACK) &&
	                    !(rti_netlink_find(attributes, left, RTI_IFLA_LINKINFO, &found) &&
	                      rti_netlink_find(found.value, found.len, RTI_IFLA_INFO_KIND, &kind)));
	return true;
}

/* Returns what rti_parse_links() returns of a whole message. */
static int parse_message(const char *message, size_t len, uint32_t seq,
                         int (*each)(void *arg, const struct rti_link *link), void *arg)
{
	uint32_t type = rti_netlink_u16(message, 4), flags = rti_netlink_u16(message, 6);
	struct rti_link link;
	int err;

	if (rti_netlink_u32(message, 8) != seq)
		return -EAGAIN;
	if (rti_netlink_is_error(message)) {
		err = rti_parse_netlink_ack(message, len);
		return err < 0 ? err : -EBADMSG;
	}
	if (flags & RTI_NLM_F_DUMP_INTR)
		return -EAGAIN;
	if (type == RTI_NLMSG_DONE) {
		err = len >= INFO_AT + 4 ? (int32_t)rti_netlink_u32(message, INFO_AT) : 0;
		return err < 0 ? (err > -4096 ? err : -EBADMSG) : RTI_STOP;
	}
	if (type != RTI_RTM_NEWLINK || len < ATTRIBUTES_AT || !parse_link(message, len, &link))
		return -EBADMSG;
	return each(arg, &link);
}

int rti_parse_links(const void *data, size_t len, uint32_t seq,
                    int (*each)(void *arg, const struct rti_link *link), void *arg)
{
	const char *text = data;
	int result = RTI_CONTINUE;

	for (size_t at = 0, size; result == RTI_CONTINUE && at < len; at += (size + 3) / 4 * 4) {
		size = rti_netlink_message_len(text + at, len - at, INFO_AT);
		if (!size)
			return -EBADMSG;
		result = parse_message(text + at, size, seq, each, arg);
	}
	return result;
}

bool rti_parse_link_gone(const void *data, size_t len, struct rti_link *out)
{
	const char *message = data;
	size_t size = rti_netlink_message_len(message, len, ATTRIBUTES_AT);

	return size && rti_netlink_u16(message, 4) == RTI_RTM_DELLINK && message[INFO_AT] == 0 &&
	       parse_link(message, size, out);
}
