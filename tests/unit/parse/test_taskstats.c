/* SPDX-License-Identifier: MIT */
/* Messages of taskstats, built from the structs of the kernel. */
#include <errno.h>
#include <linux/acct.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "parse/netlink.h"
#include "parse/taskstats.h"
#include "suite.h"

#define FAMILY 23

/* As fill_stats() and its callers lay it out, kernel/taskstats.c: the account of the thread, and
 * for the last thread of a process with several one of the process, which is left alone. */
struct message {
	struct nlmsghdr netlink;
	struct genlmsghdr generic;
	struct nlattr thread, tid;
	uint32_t tid_value;
	struct nlattr stats;
	unsigned char stats_value[sizeof(struct taskstats)];
	struct nlattr process, pid;
	uint32_t pid_value;
} __attribute__((packed));

static struct taskstats make_stats(void)
{
	struct taskstats stats;

	memset(&stats, 0x5a, sizeof(stats));
	stats.version = TASKSTATS_VERSION;
	stats.ac_flag = AFORK | AGROUP;
	stats.cpu_run_virtual_total = 1234567;
	strcpy(stats.ac_comm, "worker 1");
	stats.ac_pid = 301;
	stats.ac_tgid = 300;
	stats.ac_utime = 1000;
	stats.ac_stime = 200;
	stats.ac_tgetime = 5000001;
	stats.hiwater_rss = 2048;
	stats.read_bytes = 4096;
	stats.write_bytes = 8192;
	return stats;
}

static struct message make_message(const struct taskstats *stats)
{
	struct message m = {
		.netlink = { .nlmsg_len = sizeof(m), .nlmsg_type = FAMILY },
		.generic = { .cmd = TASKSTATS_CMD_NEW, .version = 1 },
		.thread = { sizeof(m.thread) + sizeof(m.tid) + 4 + sizeof(m.stats) +
		                sizeof(m.stats_value),
		            TASKSTATS_TYPE_AGGR_PID | NLA_F_NESTED },
		.tid = { 8, TASKSTATS_TYPE_PID },
		.tid_value = 301,
		.stats = { sizeof(m.stats) + sizeof(m.stats_value), TASKSTATS_TYPE_STATS },
		.process = { 12, TASKSTATS_TYPE_AGGR_TGID | NLA_F_NESTED },
		.pid = { 8, TASKSTATS_TYPE_TGID },
		.pid_value = 300,
	};

	memcpy(m.stats_value, stats, sizeof(*stats));
	return m;
}

/* Parses a copy of exactly this size, so that a sanitizer detects a read past its end. An odd shift
 * gives it an odd address. */
static int parse_at(const void *message, size_t shift, size_t len, struct rti_task_exit *out)
{
	unsigned char *copy = malloc(shift + len + (shift + len == 0));
	int result;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy + shift, message, len);
	memset(out, 0xa5, sizeof(*out));
	result = rti_parse_taskstats(copy + shift, len, out);
	free(copy);
	return result;
}

static int parse(const struct message *m, struct rti_task_exit *out)
{
	ck_assert_int_eq(parse_at(m, 1, sizeof(*m), out), parse_at(m, 0, sizeof(*m), out));
	return parse_at(m, 0, sizeof(*m), out);
}

