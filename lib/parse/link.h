/* SPDX-License-Identifier: MIT */
/* Parser of the network interfaces that rtnetlink(7) lists. */
#ifndef RTI_PARSE_LINK_H
#define RTI_PARSE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RTI_LINK_ADDRESS_MAX 32 /* MAX_ADDR_LEN, include/linux/netdevice.h */

/* A network interface of one network namespace. */
struct rti_link {
	char name[16];
	uint32_t index;  /* never 0, and not given out again until 2^31 others were */
	uint32_t master; /* index of the interface that it belongs to, e.g. a bond; 0: none */
	/* It has a parent device (Linux 5.14), or is not of a kind that software makes. Some
	 * hardware has a kind, too, which only a kernel with parents tells apart. E.g.: ipoib. */
	bool is_hardware;
	uint8_t address_len;
	uint8_t address[RTI_LINK_ADDRESS_MAX];
};

/* Parse a part of the answer to a request for all interfaces, which has the number seq. Calls
 * each() for every interface.
 *
 * Returns RTI_CONTINUE if more is to come, RTI_STOP at the end of the list, what each() returned
 * else, or a negative errno: -EBADMSG if the text is malformed; -EAGAIN if the list has changed
 * meanwhile, so that it may lack interfaces; or the error that the kernel reports. A message with
 * another number is such a change. */
int rti_parse_links(const void *data, size_t len, uint32_t seq,
                    int (*each)(void *arg, const struct rti_link *link), void *arg);

/* Whether an interface has left the namespace by this message, which is a change, and which one.
 * One that leaves a bridge has not. */
bool rti_parse_link_gone(const void *data, size_t len, struct rti_link *out);

/* Numbers of <linux/netlink.h>, <linux/rtnetlink.h> and <linux/if_link.h>.
 * tests/unit/parse/test_link.c compares them with the headers. */
enum {
	RTI_NLM_F_DUMP_INTR = 0x10,
	RTI_RTMGRP_LINK = 1,
	RTI_RTM_NEWLINK = 16,
	RTI_RTM_DELLINK = 17,
	RTI_RTM_GETLINK = 18,
	RTI_IFF_LOOPBACK = 0x8,
	RTI_IFLA_ADDRESS = 1,
	RTI_IFLA_IFNAME = 3,
	RTI_IFLA_MASTER = 10,
	RTI_IFLA_LINKINFO = 18,
	RTI_IFLA_INFO_KIND = 1,
	RTI_IFLA_PARENT_DEV_NAME = 56,
};

#endif
