/* SPDX-License-Identifier: MIT */
/* The table of DRM clients at its limits. tests/component/tree/gpu/test_gpu_drm.c has the figures.
 * */
#include "collect/drm_clients.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"

#define SECOND_NS UINT64_C(1000000000)

static struct rti_drm_clients table;

static void set_up(void)
{
	table = (struct rti_drm_clients){ 0 };
}

static void tear_down(void)
{
	rti_drm_clients_free(&table);
}

static int add(uint64_t client_id, uint64_t busy_ns, struct rti_drm_look *look)
{
	struct rti_drm_fdinfo info = { .driver = "i915",
		                       .has_client_id = true,
		                       .client_id = client_id,
		                       .engine_count = 1,
		                       .engines = { { .name = "render",
		                                      .has = RTI_DRM_TIME,
		                                      .capacity = 1,
		                                      .busy_ns = busy_ns } } };

	return rti_drm_clients_add(&table, &info, table.round * SECOND_NS, look);
}

/* All but two. */
static void add_all_but(uint64_t closed, uint64_t closed_too)
{
	struct rti_drm_look look;

	rti_drm_clients_begin(&table);
	for (uint64_t id = 0; id < RTI_DRM_CLIENTS_MAX; id++)
		if (id != closed && id != closed_too)
			ck_assert_int_eq(add(id, 10, &look), 0);
}

static void add_all(void)
{
	add_all_but(RTI_DRM_CLIENTS_MAX, RTI_DRM_CLIENTS_MAX);
}

START_TEST(client_beyond_the_limit_has_no_room_while_all_are_open)
{
	struct rti_drm_look look;

	add_all();
	ck_assert_int_eq(add(RTI_DRM_CLIENTS_MAX, 10, &look), -ENOSPC);
	rti_drm_clients_begin(&table); /* each may have been found in the look before */
	ck_assert_int_eq(add(RTI_DRM_CLIENTS_MAX, 10, &look), -ENOSPC);
	ck_assert_uint_eq(table.count, RTI_DRM_CLIENTS_MAX);
}
END_TEST

START_TEST(client_beyond_the_limit_replaces_the_one_that_is_closed_longest)
{
	struct rti_drm_look look;

	add_all();
	add_all_but(3, 3);
	add_all_but(3, 3);
	add_all_but(3, 7);
	rti_drm_clients_begin(&table);

	ck_assert_int_eq(add(RTI_DRM_CLIENTS_MAX, 10, &look), 0);

	ck_assert_uint_eq(table.count, RTI_DRM_CLIENTS_MAX);
	ck_assert_uint_eq(table.client[3].client_id, RTI_DRM_CLIENTS_MAX);
	ck_assert_uint_eq(look.grown_ns, 10);
	ck_assert_int_eq(add(7, 15, &look), 0); /* it comes back: nothing counts twice */
	ck_assert_uint_eq(look.grown_ns, 5);
}
END_TEST

/* E.g.: a driver names its engines anew at each opening. */
START_TEST(engine_beyond_the_limit_counts_for_nothing)
{
	struct rti_drm_fdinfo info = { .driver = "i915", .has_client_id = true, .engine_count = 1 };
	struct rti_drm_engine *engine = &info.engines[0];
	struct rti_drm_look look;

	rti_drm_clients_begin(&table);
	*engine = (struct rti_drm_engine){ .has = RTI_DRM_TIME, .capacity = 1, .busy_ns = 10 };
	for (unsigned i = 0; i < RTI_DRM_ENGINES_MAX; i++) {
		snprintf(engine->name, sizeof(engine->name), "engine%u", i);
		ck_assert_int_eq(rti_drm_clients_add(&table, &info, SECOND_NS, &look), 0);
		ck_assert_uint_eq(look.grown_ns, 10);
	}
	strcpy(engine->name, "more");
	ck_assert_int_eq(rti_drm_clients_add(&table, &info, SECOND_NS, &look), 0);
	ck_assert_uint_eq(look.grown_ns, 0);
	ck_assert_uint_eq(table.client[0].engine_count, RTI_DRM_ENGINES_MAX);
}
END_TEST

START_TEST(descriptor_without_number_of_its_client_is_refused)
{
	const struct rti_drm_fdinfo info = { .driver = "i915" };
	struct rti_drm_look look;

	rti_drm_clients_begin(&table);
	ck_assert_int_eq(rti_drm_clients_add(&table, &info, SECOND_NS, &look), -EOPNOTSUPP);
	ck_assert_uint_eq(table.count, 0);
}
END_TEST

