/* SPDX-License-Identifier: MIT */
/* Parser of /proc/net/dev. */
#include "exact.h"

#include <errno.h>
#include <stdio.h>

#include "parse/parse.h"
#include "suite.h"

#define RECORDS_MAX 8
#define STOP 77 /* a result that no parser returns by itself */

/* The records of all calls. The call with the number stop_at returns STOP. */
struct devs {
	struct rti_netdev dev[RECORDS_MAX];
	unsigned count, stop_at;
};

static int add_dev(void *arg, const struct rti_netdev *dev)
{
	struct devs *devs = arg;

	ck_assert_uint_lt(devs->count, RECORDS_MAX);
	devs->dev[devs->count++] = *dev;
	return devs->count == devs->stop_at ? STOP : 0;
}

#define NET_HEADERS                                                                                \
	"Inter-|   Receive                                                |  Transmit\n"           \
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs " \
	"drop fifo colls "                                                                         \
	"carrier compressed\n"

static int parse_devs(const char *text, struct devs *devs)
{
	struct exact copy = exact(text);

	return rti_parse_netdev(copy.data, copy.len, add_dev, devs);
}

static const struct {
	const char *line, *name;
} net_lines[] = {
	{ "  eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", "eth0" },
	{ "eth0:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", "eth0" },
	{ "bond0:1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", "bond0:1" },
	{ "bond0:1:1 2 3 4 5 6 7 8 9 10 11 12\n", "bond0:1" },
	{ "a|b: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n", "a|b" },
	{ "abcdefghijklmnopqrstuvwxyz01234: 1 2 3 4 5 6 7 8 9 10 11 12\n",
	  "abcdefghijklmnopqrstuvwxyz01234" },
	{ "abcdefghijklmnopqrstuvwxyz012345: 1 2 3 4 5 6 7 8 9 10 11 12\n",
	  "abcdefghijklmnopqrstuvwxyz01234" },
	{ "\xc3\xa9th0: 1 2 3 4 5 6 7 8 9 10 11 12\n", "\xc3\xa9th0" },
};

START_TEST(netdev_line_with_any_name_parses)
{
	struct devs devs = { 0 };
	char text[512];

	snprintf(text, sizeof(text), "%s%s", NET_HEADERS, net_lines[_i].line);
	ck_assert_int_eq(parse_devs(text, &devs), 0);
	ck_assert_uint_eq(devs.count, 1);
	ck_assert_str_eq(devs.dev[0].name, net_lines[_i].name);
	ck_assert_uint_eq(devs.dev[0].receive_bytes, 1);
	ck_assert_uint_eq(devs.dev[0].receive_packets, 2);
	ck_assert_uint_eq(devs.dev[0].receive_errors, 3);
	ck_assert_uint_eq(devs.dev[0].receive_drops, 4);
	ck_assert_uint_eq(devs.dev[0].transmit_bytes, 9);
	ck_assert_uint_eq(devs.dev[0].transmit_packets, 10);
	ck_assert_uint_eq(devs.dev[0].transmit_errors, 11);
	ck_assert_uint_eq(devs.dev[0].transmit_drops, 12);
}
END_TEST

START_TEST(netdev_with_headers_only_yields_no_device)
{
	struct devs devs = { 0 };

	ck_assert_int_eq(parse_devs(NET_HEADERS, &devs), 0);
	ck_assert_uint_eq(devs.count, 0);
}
END_TEST

START_TEST(netdev_with_callback_that_stops_returns_its_result)
{
	static const char text[] =
	    NET_HEADERS "a: 1 2 3 4 5 6 7 8 9 10 11 12\nb: 1 2 3 4 5 6 7 8 9 10 11 12\n";
	struct devs devs = { .stop_at = 1 };

	ck_assert_int_eq(parse_devs(text, &devs), STOP);
	ck_assert_uint_eq(devs.count, 1);
}
END_TEST

static const char *const bad_nets[] = {
	"",
	"Inter-|\n",
	"\n\n",
	"eth0: 1 2 3 4 5 6 7 8 9 10 11 12\nlo: 1 2 3 4 5 6 7 8 9 10 11 12\n",
	NET_HEADERS "\n",
	NET_HEADERS "eth0\n",
	NET_HEADERS ": 1 2 3 4 5 6 7 8 9 10 11 12\n",
	NET_HEADERS "eth0:\n",
	NET_HEADERS "eth0: 1 2 3 4 5 6 7 8 9 10 11\n",
	NET_HEADERS "eth0: 1 2 3 -4 5 6 7 8 9 10 11 12\n",
	NET_HEADERS "eth0: No statistics available.\n",
};

START_TEST(netdev_malformed_is_refused)
{
	struct devs devs = { 0 };

	ck_assert_int_eq(parse_devs(bad_nets[_i], &devs), -EBADMSG);
}
END_TEST

START_TEST(netdev_of_nul_bytes_is_refused)
{
	struct exact zeros = exact_zeros(256), lines = exact_zero_lines(256);

	ck_assert_int_eq(rti_parse_netdev(zeros.data, zeros.len, add_dev, NULL), -EBADMSG);
	ck_assert_int_eq(rti_parse_netdev(lines.data, lines.len, add_dev, NULL), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_netdev");
	TCase *tests = suite_case(suite, "netdev");

	tcase_add_loop_test(tests, netdev_line_with_any_name_parses, 0,
	                    sizeof(net_lines) / sizeof(net_lines[0]));
	tcase_add_test(tests, netdev_with_headers_only_yields_no_device);
	tcase_add_test(tests, netdev_with_callback_that_stops_returns_its_result);
	tcase_add_loop_test(tests, netdev_malformed_is_refused, 0,
	                    sizeof(bad_nets) / sizeof(bad_nets[0]));
	tcase_add_test(tests, netdev_of_nul_bytes_is_refused);
	return suite_run(suite);
}
