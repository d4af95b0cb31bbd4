/* SPDX-License-Identifier: MIT */
/* Parser of the output of zpool list. */
#include "exact.h"

#include <errno.h>

#include "parse/parse.h"
#include "suite.h"

#define RECORDS_MAX 8
#define STOP 77 /* a result that no parser returns by itself */

/* The records of all calls. The call with the number stop_at returns STOP. */
struct pools {
	struct rti_zpool_line pool[RECORDS_MAX];
	unsigned count, stop_at;
};

static int add_pool(void *arg, const struct rti_zpool_line *pool)
{
	struct pools *pools = arg;

	ck_assert_uint_lt(pools->count, RECORDS_MAX);
	pools->pool[pools->count++] = *pool;
	return pools->count == pools->stop_at ? STOP : 0;
}

static int parse_pools(const char *text, struct pools *pools)
{
	struct exact copy = exact(text);

	return rti_parse_zpool_list(copy.data, copy.len, add_pool, pools);
}

START_TEST(zpool_list_with_pools_parses_each)
{
	struct pools pools = { 0 };

	ck_assert_int_eq(
	    parse_pools("tank\t3985729650688\t1023\t3985729649665\nmy big pool\t10\t4\t6", &pools),
	    0);
	ck_assert_uint_eq(pools.count, 2);
	ck_assert_str_eq(pools.pool[0].name, "tank");
	ck_assert(pools.pool[0].has_figures);
	ck_assert_uint_eq(pools.pool[0].size, UINT64_C(3985729650688));
	ck_assert_uint_eq(pools.pool[0].allocated, 1023);
	ck_assert_uint_eq(pools.pool[0].free, UINT64_C(3985729649665));
	ck_assert_str_eq(pools.pool[1].name, "my big pool");
	ck_assert_uint_eq(pools.pool[1].free, 6);
}
END_TEST

START_TEST(zpool_list_with_dashes_has_no_figures)
{
	struct pools pools = { 0 };

	ck_assert_int_eq(parse_pools("a\t-\t-\t-\nb\t10\t-\t6\nc\t0\t0\t0\n", &pools), 0);
	ck_assert_uint_eq(pools.count, 3);
	ck_assert(!pools.pool[0].has_figures);
	ck_assert(!pools.pool[1].has_figures);
	ck_assert(pools.pool[2].has_figures);
}
END_TEST

START_TEST(zpool_list_empty_yields_no_pool)
{
	struct pools pools = { 0 };

	ck_assert_int_eq(parse_pools("", &pools), 0);
	ck_assert_uint_eq(pools.count, 0);
}
END_TEST

START_TEST(zpool_list_with_callback_that_stops_returns_its_result)
{
	struct pools pools = { .stop_at = 1 };

	ck_assert_int_eq(parse_pools("a\t1\t1\t0\nb\t1\t1\t0\n", &pools), STOP);
	ck_assert_uint_eq(pools.count, 1);
}
END_TEST

static const char *const bad_pools[] = {
	"\n",
	"tank",
	"tank\t1\t2\n",
	"tank 1 2 3\n",
	"\t1\t2\t3\n",
	"tank\t1K\t2\t3\n",
	"tank\t1\t2\t-3\n",
	"no pools available\n",
	"tank\t1\t2\t3x\n",
	"tank\t--\t2\t3\n",
};

START_TEST(zpool_list_malformed_is_refused)
{
	struct pools pools = { 0 };

	ck_assert_int_eq(parse_pools(bad_pools[_i], &pools), -EBADMSG);
}
END_TEST

START_TEST(zpool_list_of_nul_bytes_is_refused)
{
	struct exact zeros = exact_zeros(256), lines = exact_zero_lines(256);

	ck_assert_int_eq(rti_parse_zpool_list(zeros.data, zeros.len, add_pool, NULL), -EBADMSG);
	ck_assert_int_eq(rti_parse_zpool_list(lines.data, lines.len, add_pool, NULL), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_zpool_list");
	TCase *tests = suite_case(suite, "zpool_list");

	tcase_add_test(tests, zpool_list_with_pools_parses_each);
	tcase_add_test(tests, zpool_list_with_dashes_has_no_figures);
	tcase_add_test(tests, zpool_list_empty_yields_no_pool);
	tcase_add_test(tests, zpool_list_with_callback_that_stops_returns_its_result);
	tcase_add_loop_test(tests, zpool_list_malformed_is_refused, 0,
	                    sizeof(bad_pools) / sizeof(bad_pools[0]));
	tcase_add_test(tests, zpool_list_of_nul_bytes_is_refused);
	return suite_run(suite);
}
