/* SPDX-License-Identifier: MIT */
/* rt_tracker_obstacle(): its arguments, and that it agrees with the sample and the status. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "suite.h"

START_TEST(call_with_bad_arguments_is_refused_and_writes_nothing)
{
	struct rt_tracker *tracker = new_self_tracker();
	struct rt_obstacle o;

	memset(&o, FILLED, sizeof(o));
	ck_assert_int_eq(rt_tracker_obstacle(NULL, RT_HAS_CPU, &o, sizeof(o)), -EFAULT);
	ck_assert_int_eq(rt_tracker_obstacle(tracker, RT_HAS_CPU, NULL, sizeof(o)), -EFAULT);
	ck_assert_int_eq(rt_tracker_obstacle(tracker, RT_HAS_CPU, &o, sizeof(o)), -ENODATA);
	sample(tracker);
	ck_assert_int_eq(rt_tracker_obstacle(tracker, 0, &o, sizeof(o)), -EINVAL);
	ck_assert_int_eq(rt_tracker_obstacle(tracker, RT_HAS_CPU | RT_HAS_IO, &o, sizeof(o)),
	                 -EINVAL);
	ck_assert_int_eq(rt_tracker_obstacle(tracker, UINT64_C(1) << 63, &o, sizeof(o)), -EINVAL);
	ck_assert_int_eq(rt_tracker_obstacle(tracker, RT_HAS_CPU, &o, sizeof(o) - 1), -EINVAL);
	ck_assert_int_eq(rt_tracker_obstacle(tracker, RT_HAS_CPU, &o, SIZE_LIMIT + 1), -EINVAL);
	ck_assert_int_eq(rt_tracker_obstacle(tracker, RT_HAS_DISK, &o, sizeof(o)), -EOPNOTSUPP);
	ck_assert(is_filled(&o, sizeof(o)));
	rt_tracker_free(tracker);
}
END_TEST

/* Every domain is valid, or there is a reason and a text. */
static void check_all(struct rt_tracker *tracker, uint32_t kind)
{
	struct rt_metrics m = sample(tracker);
	uint64_t wanted = rt_default_domains(kind);

	for (int bit = 0; bit < 64; bit++) {
		uint64_t has = UINT64_C(1) << bit;
		struct rt_obstacle o;

		if (!(wanted & has))
			continue;
		ck_assert_int_eq(rt_tracker_obstacle(tracker, has, &o, sizeof(o)), 0);
		ck_assert_uint_eq(o.size, sizeof(o));
		ck_assert_uint_eq(o.has, has);
		ck_assert_int_eq(o.error, rt_tracker_status(tracker, has));
		ck_assert_msg((o.error == 0) == !!(m.valid & has), "bit %d: %d", bit, o.error);
		ck_assert_msg((o.text[0] == '\0') == !!(m.valid & has), "bit %d: %s", bit, o.text);
		ck_assert_msg((o.kind == 0) == !!(m.valid & has), "bit %d: %u", bit, o.kind);
	}
	rt_tracker_free(tracker);
}

START_TEST(domain_is_valid_or_has_a_reason)
{
	check_all(new_self_tracker(), RT_KIND_PID);
	check_all(new_system_tracker(), RT_KIND_SYSTEM);
}
END_TEST

START_TEST(row_of_a_longer_struct_ends_with_zeros)
{
	struct {
		struct rt_obstacle known;
		uint64_t later;
	} out;
	struct rt_tracker *tracker = new_self_tracker();

	memset(&out, FILLED, sizeof(out));
	sample(tracker);
	ck_assert_int_eq(rt_tracker_obstacle(tracker, RT_HAS_CPU, &out.known, sizeof(out)), 0);
	ck_assert_uint_eq(out.known.size, sizeof(struct rt_obstacle));
	ck_assert_uint_eq(out.later, 0);
	rt_tracker_free(tracker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("obstacle");
	TCase *tests = suite_case(suite, "obstacle");

	tcase_add_test(tests, call_with_bad_arguments_is_refused_and_writes_nothing);
	tcase_add_test(tests, domain_is_valid_or_has_a_reason);
	tcase_add_test(tests, row_of_a_longer_struct_ends_with_zeros);
	return suite_run(suite);
}