START_TEST(numbers_and_offsets_match_the_kernel_headers)
{
	ck_assert_int_eq(RTI_NLMSG_ERROR, NLMSG_ERROR);
	ck_assert_int_eq(RTI_NLMSG_DONE, NLMSG_DONE);
	ck_assert_uint_eq(RTI_NLMSG_AT_ERROR,
	                  sizeof(struct nlmsghdr) + offsetof(struct nlmsgerr, error));
	ck_assert_int_eq(RTI_GENL_ID_CTRL, GENL_ID_CTRL);
	ck_assert_int_eq(RTI_CTRL_CMD_GETFAMILY, CTRL_CMD_GETFAMILY);
	ck_assert_int_eq(RTI_CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_ID);
	ck_assert_int_eq(RTI_CTRL_ATTR_FAMILY_NAME, CTRL_ATTR_FAMILY_NAME);
	ck_assert_int_eq(RTI_TASKSTATS_CMD_GET, TASKSTATS_CMD_GET);
	ck_assert_int_eq(RTI_TASKSTATS_CMD_NEW, TASKSTATS_CMD_NEW);
	ck_assert_int_eq(RTI_TASKSTATS_ATTR_REGISTER_CPUMASK, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK);
	ck_assert_int_eq(RTI_TASKSTATS_TYPE_STATS, TASKSTATS_TYPE_STATS);
	ck_assert_int_eq(RTI_TASKSTATS_TYPE_AGGR_PID, TASKSTATS_TYPE_AGGR_PID);
	ck_assert_int_eq(RTI_TASKSTATS_LAST, AGROUP);
	ck_assert_uint_eq(RTI_TASKSTATS_BYTES_MIN, offsetof(struct taskstats, ac_tgetime) + 8);
	ck_assert_uint_eq(RTI_TASKSTATS_AT_FLAG, offsetof(struct taskstats, ac_flag));
	ck_assert_uint_eq(RTI_TASKSTATS_AT_CPU_NS,
	                  offsetof(struct taskstats, cpu_run_virtual_total));
	ck_assert_uint_eq(RTI_TASKSTATS_AT_COMM, offsetof(struct taskstats, ac_comm));
	ck_assert_uint_eq(RTI_TASKSTATS_AT_PID, offsetof(struct taskstats, ac_pid));
	ck_assert_uint_eq(RTI_TASKSTATS_AT_USER_US, offsetof(struct taskstats, ac_utime));
	ck_assert_uint_eq(RTI_TASKSTATS_AT_SYSTEM_US, offsetof(struct taskstats, ac_stime));
	ck_assert_uint_eq(RTI_TASKSTATS_AT_PEAK_KIB, offsetof(struct taskstats, hiwater_rss));
	ck_assert_uint_eq(RTI_TASKSTATS_AT_READ_BYTES, offsetof(struct taskstats, read_bytes));
	ck_assert_uint_eq(RTI_TASKSTATS_AT_WRITE_BYTES, offsetof(struct taskstats, write_bytes));
	ck_assert_uint_eq(RTI_TASKSTATS_AT_TGID, offsetof(struct taskstats, ac_tgid));
	ck_assert_uint_eq(RTI_TASKSTATS_AT_LIFETIME_US, offsetof(struct taskstats, ac_tgetime));
}
END_TEST

START_TEST(account_of_the_last_thread_yields_its_figures)
{
	const struct taskstats stats = make_stats();
	const struct message m = make_message(&stats);
	struct rti_task_exit out;

	ck_assert_int_eq(parse(&m, &out), 0);
	ck_assert_int_eq(out.pid, 300);
	ck_assert_int_eq(out.tid, 301);
	ck_assert(out.is_last);
	ck_assert_uint_eq(out.lifetime_ns, UINT64_C(5000001000));
	ck_assert_uint_eq(out.cpu_ns, 1234567);
	ck_assert_uint_eq(out.user_us, 1000);
	ck_assert_uint_eq(out.system_us, 200);
	ck_assert_uint_eq(out.peak_rss_bytes, 2097152);
	ck_assert_uint_eq(out.read_bytes, 4096);
	ck_assert_uint_eq(out.write_bytes, 8192);
	ck_assert_str_eq(out.comm, "worker 1");
}
END_TEST

START_TEST(account_of_another_thread_is_not_the_last)
{
	struct taskstats stats = make_stats();
	struct rti_task_exit out;
	struct message m;

	stats.ac_flag = AFORK;
	m = make_message(&stats);
	ck_assert_int_eq(parse(&m, &out), 0);
	ck_assert(!out.is_last);
}
END_TEST

