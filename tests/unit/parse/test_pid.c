/* SPDX-License-Identifier: MIT */
/* Parsers of the files of one process. */
#include "exact.h"

#include <errno.h>
#include <stdio.h>

#include "parse/parse.h"
#include "suite.h"

/* Fields 3 to 52, each with a number of its own. */
#define STAT_TAIL                                                                                  \
	"S 1 3 4 -5 -6 4194560 10 11 12 13 14 15 16 17 -18 -19 20 0 22 23 24 "                     \
	"18446744073709551615 26 27 28 29 30 "                                                     \
	"31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52\n"

static int parse_stat_text(const char *text, struct rti_pid_stat *out)
{
	struct exact copy = exact(text);

	memset(out, 0x55, sizeof(*out));
	return rti_parse_pid_stat(copy.data, copy.len, out);
}

START_TEST(stat_takes_every_field)
{
	struct rti_pid_stat st;

	ck_assert_int_eq(parse_stat_text("42 (name) " STAT_TAIL, &st), 0);
	ck_assert_int_eq(st.pid, 42);
	ck_assert_str_eq(st.comm, "name");
	ck_assert_int_eq(st.state, 'S');
	ck_assert_int_eq(st.ppid, 1);
	ck_assert_uint_eq(st.flags, 4194560);
	ck_assert_uint_eq(st.minflt, 10);
	ck_assert_uint_eq(st.cminflt, 11);
	ck_assert_uint_eq(st.majflt, 12);
	ck_assert_uint_eq(st.cmajflt, 13);
	ck_assert_uint_eq(st.utime, 14);
	ck_assert_uint_eq(st.stime, 15);
	ck_assert_uint_eq(st.cutime, 16);
	ck_assert_uint_eq(st.cstime, 17);
	ck_assert_uint_eq(st.num_threads, 20);
	ck_assert(st.has_starttime);
	ck_assert_uint_eq(st.starttime, 22);
	ck_assert_uint_eq(st.rss_pages, 24);
	ck_assert(st.has_signals);
	ck_assert_uint_eq(st.sigignore, 33);
	ck_assert_int_eq(st.exit_signal, 38);
}
END_TEST

START_TEST(stat_may_end_before_the_signals)
{
	struct rti_pid_stat st = { .has_signals = 1 };

	ck_assert_int_eq(
	    parse_stat_text(
		"42 (c) S 1 3 4 5 6 7 10 11 12 13 14 15 16 17 18 19 20 0 22 23 24 25 26", &st),
	    0);
	ck_assert(!st.has_signals);
	ck_assert_uint_eq(st.rss_pages, 24);
}
END_TEST

static const char *const comms[] = {
	"",       " ",         "a b", "a) R 1",    ")",  "))))",     "(",
	"(x) (y", "new\nline", "\t",  "7 (x) S 9", "\\", "\xff\xfe",
};

START_TEST(stat_takes_any_comm)
{
	struct rti_pid_stat st;
	char text[512];

	snprintf(text, sizeof(text), "42 (%s) " STAT_TAIL, comms[_i]);
	ck_assert_int_eq(parse_stat_text(text, &st), 0);
	ck_assert_str_eq(st.comm, comms[_i]);
	ck_assert_int_eq(st.ppid, 1);
	ck_assert_uint_eq(st.starttime, 22);
}
END_TEST

START_TEST(stat_cuts_long_comm)
{
	struct rti_pid_stat st;
	char text[512], comm[101];

	memset(comm, 'k', 100);
	comm[100] = '\0';
	snprintf(text, sizeof(text), "42 (%s) " STAT_TAIL, comm);
	ck_assert_int_eq(parse_stat_text(text, &st), 0);
	comm[63] = '\0';
	ck_assert_str_eq(st.comm, comm);
	ck_assert_int_eq(st.ppid, 1);
}
END_TEST

