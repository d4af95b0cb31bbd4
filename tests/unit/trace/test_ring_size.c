/* SPDX-License-Identifier: MIT */
/* How much memory the events of a trace may wait in, by the limit of the cgroup. */
#include "trace/ring_size.h"

#include "suite.h"

#define MIB (UINT64_C(1) << 20)

static const struct {
	uint64_t left_bytes;
	uint32_t mib;
} cgroups[] = {
	{ UINT64_MAX, 32 }, { 256 * MIB, 32 }, { 256 * MIB - 1, 16 },
	{ 128 * MIB, 16 },  { 16 * MIB, 2 },   { 1 * MIB, 1 },
	{ 0, 1 }, /* the limit was lowered */
};

START_TEST(ring_takes_an_eighth_of_what_is_left_at_most)
{
	ck_assert_uint_eq(rti_ring_size_within(cgroups[_i].left_bytes), cgroups[_i].mib * MIB);
}
END_TEST

START_TEST(ring_that_is_asked_for_is_rounded_up_and_must_be_had)
{
	static const uint32_t sizes[][2] = {
		{ 1, 65536 }, { 65536, 65536 }, { 65537, 131072 }, { 64u << 20, 64u << 20 }
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct rti_ring_size size = rti_ring_size(sizes[i][0]);

		ck_assert_uint_eq(size.bytes, sizes[i][1]);
		ck_assert_uint_eq(size.min_bytes, 0);
	}
}
END_TEST

START_TEST(usual_ring_may_be_less)
{
	struct rti_ring_size size = rti_ring_size(0);

	ck_assert_uint_ge(size.bytes, 1 * MIB);
	ck_assert_uint_le(size.bytes, 32 * MIB);
	ck_assert_uint_eq(size.min_bytes, 1 * MIB);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring_size");
	TCase *tests = suite_case(suite, "sizes");

	tcase_add_loop_test(tests, ring_takes_an_eighth_of_what_is_left_at_most, 0,
	                    sizeof(cgroups) / sizeof(cgroups[0]));
	tcase_add_test(tests, ring_that_is_asked_for_is_rounded_up_and_must_be_had);
	tcase_add_test(tests, usual_ring_may_be_less);
	return suite_run(suite);
}
