/* SPDX-License-Identifier: MIT */
/* Parser of arcstats of ZFS. */
#include "exact.h"

#include <errno.h>

#include "parse/parse.h"
#include "suite.h"

static int parse_arcstats_text(const char *text, struct rti_arcstats *out)
{
	struct exact copy = exact(text);

	return rti_parse_arcstats(copy.data, copy.len, out);
}

#define HEADER                                                                                     \
	"9 1 0x01 147 39984 1405644657 619562335795635\nname                            type "     \
	"data\n"

/* Names that begin or end like the two stand around them. */
START_TEST(arcstats_with_both_figures_parses_them)
{
	struct rti_arcstats arc;

	ck_assert_int_eq(parse_arcstats_text(HEADER "c                               4    11\n"
	                                            "c_min                           4    12\n"
	                                            "c_max                           4    13\n"
	                                            "size                            4    14\n"
	                                            "compressed_size                 4    15\n"
	                                            "size_x                          4    16\n"
	                                            "arc_c_min                       4    17\n"
	                                            "memory_available_bytes          3    -18\n",
	                                     &arc),
	                 0);
	ck_assert_uint_eq(arc.size, 14);
	ck_assert_uint_eq(arc.min, 12);
}
END_TEST

START_TEST(arcstats_in_other_order_parse)
{
	struct rti_arcstats arc;

	ck_assert_int_eq(parse_arcstats_text("size 4 18446744073709551615\nc_min 4 0", &arc), 0);
	ck_assert_uint_eq(arc.size, UINT64_MAX);
	ck_assert_uint_eq(arc.min, 0);
}
END_TEST

static const char *const bad_arcstats[] = {
	"",
	"\n\n",
	HEADER,
	"size 4 1\n",
	"c_min 4 1\n",
	"size 4 1\nc_min 4\n",
	"size 4 1\nc_min 4 -1\n",
	"size 4 1\nc_min x 1\n",
	"size 1\nc_min 1\n",
	"size 4 1 2\nc_min 4 1\n",
	"size 4 1x\nc_min 4 1\n",
	"size 4294967296 1\nc_min 4 1\n",
	"size\n4 1\nc_min\n4 1\n",
};

START_TEST(arcstats_malformed_are_refused)
{
	struct rti_arcstats arc;

	ck_assert_int_eq(parse_arcstats_text(bad_arcstats[_i], &arc), -EBADMSG);
}
END_TEST

START_TEST(arcstats_of_nul_bytes_are_refused)
{
	struct exact zeros = exact_zeros(4096);
	struct rti_arcstats arc;

	ck_assert_int_eq(rti_parse_arcstats(zeros.data, zeros.len, &arc), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("arcstats");
	TCase *tcase = suite_case(suite, "arcstats");

	tcase_add_test(tcase, arcstats_with_both_figures_parses_them);
	tcase_add_test(tcase, arcstats_in_other_order_parse);
	tcase_add_loop_test(tcase, arcstats_malformed_are_refused, 0,
	                    sizeof(bad_arcstats) / sizeof(bad_arcstats[0]));
	tcase_add_test(tcase, arcstats_of_nul_bytes_are_refused);
	return suite_run(suite);
}