START_TEST(stat_clamps_negative_child_times)
{
	static const char text[] =
	    "1 (x) R 0 0 0 0 0 0 0 0 0 0 1 2 -1 -9223372036854775808 0 0 1 0 5 0 -3";
	struct rti_pid_stat st;

	ck_assert_int_eq(parse_stat_text(text, &st), 0);
	ck_assert_uint_eq(st.cutime, 0);
	ck_assert_uint_eq(st.cstime, 0);
	ck_assert_uint_eq(st.stime, 2);
	ck_assert_uint_eq(st.starttime, 5);
	ck_assert_uint_eq(st.rss_pages, 0);
}
END_TEST

START_TEST(stat_saturates_numbers_past_64_bits)
{
	static const char text[] =
	    "1 (x) R 0 0 0 0 0 0 99999999999999999999999 0 0 0 1 2 0 0 0 0 1 0 5 0 3";
	struct rti_pid_stat st;

	ck_assert_int_eq(parse_stat_text(text, &st), 0);
	ck_assert_uint_eq(st.minflt, UINT64_MAX);
	ck_assert_uint_eq(st.utime, 1);
	ck_assert_int_eq(parse_stat_text("4294967297 (x) " STAT_TAIL, &st), -EBADMSG);
}
END_TEST

START_TEST(stat_needs_fields_up_to_num_threads)
{
	static const char short_line[] = "1 (x) R 7 0 0 0 0 0 1 2 3 4 5 6 7 8 0 0 9";
	struct rti_pid_stat st;
	char text[sizeof(short_line)];

	ck_assert_int_eq(parse_stat_text(short_line, &st), 0);
	ck_assert_uint_eq(st.num_threads, 9);
	ck_assert_int_eq(st.has_starttime, 0);
	ck_assert_uint_eq(st.starttime, 0);
	ck_assert_uint_eq(st.rss_pages, 0);
	for (size_t len = 0; len < sizeof(short_line) - 1; len++) {
		memcpy(text, short_line, len);
		text[len] = '\0';
		ck_assert_int_eq(parse_stat_text(text, &st), -EBADMSG);
	}
}
END_TEST

START_TEST(stat_start_without_rss)
{
	struct rti_pid_stat st;

	ck_assert_int_eq(parse_stat_text("1 (x) R 7 0 0 0 0 0 1 2 3 4 5 6 7 8 0 0 9 0 1234\n", &st),
	                 0);
	ck_assert(st.has_starttime);
	ck_assert_uint_eq(st.starttime, 1234);
	ck_assert_uint_eq(st.rss_pages, 0);
}
END_TEST

static const char *const bad_stats[] = {
	"",
	"\n",
	"1",
	"1 (",
	"1 (x",
	"1 x) R 1",
	"(x) R 1",
	"x (x) " STAT_TAIL,
	"1 (x)",
	"1 (x) ",
	"1 (x) R",
	"1 (x) RR 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1",
	"1 (x) R y 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1",
	"1 (x) R 0 0 0 0 0 0 0 0 0 0 -1 0 0 0 0 0 1",
};

START_TEST(stat_refuses)
{
	struct rti_pid_stat st;

	ck_assert_int_eq(parse_stat_text(bad_stats[_i], &st), -EBADMSG);
}
END_TEST

START_TEST(stat_refuses_nul_bytes)
{
	static const char text[] = "1 (x) R 0 0 0 0 0 0 0 \0 0 0 0 0 0 0 0 0 1";
	struct exact copy = exact_bytes(text, sizeof(text) - 1);
	struct exact zeros = exact_bytes((const char[64]){ 0 }, 64);
	struct rti_pid_stat st;

	ck_assert_int_eq(rti_parse_pid_stat(copy.data, copy.len, &st), -EBADMSG);
	ck_assert_int_eq(rti_parse_pid_stat(zeros.data, zeros.len, &st), -EBADMSG);
}
END_TEST