START_TEST(message_cut_short_is_refused)
{
	const struct taskstats stats = make_stats();
	const struct message m = make_message(&stats);
	struct rti_task_exit out;

	for (size_t len = 0; len < sizeof(m); len++) {
		ck_assert_int_eq(parse_at(&m, len % 2, len, &out), -EBADMSG);
		ck_assert_int_eq(out.pid, 0);
	}
}
END_TEST

/* Each length within the message is too long, too short, or 0 in turn. */
START_TEST(hostile_lengths_are_refused)
{
	static const uint16_t bad[] = { 0, 1, 3, 1000, 0xffff };
	const struct taskstats stats = make_stats();
	struct message m = make_message(&stats);
	struct rti_task_exit out;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		m = make_message(&stats);
		m.netlink.nlmsg_len = bad[i];
		ck_assert_int_eq(parse(&m, &out), -EBADMSG);
		m = make_message(&stats);
		m.thread.nla_len = bad[i];
		ck_assert_int_eq(parse(&m, &out), -EBADMSG);
		m = make_message(&stats);
		m.tid.nla_len = bad[i];
		ck_assert_int_eq(parse(&m, &out), -EBADMSG);
		m = make_message(&stats);
		m.stats.nla_len = bad[i];
		ck_assert_int_eq(parse(&m, &out), -EBADMSG);
	}
	for (uint16_t len = 0; len < 2; len++) { /* of a part of the version alone */
		m = make_message(&stats);
		memset(m.stats_value, 0, 2); /* it would be an old one */
		m.stats.nla_len = (uint16_t)(4 + len);
		ck_assert_int_eq(parse(&m, &out), -EBADMSG);
	}
	m = make_message(&stats);
	m.stats.nla_len++; /* beyond the account of the thread, within the message */
	ck_assert_int_eq(parse(&m, &out), -EBADMSG);
	m.stats.nla_len = 4 + RTI_TASKSTATS_BYTES_MIN - 1;
	ck_assert_int_eq(parse(&m, &out), -EBADMSG);
	m.stats.nla_len = 4 + RTI_TASKSTATS_BYTES_MIN;
	ck_assert_int_eq(parse(&m, &out), 0);
}
END_TEST

START_TEST(account_of_an_older_kernel_is_not_supported)
{
	struct taskstats stats = make_stats();
	struct rti_task_exit out;
	struct message m;

	stats.version = 11;
	m = make_message(&stats);
	ck_assert_int_eq(parse(&m, &out), -EOPNOTSUPP);
	ck_assert_int_eq(out.pid, 0);
}
END_TEST

START_TEST(extreme_numbers_do_not_overflow)
{
	struct taskstats stats = make_stats();
	struct rti_task_exit out;
	struct message m;

	memset(stats.ac_comm, 'x', sizeof(stats.ac_comm));
	stats.ac_tgetime = stats.hiwater_rss = stats.cpu_run_virtual_total = UINT64_MAX;
	m = make_message(&stats);
	ck_assert_int_eq(parse(&m, &out), 0);
	ck_assert_uint_eq(out.lifetime_ns, UINT64_MAX);
	ck_assert_uint_eq(out.peak_rss_bytes, 0);
	ck_assert_uint_eq(out.cpu_ns, UINT64_MAX);
	ck_assert_str_eq(out.comm, "xxxxxxxxxxxxxxx");
}
END_TEST

START_TEST(other_messages_are_refused)
{
	const struct taskstats stats = make_stats();
	struct message m = make_message(&stats);
	struct rti_task_exit out;

	m.generic.cmd = TASKSTATS_CMD_GET;
	ck_assert_int_eq(parse(&m, &out), -EBADMSG);
	m = make_message(&stats);
	m.netlink.nlmsg_type = NLMSG_ERROR;
	ck_assert_int_eq(parse(&m, &out), -EBADMSG);
	m = make_message(&stats);
	m.thread.nla_type = TASKSTATS_TYPE_AGGR_TGID;
	m.process.nla_type = TASKSTATS_TYPE_NULL;
	ck_assert_int_eq(parse(&m, &out), -EBADMSG);
}
END_TEST

