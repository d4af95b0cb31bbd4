/* SPDX-License-Identifier: MIT */
/* The load collector: /proc/loadavg of fixtures, and the running system. */
#include "collect/collector.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

#include "fixture.h"
#include "sampler.h"
#include "suite.h"

extern const struct rti_sys_collector rti_sys_load;

static struct fixture f;
static struct sampler s;

static void set_up(void)
{
	fixture_new(&f);
	sampler_open(&s, &rti_sys_load, f.root);
}

static void tear_down(void)
{
	sampler_close(&s);
	fixture_free(&f);
}

START_TEST(loadavg_with_all_fields_yields_load_and_threads)
{
	fixture_write(&f, "proc/loadavg", "0.25 12.50 103.07 3/1234 56789\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.valid, RT_HAS_LOAD | RT_HAS_THREADS);
	ck_assert_double_eq_tol(s.out.load_1m, 0.25, 1e-9);
	ck_assert_double_eq_tol(s.out.load_5m, 12.5, 1e-9);
	ck_assert_double_eq_tol(s.out.load_15m, 103.07, 1e-9);
	ck_assert_uint_eq(s.out.threads, 1234);
}
END_TEST

START_TEST(loadavg_missing_fails_with_enoent)
{
	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.valid, 0);
}
END_TEST

START_TEST(loadavg_of_zeros_has_no_figure)
{
	fixture_write(&f, "proc/loadavg", "0.00 0.00 0.00 0/0 0\n");
	ck_assert_int_eq(sampler_take(&s), -EOPNOTSUPP);
	ck_assert_uint_eq(s.out.valid | s.out.partial | s.out.estimated, 0);
}
END_TEST

START_TEST(loadavg_malformed_fails_with_ebadmsg)
{
	fixture_write(&f, "proc/loadavg", "0.25 twelve\n");
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);
	ck_assert_uint_eq(s.out.valid, 0);
}
END_TEST

/* The averages change every five seconds, which may be between the two reads. So there are three
 * tries. */
START_TEST(live_load_equals_getloadavg)
{
	struct sampler live;
	bool agreed = false;

	sampler_open(&live, &rti_sys_load, NULL);
	for (int i = 0; i < 3 && !agreed; i++) {
		double load[3];

		ck_assert_int_eq(sampler_take(&live), 0);
		ck_assert_int_eq(getloadavg(load, 3), 3);
		agreed = live.out.load_1m - load[0] < 0.011 && load[0] - live.out.load_1m < 0.011 &&
		         live.out.load_5m - load[1] < 0.011 && load[1] - live.out.load_5m < 0.011 &&
		         live.out.load_15m - load[2] < 0.011 && load[2] - live.out.load_15m < 0.011;
	}
	ck_assert(agreed);
	sampler_close(&live);
}
END_TEST

/* The field procs of sysinfo(2) counts threads. */
START_TEST(live_threads_match_sysinfo)
{
	struct sampler live;
	struct sysinfo info;

	sampler_open(&live, &rti_sys_load, NULL);
	ck_assert_int_eq(sampler_take(&live), 0);
	ck_assert_int_eq(sysinfo(&info), 0);
	ck_assert_uint_le(live.out.threads, info.procs + 50u);
	ck_assert_uint_ge(live.out.threads + 50, info.procs);
	sampler_close(&live);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_load");
	TCase *fixtures = suite_case(suite, "fixtures"), *live = suite_case(suite, "live");

	tcase_add_checked_fixture(fixtures, set_up, tear_down);
	tcase_add_test(fixtures, loadavg_with_all_fields_yields_load_and_threads);
	tcase_add_test(fixtures, loadavg_missing_fails_with_enoent);
	tcase_add_test(fixtures, loadavg_of_zeros_has_no_figure);
	tcase_add_test(fixtures, loadavg_malformed_fails_with_ebadmsg);
	tcase_add_test(live, live_load_equals_getloadavg);
	tcase_add_test(live, live_threads_match_sysinfo);
	return suite_run(suite);
}
