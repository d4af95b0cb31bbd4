/* SPDX-License-Identifier: MIT */
/* The kernel's list of network interfaces, built from the structs of the kernel. */
#include "parse/link.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "util/visit.h"

#define SEQ 5
#define PARENT_DEV_NAME 56 /* IFLA_PARENT_DEV_NAME; headers before Linux 5.14 lack it */

struct text {
	_Alignas(4) char data[4096];
	size_t len, message; /* message: where the last one begins */
};

static void add(struct text *t, const void *data, size_t len)
{
	ck_assert_uint_le(t->len + len + 3, sizeof(t->data));
	memcpy(t->data + t->len, data, len);
	t->len += (len + 3) / 4 * 4;
}

static void end_message(struct text *t)
{
	((struct nlmsghdr *)(void *)(t->data + t->message))->nlmsg_len =
	    (uint32_t)(t->len - t->message);
}

static void begin_message(struct text *t, uint16_t type, uint16_t flags, uint32_t seq)
{
	const struct nlmsghdr head = { .nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = seq };

	t->message = t->len;
	add(t, &head, sizeof(head));
	end_message(t);
}

static void add_attribute(struct text *t, uint16_t type, const void *value, size_t len)
{
	const struct nlattr head = { (uint16_t)(sizeof(head) + len), type };

	add(t, &head, sizeof(head));
	add(t, value, len);
	end_message(t);
}

static void begin_link(struct text *t, int index, unsigned flags, const char *name)
{
	const struct ifinfomsg info = { .ifi_index = index, .ifi_flags = flags };

	begin_message(t, RTM_NEWLINK, NLM_F_MULTI, SEQ);
	add(t, &info, sizeof(info));
	add_attribute(t, IFLA_IFNAME, name, strlen(name) + 1);
}

static void add_kind(struct text *t, const char *kind)
{
	char info[64] = { 0 };
	const struct nlattr head = { (uint16_t)(sizeof(head) + strlen(kind) + 1), IFLA_INFO_KIND };

	memcpy(info, &head, sizeof(head));
	strcpy(info + sizeof(head), kind);
	add_attribute(t, IFLA_LINKINFO | NLA_F_NESTED, info, (head.nla_len + 3u) / 4 * 4);
}

static void add_done(struct text *t, int error)
{
	begin_message(t, NLMSG_DONE, NLM_F_MULTI, SEQ);
	add(t, &error, sizeof(error));
	end_message(t);
}

struct found {
	struct rti_link link[8];
	size_t count, stop_at;
};

static int keep(void *arg, const struct rti_link *link)
{
	struct found *found = arg;

	ck_assert_uint_lt(found->count, 8);
	found->link[found->count++] = *link;
	return found->count == found->stop_at ? -ECANCELED : RTI_CONTINUE;
}

/* Parses a copy of exactly this size, so that a sanitizer detects a read past its end. An odd shift
 * gives it an odd address. */
static int parse_part(const struct text *t, size_t len, size_t shift, struct found *found)
{
	char *copy = malloc(shift + len + (shift + len == 0));
	int result;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy + shift, t->data, len);
	*found = (struct found){ .stop_at = found->stop_at };
	result = rti_parse_links(copy + shift, len, SEQ, keep, found);
	free(copy);
	return result;
}

static int parse(const struct text *t, struct found *found)
{
	int result = parse_part(t, t->len, 1, found);

	ck_assert_int_eq(parse_part(t, t->len, 0, found), result);
	return result;
}

START_TEST(numbers_are_as_in_headers)
{
	ck_assert_int_eq(RTI_NLM_F_DUMP_INTR, NLM_F_DUMP_INTR);
	ck_assert_int_eq(RTI_RTMGRP_LINK, RTMGRP_LINK);
	ck_assert_int_eq(RTI_RTM_NEWLINK, RTM_NEWLINK);
	ck_assert_int_eq(RTI_RTM_DELLINK, RTM_DELLINK);
	ck_assert_int_eq(RTI_RTM_GETLINK, RTM_GETLINK);
	ck_assert_int_eq(RTI_IFF_LOOPBACK, IFF_LOOPBACK);
	ck_assert_int_eq(RTI_IFLA_ADDRESS, IFLA_ADDRESS);
	ck_assert_int_eq(RTI_IFLA_IFNAME, IFLA_IFNAME);
	ck_assert_int_eq(RTI_IFLA_MASTER, IFLA_MASTER);
	ck_assert_int_eq(RTI_IFLA_LINKINFO, IFLA_LINKINFO);
	ck_assert_int_eq(RTI_IFLA_INFO_KIND, IFLA_INFO_KIND);
	ck_assert_uint_eq(sizeof(((struct rti_link *)NULL)->name), IFNAMSIZ);
}
END_TEST