struct answer {
	struct nlmsghdr netlink;
	struct nlmsgerr error;
};

START_TEST(acknowledgement_yields_its_error)
{
	struct answer a = { { .nlmsg_len = sizeof(a), .nlmsg_type = NLMSG_ERROR }, { 0 } };
	static const int errors[] = { 0, -EPERM, -ENOENT };
	uint16_t family = 7;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		a.error.error = errors[i];
		ck_assert_int_eq(rti_parse_netlink_ack(&a, sizeof(a)), errors[i]);
		ck_assert_int_eq(rti_parse_genl_family(&a, sizeof(a), &family),
		                 errors[i] ? errors[i] : -EBADMSG);
	}
	a.error.error = 5;
	ck_assert_int_eq(rti_parse_netlink_ack(&a, sizeof(a)), -EBADMSG);
	a.error.error = INT32_MIN;
	ck_assert_int_eq(rti_parse_netlink_ack(&a, sizeof(a)), -EBADMSG);
	for (size_t len = 0; len < sizeof(a); len++)
		ck_assert_int_eq(rti_parse_netlink_ack(&a, len), -EBADMSG);
	a.netlink.nlmsg_type = FAMILY;
	ck_assert_int_eq(rti_parse_netlink_ack(&a, sizeof(a)), -EBADMSG);
	ck_assert_uint_eq(family, 7);
}
END_TEST

START_TEST(answer_yields_the_number_of_the_family)
{
	struct {
		struct nlmsghdr netlink;
		struct genlmsghdr generic;
		struct nlattr name;
		char name_value[12];
		struct nlattr id;
		uint16_t id_value, padding;
	} a = { { .nlmsg_len = sizeof(a), .nlmsg_type = GENL_ID_CTRL },
		{ .cmd = CTRL_CMD_NEWFAMILY },
		{ 4 + 10, CTRL_ATTR_FAMILY_NAME },
		"TASKSTATS",
		{ 4 + 2, CTRL_ATTR_FAMILY_ID },
		FAMILY,
		0 };
	uint16_t family = 0;

	ck_assert_int_eq(rti_parse_genl_family(&a, sizeof(a), &family), 0);
	ck_assert_uint_eq(family, FAMILY);
	for (size_t len = 0; len < sizeof(a); len++)
		ck_assert_int_eq(rti_parse_genl_family(&a, len, &family), -EBADMSG);
	a.id.nla_len = 4 + 1;
	ck_assert_int_eq(rti_parse_genl_family(&a, sizeof(a), &family), -EBADMSG);
	a.id.nla_type = CTRL_ATTR_VERSION;
	ck_assert_int_eq(rti_parse_genl_family(&a, sizeof(a), &family), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("taskstats");
	TCase *valid = suite_case(suite, "valid"), *odd = suite_case(suite, "odd");

	tcase_add_test(valid, numbers_and_offsets_match_the_kernel_headers);
	tcase_add_test(valid, account_of_the_last_thread_yields_its_figures);
	tcase_add_test(valid, account_of_another_thread_is_not_the_last);
	tcase_add_test(valid, acknowledgement_yields_its_error);
	tcase_add_test(valid, answer_yields_the_number_of_the_family);
	tcase_add_test(odd, message_cut_short_is_refused);
	tcase_add_test(odd, hostile_lengths_are_refused);
	tcase_add_test(odd, account_of_an_older_kernel_is_not_supported);
	tcase_add_test(odd, extreme_numbers_do_not_overflow);
	tcase_add_test(odd, other_messages_are_refused);
	return suite_run(suite);
}