START_TEST(statm_takes_first_three)
{
	struct exact full = exact("100 50 25 1 0 10 0\n"), none = exact("0 0 0 0 0 0 0\n");
	uint64_t resident_pages;

	ck_assert_int_eq(rti_parse_pid_statm(full.data, full.len, &resident_pages), 0);
	ck_assert_uint_eq(resident_pages, 50);
	ck_assert_int_eq(rti_parse_pid_statm(none.data, none.len, &resident_pages), 0);
	ck_assert_uint_eq(resident_pages, 0);
	ck_assert_int_eq(rti_parse_pid_statm(full.data, 6, &resident_pages), -EBADMSG);
	ck_assert_int_eq(rti_parse_pid_statm(full.data, 0, &resident_pages), -EBADMSG);
}
END_TEST

static int parse_status_text(const char *text, struct rti_pid_status *out)
{
	struct exact copy = exact(text);

	memset(out, 0x55, sizeof(*out));
	return rti_parse_pid_status(copy.data, copy.len, out);
}

/* In the order of the kernel, which escapes what a name may hold. */
static const char status_text[] =
    "Name:\tTgid: 5\\nVmHWM: 9\nUmask:\t0022\nState:\tS "
    "(sleeping)\nTgid:\t4242\nNgid:\t0\nPid:\t4243\n"
    "TracerPid:\t0\nNStgid:\t4242\t8\nNSpid:\t4243\t17\t3\nNSsid:\t9\t9\nVmPeak:\t  900 kB\n"
    "VmHWM:\t     123 kB\nVmRSS:\t  99 kB\nSigBlk:\t0000000000000001\nSigIgn:\t8000000000011002\n"
    "SigCgt:\t0000000000000002\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n";

START_TEST(status_takes_its_keys)
{
	struct rti_pid_status st;

	ck_assert_int_eq(parse_status_text(status_text, &st), 0);
	ck_assert_uint_eq(st.has, RTI_STATUS_HWM | RTI_STATUS_SWITCHES | RTI_STATUS_TGID);
	ck_assert_int_eq(st.tgid, 4242);
	ck_assert_uint_eq(st.vm_hwm_kib, 123);
	ck_assert_uint_eq(st.voluntary_switches, 150);
	ck_assert_uint_eq(st.involuntary_switches, 545);
}
END_TEST

static const struct {
	const char *text;
	int err;
	unsigned has;
} statuses[] = {
	{ "Tgid:\t7", 0, RTI_STATUS_TGID },
	{ "VmHWM:123 kB\n", 0, RTI_STATUS_HWM },
	{ "Tgid:\t7\nVmHWM:\tkB\n", 0, RTI_STATUS_TGID }, /* unreadable is not 0 */
	{ "Tgid:\t7\nNSpid:\t\n", 0, RTI_STATUS_TGID },
	{ "Tgid:\t7\nvoluntary_ctxt_switches:\t5\n", 0, RTI_STATUS_TGID }, /* half of the pair */
	{ "Tgid:\t7\nnonvoluntary_ctxt_switches:\t5\n", 0, RTI_STATUS_TGID },
	{ "voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t0", 0, RTI_STATUS_SWITCHES },
	{ "Tgid:\t99999999999\nVmHWM:\t1 kB\n", 0, RTI_STATUS_HWM },
	{ "Name:\tx\n", -EBADMSG, 0 },
	{ " Tgid:\t7\n", -EBADMSG, 0 },
	{ "\n\n", -EBADMSG, 0 },
	{ "", -EBADMSG, 0 },
};

START_TEST(status_tells_what_was_there)
{
	struct rti_pid_status st;

	ck_assert_int_eq(parse_status_text(statuses[_i].text, &st), statuses[_i].err);
	if (statuses[_i].err == 0)
		ck_assert_uint_eq(st.has, statuses[_i].has);
}
END_TEST

static int parse_io_text(const char *text, struct rti_pid_io *out)
{
	struct exact copy = exact(text);

	return rti_parse_pid_io(copy.data, copy.len, out);
}