START_TEST(list_yields_index_name_address_master_and_kind)
{
	static const unsigned char mac[] = { 2, 0, 0xab, 4, 5, 6 };
	const uint32_t master = 2;
	struct text t = { .len = 0 };
	struct found found = { .count = 0 };

	begin_link(&t, 1, IFF_LOOPBACK | IFF_UP, "lo");
	begin_link(&t, 2, IFF_UP, "eth0");
	add_attribute(&t, IFLA_ADDRESS, mac, sizeof(mac));
	begin_link(&t, 70000, 0, "fifteen-letters");
	add_attribute(&t, IFLA_MASTER, &master, sizeof(master));
	add_kind(&t, "veth");
	begin_link(&t, 4, 0, "wwan0");
	add_kind(&t, "wwan");
	add_attribute(&t, PARENT_DEV_NAME, "0000:00:14.0", 13);
	ck_assert_int_eq(parse(&t, &found), RTI_CONTINUE);
	ck_assert_uint_eq(found.count, 4);
	ck_assert_str_eq(found.link[0].name, "lo");
	ck_assert_uint_eq(found.link[0].index, 1);
	ck_assert(!found.link[0].is_hardware);
	ck_assert_uint_eq(found.link[0].address_len, 0);
	ck_assert_str_eq(found.link[1].name, "eth0");
	ck_assert(found.link[1].is_hardware);
	ck_assert_uint_eq(found.link[1].address_len, sizeof(mac));
	ck_assert_mem_eq(found.link[1].address, mac, sizeof(mac));
	ck_assert_uint_eq(found.link[1].master, 0);
	ck_assert_str_eq(found.link[2].name, "fifteen-letters");
	ck_assert_uint_eq(found.link[2].index, 70000);
	ck_assert_uint_eq(found.link[2].master, 2);
	ck_assert(!found.link[2].is_hardware);
	ck_assert(found.link[3].is_hardware);
	add_done(&t, 0);
	ck_assert_int_eq(parse(&t, &found), RTI_STOP);
	ck_assert_uint_eq(found.count, 4);
}
END_TEST

START_TEST(change_between_parts_of_the_list_asks_to_read_it_again)
{
	struct text t = { .len = 0 };
	struct found found = { .count = 0 };

	begin_link(&t, 2, 0, "eth0");
	begin_message(&t, RTM_DELLINK, 0, 0);
	ck_assert_int_eq(parse(&t, &found), -EAGAIN);
	ck_assert_uint_eq(found.count, 1);
	t = (struct text){ .len = 0 };
	begin_message(&t, NLMSG_DONE, 0, SEQ + 1);
	ck_assert_int_eq(parse(&t, &found), -EAGAIN);
}
END_TEST

START_TEST(change_names_the_interface_that_has_left)
{
	static const struct {
		uint16_t type;
		unsigned char family;
		bool is_gone;
	} changes[] = {
		{ RTM_DELLINK, AF_UNSPEC, true },
		{ RTM_NEWLINK, AF_UNSPEC, false },
		{ RTM_DELLINK, AF_BRIDGE, false }, /* it leaves its bridge */
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const struct ifinfomsg info = { .ifi_family = changes[i].family,
			                        .ifi_index = 70000 };
		struct text t = { .len = 0 };
		struct rti_link link;

		begin_message(&t, changes[i].type, 0, 0);
		add(&t, &info, sizeof(info));
		add_attribute(&t, IFLA_IFNAME, "eth0", 5);
		ck_assert_int_eq(rti_parse_link_gone(t.data, t.len, &link), changes[i].is_gone);
		if (changes[i].is_gone) {
			ck_assert_uint_eq(link.index, 70000);
			ck_assert_str_eq(link.name, "eth0");
			ck_assert(link.is_hardware);
		}
		for (size_t len = 0; len < t.len; len++)
			ck_assert(!rti_parse_link_gone(t.data, len, &link));
	}
}
END_TEST

START_TEST(list_that_was_interrupted_is_to_be_read_again)
{
	struct text t = { .len = 0 };
	struct found found = { .count = 0 };

	begin_message(&t, RTM_NEWLINK, NLM_F_MULTI | NLM_F_DUMP_INTR, SEQ);
	ck_assert_int_eq(parse(&t, &found), -EAGAIN);
	t = (struct text){ .len = 0 };
	begin_message(&t, NLMSG_DONE, NLM_F_MULTI | NLM_F_DUMP_INTR, SEQ);
	ck_assert_int_eq(parse(&t, &found), -EAGAIN);
}
END_TEST

START_TEST(error_of_the_kernel_is_returned)
{
	static const struct {
		int error, expected;
	} errors[] = { { -EPERM, -EPERM }, { -EBUSY, -EBUSY },    { 0, -EBADMSG },
		       { 5, -EBADMSG },    { -100000, -EBADMSG }, { INT32_MIN, -EBADMSG } };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct text t = { .len = 0 };
		struct found found = { .count = 0 };

		begin_message(&t, NLMSG_ERROR, 0, SEQ);
		add(&t, &errors[i].error, sizeof(int));
		end_message(&t);
		ck_assert_int_eq(parse(&t, &found), errors[i].expected);
	}
}
END_TEST

