/* SPDX-License-Identifier: MIT */
/* What the messages of all families of netlink(7) have in common: a struct nlmsghdr, and attributes
 * behind the head of the family. */
#ifndef RTI_PARSE_NETLINK_H
#define RTI_PARSE_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A length of 16 bits, which includes these two, a type of 16 bits, and the value, padded to 4
 * bytes. */
struct rti_attribute {
	uint16_t type;
	const char *value;
	size_t len;
};

/* Numbers in the order of this machine, at any address. */
uint16_t rti_netlink_u16(const char *data, size_t at);
uint32_t rti_netlink_u32(const char *data, size_t at);
uint64_t rti_netlink_u64(const char *data, size_t at);

/* Find the first attribute of a type. Returns false if there is none, or one before is cut. */
bool rti_netlink_find(const char *data, size_t len, uint16_t type, struct rti_attribute *out);

/* Returns the length of the message that data begins with, or 0 if it is cut or has less than least
 * bytes, which are those of a struct nlmsghdr at least. */
size_t rti_netlink_message_len(const char *data, size_t len, size_t least);

/* Whether a message of 8 bytes or more is an error, or an acknowledgement. */
bool rti_netlink_is_error(const char *message);

/* Parse an acknowledgement. Returns the error that it reports, 0 if none, or -EBADMSG. */
int rti_parse_netlink_ack(const void *data, size_t len);

/* Numbers of <linux/netlink.h>. tests/unit/parse/test_taskstats.c compares them. */
#define RTI_NLMSG_ERROR 2
#define RTI_NLMSG_DONE 3
#define RTI_NLMSG_AT_ERROR 16

#endif