START_TEST(io_takes_five_of_seven)
{
	struct rti_pid_io io;

	ck_assert_int_eq(
	    parse_io_text("rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n"
	                  "cancelled_write_bytes: 18446744073709551615\n",
	                  &io),
	    0);
	ck_assert_uint_eq(io.rchar, 1);
	ck_assert_uint_eq(io.wchar, 2);
	ck_assert_uint_eq(io.read_bytes, 5);
	ck_assert_uint_eq(io.write_bytes, 6);
	ck_assert_uint_eq(io.cancelled_write_bytes, UINT64_MAX);
}
END_TEST

/* All say 1, 2, 5, 6, 7. */
static const char *const odd_ios[] = {
	"rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: "
	"6\ncancelled_write_bytes: 7",
	"cancelled_write_bytes: 7\nwrite_bytes: 6\nread_bytes: 5\nwchar: 2\nrchar: 1\n",
	"wchar: 2\nread_bytes: 5\nrchar: 1\ncancelled_write_bytes: 7\nwrite_bytes: 6\n",
	"rchar: 1\nwchar: 2\nfuture: 9\nread_bytes: 5\n\nwrite_bytes: 6\ncancelled_write_bytes: "
	"7\nlast: 9\n",
	"rchar: 1\nrchar_net: 9\nwchar: 2\nread_bytes: 5\nread: 9\nwrite_bytes: "
	"6\ncancelled_write_bytes: 7\n",
	"rchar: 9\nwchar: 2\nread_bytes: 9\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: "
	"7\nrchar: 1\n",
	"rchar: 1\nwchar: 2\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\nrchar: "
	"x\nwchar:",
};

START_TEST(io_takes_what_another_kernel_writes)
{
	struct rti_pid_io io;

	ck_assert_int_eq(parse_io_text(odd_ios[_i], &io), 0);
	ck_assert_uint_eq(io.rchar, 1);
	ck_assert_uint_eq(io.wchar, 2);
	ck_assert_uint_eq(io.read_bytes, 5);
	ck_assert_uint_eq(io.write_bytes, 6);
	ck_assert_uint_eq(io.cancelled_write_bytes, 7);
}
END_TEST

static const char *const bad_ios[] = {
	"",
	"rchar: 1\nwchar: 2\nwrite_bytes: 6\ncancelled_write_bytes: 7\n",
	"rchar: 1\nwchar: 2\nrchar: 1\nwrite_bytes: 6\ncancelled_write_bytes: 7\n",
	"rchar: 1\n",
	"rchar: 1\nwchar: 2\nread_bytes: 5\nwrite_bytes: 6\n",
	"rchar: 1\nwchar: 2\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: ",
	"rchar: 1\nwchar: -2\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n",
};

START_TEST(io_needs_all_five)
{
	struct rti_pid_io io;

	ck_assert_int_eq(parse_io_text(bad_ios[_i], &io), -EBADMSG);
}
END_TEST

START_TEST(smaps_rollup_takes_pss_only)
{
	struct exact copy =
	    exact("55c1-7ffd ---p 00000000 00:00 0    [rollup]\nRss:    900 kB\nPss:    384 kB\n"
	          "Pss_Anon:    112 kB\nSwapPss:   7 kB\n");
	struct exact dirty = exact("Pss_Dirty:   1 kB\nSwapPss:  2 kB\n");
	struct exact tight = exact("Pss:5kB"), bad = exact("Pss: kB");
	uint64_t pss = 0;

	ck_assert_int_eq(rti_parse_smaps_rollup(copy.data, copy.len, &pss), 0);
	ck_assert_uint_eq(pss, 384);
	ck_assert_int_eq(rti_parse_smaps_rollup(tight.data, tight.len, &pss), 0);
	ck_assert_uint_eq(pss, 5);
	ck_assert_int_eq(rti_parse_smaps_rollup(dirty.data, dirty.len, &pss), -EBADMSG);
	ck_assert_int_eq(rti_parse_smaps_rollup(bad.data, bad.len, &pss), -EBADMSG);
	ck_assert_int_eq(rti_parse_smaps_rollup(bad.data, 0, &pss), -EBADMSG);
}
END_TEST