START_TEST(error_at_the_end_of_the_list_is_returned)
{
	static const struct {
		int error, expected;
	} errors[] = {
		{ -EMSGSIZE, -EMSGSIZE }, { -4096, -EBADMSG }, { 0, RTI_STOP }, { 7, RTI_STOP }
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct text t = { .len = 0 };
		struct found found = { .count = 0 };

		add_done(&t, errors[i].error);
		ck_assert_int_eq(parse(&t, &found), errors[i].expected);
	}
}
END_TEST

START_TEST(list_may_end_without_an_error)
{
	struct text t = { .len = 0 };
	struct found found = { .count = 0 };
	const int behind = -EIO; /* not of the message */

	begin_message(&t, NLMSG_DONE, NLM_F_MULTI, SEQ);
	add(&t, &behind, sizeof(behind));
	ck_assert_int_eq(rti_parse_links(t.data, sizeof(struct nlmsghdr), SEQ, keep, &found),
	                 RTI_STOP);
}
END_TEST

START_TEST(callback_stops_the_list)
{
	struct text t = { .len = 0 };
	struct found found = { .stop_at = 1 };

	begin_link(&t, 1, 0, "a");
	begin_link(&t, 2, 0, "b");
	ck_assert_int_eq(parse(&t, &found), -ECANCELED);
	ck_assert_uint_eq(found.count, 1);
}
END_TEST

static void make_odd(struct text *t, int which)
{
	static const char long_address[RTI_LINK_ADDRESS_MAX + 1];

	switch (which) {
	case 0:
		begin_link(t, 0, 0, "eth0");
		break;
	case 1:
		begin_link(t, -2, 0, "eth0");
		break;
	case 2:
		begin_link(t, 2, 0, "");
		break;
	case 3:
		begin_link(t, 2, 0, "sixteen-letters!");
		break;
	case 4: /* no name */
		begin_message(t, RTM_NEWLINK, 0, SEQ);
		add(t, &(struct ifinfomsg){ .ifi_index = 2 }, sizeof(struct ifinfomsg));
		end_message(t);
		break;
	case 5: /* a name that does not end, or ends twice */
	case 6:
		begin_link(t, 2, 0, "eth0");
		memcpy(t->data + t->len - 8, which == 5 ? "eth0xxxx" : "e\0h\0\0\0\0", 8);
		break;
	case 7:
		begin_link(t, 2, 0, "eth0");
		add_attribute(t, IFLA_ADDRESS, long_address, sizeof(long_address));
		break;
	case 8:
		begin_link(t, 2, 0, "eth0");
		add_attribute(t, IFLA_MASTER, "x", 1);
		break;
	case 9: /* what was not asked for */
		begin_message(t, RTM_DELLINK, 0, SEQ);
		break;
	case 10: /* no struct ifinfomsg */
		begin_message(t, RTM_NEWLINK, 0, SEQ);
		break;
	default: /* shorter than its head */
		begin_message(t, RTM_NEWLINK, 0, SEQ);
		((struct nlmsghdr *)(void *)t->data)->nlmsg_len = which == 11 ? 0 : 15;
	}
}

START_TEST(odd_message_fails_with_ebadmsg)
{
	struct text t = { .len = 0 };
	struct found found = { .count = 0 };

	make_odd(&t, _i);
	ck_assert_int_eq(parse(&t, &found), -EBADMSG);
	ck_assert_uint_eq(found.count, 0);
}
END_TEST

START_TEST(torn_list_fails_with_ebadmsg)
{
	struct text t = { .len = 0 };
	struct found found = { .count = 0 };
	size_t first;

	begin_link(&t, 1, 0, "lo");
	first = t.len;
	begin_link(&t, 2, 0, "eth0");
	add_kind(&t, "veth");
	for (size_t len = 1; len < t.len; len++) {
		int expected = len == first ? RTI_CONTINUE : -EBADMSG;

		ck_assert_int_eq(parse_part(&t, len, 1, &found), expected);
		ck_assert_uint_eq(found.count, len >= first);
	}
	ck_assert_int_eq(parse_part(&t, 0, 0, &found), RTI_CONTINUE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("link");
	TCase *list = suite_case(suite, "list"), *hostile = suite_case(suite, "hostile");

	tcase_add_test(list, numbers_are_as_in_headers);
	tcase_add_test(list, list_yields_index_name_address_master_and_kind);
	tcase_add_test(list, change_between_parts_of_the_list_asks_to_read_it_again);
	tcase_add_test(list, change_names_the_interface_that_has_left);
	tcase_add_test(list, list_that_was_interrupted_is_to_be_read_again);
	tcase_add_test(list, error_of_the_kernel_is_returned);
	tcase_add_test(list, error_at_the_end_of_the_list_is_returned);
	tcase_add_test(list, list_may_end_without_an_error);
	tcase_add_test(list, callback_stops_the_list);
	tcase_add_loop_test(hostile, odd_message_fails_with_ebadmsg, 0, 13);
	tcase_add_test(hostile, torn_list_fails_with_ebadmsg);
	return suite_run(suite);
}
