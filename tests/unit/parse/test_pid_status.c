/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/status. */
#include "exact.h"

#include <errno.h>

#include "parse/parse.h"
#include "suite.h"

static int parse_status_text(const char *text, struct rti_pid_status *out)
{
	struct exact copy = exact(text);

	memset(out, 0x55, sizeof(*out));
	return rti_parse_pid_status(copy.data, copy.len, out);
}

/* The keys are in the order of the kernel. The kernel escapes newlines and backslashes in a
 * name. */
static const char status_text[] =
    "Name:\tTgid: 5\\nVmHWM: 9\nUmask:\t0022\nState:\tS "
    "(sleeping)\nTgid:\t4242\nNgid:\t0\nPid:\t4243\n"
    "TracerPid:\t0\nUid:\t1000\t1001\t1002\t1003\nGid:\t7\t7\t7\t7\nNStgid:\t4242\t8\nNSpid:"
    "\t4243\t17\t3\nNSsid:\t9\t9\nVmPeak:\t  900 kB\n"
    "VmHWM:\t     123 kB\nVmRSS:\t  99 kB\nRssAnon:\t  50 kB\nRssFile:\t  40 kB\n"
    "RssShmem:\t       9 kB\nVmPTE:\t 5 kB\nVmSwap:\t  33 kB\n"
    "HugetlbPages:\t  2048 kB\nSigBlk:\t0000000000000001\nSigIgn:\t8000000000011002\n"
    "SigCgt:\t0000000000000002\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n";

START_TEST(status_in_kernel_order_parses_its_keys)
{
	struct rti_pid_status st;

	ck_assert_int_eq(parse_status_text(status_text, &st), 0);
	ck_assert_uint_eq(st.has, RTI_STATUS_HWM | RTI_STATUS_SWITCHES | RTI_STATUS_TGID |
	                              RTI_STATUS_SHMEM | RTI_STATUS_UID);
	ck_assert_int_eq(st.tgid, 4242);
	ck_assert_uint_eq(st.uid, 1000);
	ck_assert_uint_eq(st.vm_hwm_kib, 123);
	ck_assert_uint_eq(st.rss_shmem_kib, 9);
	ck_assert_uint_eq(st.swap_kib, 33);
	ck_assert_uint_eq(st.hugetlb_kib, 2048);
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
	{ "Tgid:\t7\nVmHWM:\tkB\n", 0, RTI_STATUS_TGID }, /* an unreadable value is not 0 */
	{ "Tgid:\t7\nNSpid:\t\n", 0, RTI_STATUS_TGID },
	{ "Tgid:\t7\nRssShmem:\t0 kB\n", 0, RTI_STATUS_TGID | RTI_STATUS_SHMEM },
	{ "Tgid:\t7\nRssShmem:\tkB\n", 0, RTI_STATUS_TGID },
	{ "Tgid:\t7\nRssShmem:\t-4 kB\nRssFile:\t4 kB\n", 0, RTI_STATUS_TGID },
	/* one of the pair is missing */
	{ "Tgid:\t7\nvoluntary_ctxt_switches:\t5\n", 0, RTI_STATUS_TGID },
	{ "Tgid:\t7\nnonvoluntary_ctxt_switches:\t5\n", 0, RTI_STATUS_TGID },
	{ "voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t0", 0, RTI_STATUS_SWITCHES },
	{ "Tgid:\t99999999999\nVmHWM:\t1 kB\n", 0, RTI_STATUS_HWM },
	{ "Name:\tx\n", -EBADMSG, 0 },
	{ " Tgid:\t7\n", -EBADMSG, 0 },
	{ "\n\n", -EBADMSG, 0 },
	{ "", -EBADMSG, 0 },
};

START_TEST(status_with_missing_keys_reports_those_present)
{
	struct rti_pid_status st;

	ck_assert_int_eq(parse_status_text(statuses[_i].text, &st), statuses[_i].err);
	if (statuses[_i].err == 0)
		ck_assert_uint_eq(st.has, statuses[_i].has);
}
END_TEST

/* Kernels without swap or huge pages lack these lines. So does a kernel thread. */
START_TEST(status_without_swap_and_huge_pages_has_none)
{
	static const char *const texts[] = {
		"Tgid:\t7\nVmHWM:\t9 kB\n",
		"Tgid:\t7\nVmHWM:\t9 kB\nVmSwap:\tkB\nHugetlbPages:\t-5 kB\n",
		"Tgid:\t7\nVmHWM:\t9 kB\n VmSwap:\t1 kB\nHugetlbPages\t5 kB\nVmSwapped: 5 kB\n",
	};
	struct rti_pid_status st;

	ck_assert_int_eq(parse_status_text(texts[_i], &st), 0);
	ck_assert_uint_eq(st.swap_kib, 0);
	ck_assert_uint_eq(st.hugetlb_kib, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_pid_status");
	TCase *tests = suite_case(suite, "pid_status");

	tcase_add_test(tests, status_in_kernel_order_parses_its_keys);
	tcase_add_loop_test(tests, status_with_missing_keys_reports_those_present, 0,
	                    sizeof(statuses) / sizeof(statuses[0]));
	tcase_add_loop_test(tests, status_without_swap_and_huge_pages_has_none, 0, 3);
	return suite_run(suite);
}