struct pids {
	int32_t pid[8];
	unsigned count, stop_at;
};

static int add_pid(void *arg, int32_t pid)
{
	struct pids *pids = arg;

	ck_assert_uint_lt(pids->count, 8);
	pids->pid[pids->count++] = pid;
	return pids->count == pids->stop_at ? 77 : 0;
}

static int parse_children_text(const char *text, struct pids *pids)
{
	struct exact copy = exact(text);

	return rti_parse_children(copy.data, copy.len, add_pid, pids);
}

START_TEST(children_takes_pids)
{
	struct pids pids = { 0 };

	ck_assert_int_eq(parse_children_text("12 3456 4194304 ", &pids), 0);
	ck_assert_uint_eq(pids.count, 3);
	ck_assert_int_eq(pids.pid[0], 12);
	ck_assert_int_eq(pids.pid[1], 3456);
	ck_assert_int_eq(pids.pid[2], 4194304);
	ck_assert_int_eq(parse_children_text("1 2\n3", &pids), 0);
	ck_assert_uint_eq(pids.count, 6);
}
END_TEST

START_TEST(children_may_be_none)
{
	struct pids pids = { 0 };

	ck_assert_int_eq(parse_children_text("", &pids), 0);
	ck_assert_int_eq(parse_children_text(" ", &pids), 0);
	ck_assert_uint_eq(pids.count, 0);
}
END_TEST

START_TEST(children_stops_when_told)
{
	struct pids pids = { .stop_at = 2 };

	ck_assert_int_eq(parse_children_text("1 2 3 4", &pids), 77);
	ck_assert_uint_eq(pids.count, 2);
}
END_TEST

static const char *const bad_children[] = { "x", "1 x", "1x", "0", "-1", "99999999999", "1,2" };

START_TEST(children_refuses)
{
	struct pids pids = { 0 };

	ck_assert_int_eq(parse_children_text(bad_children[_i], &pids), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_pid");
	TCase *stat = suite_case(suite, "stat"), *status = suite_case(suite, "status"),
	      *io = suite_case(suite, "io");
	TCase *memory = suite_case(suite, "memory"), *children = suite_case(suite, "children");

	tcase_add_test(stat, stat_takes_every_field);
	tcase_add_test(stat, stat_may_end_before_the_signals);
	tcase_add_loop_test(stat, stat_takes_any_comm, 0, sizeof(comms) / sizeof(comms[0]));
	tcase_add_test(stat, stat_cuts_long_comm);
	tcase_add_test(stat, stat_clamps_negative_child_times);
	tcase_add_test(stat, stat_saturates_numbers_past_64_bits);
	tcase_add_test(stat, stat_needs_fields_up_to_num_threads);
	tcase_add_test(stat, stat_start_without_rss);
	tcase_add_loop_test(stat, stat_refuses, 0, sizeof(bad_stats) / sizeof(bad_stats[0]));
	tcase_add_test(stat, stat_refuses_nul_bytes);
	tcase_add_test(memory, statm_takes_first_three);
	tcase_add_test(memory, smaps_rollup_takes_pss_only);
	tcase_add_test(status, status_takes_its_keys);
	tcase_add_loop_test(status, status_tells_what_was_there, 0,
	                    sizeof(statuses) / sizeof(statuses[0]));
	tcase_add_test(io, io_takes_five_of_seven);
	tcase_add_loop_test(io, io_takes_what_another_kernel_writes, 0,
	                    sizeof(odd_ios) / sizeof(odd_ios[0]));
	tcase_add_loop_test(io, io_needs_all_five, 0, sizeof(bad_ios) / sizeof(bad_ios[0]));
	tcase_add_test(children, children_takes_pids);
	tcase_add_test(children, children_may_be_none);
	tcase_add_test(children, children_stops_when_told);
	tcase_add_loop_test(children, children_refuses, 0,
	                    sizeof(bad_children) / sizeof(bad_children[0]));
	return suite_run(suite);
}