START_TEST(number_of_a_client_is_of_its_driver_alone)
{
	struct rti_drm_fdinfo info = { .driver = "i915", .has_client_id = true, .client_id = 5 };
	struct rti_drm_look look;

	rti_drm_clients_begin(&table);
	ck_assert_int_eq(rti_drm_clients_add(&table, &info, SECOND_NS, &look), 0);
	strcpy(info.driver, "xe");
	ck_assert_int_eq(rti_drm_clients_add(&table, &info, SECOND_NS, &look), 0);
	ck_assert(look.is_first);
	ck_assert_uint_eq(table.count, 2);
}
END_TEST

/* One look at an engine that shows cycles. */
struct cycles {
	uint64_t at_ns, used, total;
	uint64_t grown_ns; /* what it counts for */
};

static const struct {
	const char *what;
	uint32_t has, capacity;
	struct cycles looks[6]; /* up to one at 0 ns */
} clocks[] = {
	{ "half of a second",
	  RTI_DRM_CYCLES | RTI_DRM_TOTAL_CYCLES,
	  1,
	  { { SECOND_NS, 0, 1000, 0 }, { 2 * SECOND_NS, 500, 2000, SECOND_NS / 2 } } },
	{ "no clock to convert by", RTI_DRM_CYCLES, 1, { { SECOND_NS, 7, 0, 0 } } },
	{ "two looks at a time: the second waits for a third",
	  RTI_DRM_CYCLES | RTI_DRM_TOTAL_CYCLES,
	  1,
	  { { SECOND_NS, 0, 1000, 0 },
	    { SECOND_NS, 500, 2000, 0 },
	    { 2 * SECOND_NS, 500, 3000, SECOND_NS / 2 } } },
	{ "a clock that lags twice has not begun anew",
	  RTI_DRM_CYCLES | RTI_DRM_TOTAL_CYCLES,
	  1,
	  { { SECOND_NS, 0, 1000, 0 },
	    { 2 * SECOND_NS, 100, 900, 0 },
	    { 3 * SECOND_NS, 200, 800, 0 },
	    { 4 * SECOND_NS, 300, 2000, 300 * (SECOND_NS / 1000) } } },
	{ "more cycles than the clock has gone in its life",
	  RTI_DRM_CYCLES | RTI_DRM_TOTAL_CYCLES,
	  1,
	  { { SECOND_NS, 0, 1000, 0 }, { 2 * SECOND_NS, 1001000, 2000, 2 * SECOND_NS } } },
	{ "more time than a number holds",
	  RTI_DRM_CYCLES | RTI_DRM_TOTAL_CYCLES,
	  1,
	  { { SECOND_NS, 0, 1000, 0 }, { 2 * SECOND_NS, UINT64_MAX, 1001, 1001 * SECOND_NS } } },
};

START_TEST(cycles_count_by_the_clock_of_their_engine)
{
	struct rti_drm_fdinfo info = { .driver = "xe", .has_client_id = true, .engine_count = 1 };
	struct rti_drm_engine *engine = &info.engines[0];

	strcpy(engine->name, "render");
	engine->has = clocks[_i].has;
	engine->capacity = clocks[_i].capacity;
	for (const struct cycles *c = clocks[_i].looks; c->at_ns; c++) {
		struct rti_drm_look look;

		engine->cycles = c->used;
		engine->total_cycles = c->total;
		rti_drm_clients_begin(&table);
		ck_assert_int_eq(rti_drm_clients_add(&table, &info, c->at_ns, &look), 0);
		ck_assert_int_eq(look.client->has_time, clocks[_i].has != RTI_DRM_CYCLES);
		ck_assert_msg(look.grown_ns == c->grown_ns, "%s: %llu ns after %llu ns",
		              clocks[_i].what, (unsigned long long)look.grown_ns,
		              (unsigned long long)c->at_ns);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("drm_clients");
	TCase *limits = suite_case(suite, "limits"), *figures = suite_case(suite, "figures");

	tcase_add_checked_fixture(limits, set_up, tear_down);
	tcase_add_test(limits, client_beyond_the_limit_has_no_room_while_all_are_open);
	tcase_add_test(limits, client_beyond_the_limit_replaces_the_one_that_is_closed_longest);
	tcase_add_test(limits, engine_beyond_the_limit_counts_for_nothing);
	tcase_add_test(limits, descriptor_without_number_of_its_client_is_refused);
	tcase_add_checked_fixture(figures, set_up, tear_down);
	tcase_add_test(figures, number_of_a_client_is_of_its_driver_alone);
	tcase_add_loop_test(figures, cycles_count_by_the_clock_of_their_engine, 0,
	                    sizeof(clocks) / sizeof(clocks[0]));
	return suite_run(suite);
}
