/* SPDX-License-Identifier: MIT */
#include "collect/accumulate.h"

#include <errno.h>
#include <rtrack/rtrack.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"

#define TOP UINT64_C(4294967295)

START_TEST(grows_with_the_kernel)
{
	struct rti_counter c = { 0 };

	ck_assert_uint_eq(rti_counter_advance(&c, 100), 100);
	ck_assert_uint_eq(rti_counter_advance(&c, 100), 0);
	ck_assert_uint_eq(rti_counter_advance(&c, 150), 50);
	ck_assert_uint_eq(c.total, 150);
}
END_TEST

START_TEST(wraps_where_plausible)
{
	struct rti_counter c = { 0 };

	rti_counter_advance(&c, TOP - 9);
	ck_assert_uint_eq(rti_counter_advance(&c, 5), 15);
	ck_assert_uint_eq(c.total, TOP + 6);
}
END_TEST

START_TEST(else_begins_again)
{
	static const struct {
		uint64_t last, now;
	} falls[] = {
		{ 1000, 5 },                /* far from the top */
		{ TOP / 4 * 3 - 2, 5 },     /* just below the top quarter */
		{ TOP, UINT64_C(1) << 30 }, /* not in the bottom quarter */
		{ TOP + 1, 5 },             /* wider than 32 bits */
		{ UINT64_C(1) << 40, (UINT64_C(1) << 40) - 1 },
	};

	for (size_t i = 0; i < sizeof(falls) / sizeof(falls[0]); i++) {
		struct rti_counter c = { 0 };

		rti_counter_advance(&c, falls[i].last);
		ck_assert_uint_eq(rti_counter_advance(&c, falls[i].now), falls[i].now);
		ck_assert_uint_eq(c.total, falls[i].last + falls[i].now);
	}
}
END_TEST

START_TEST(holds_over_corrections)
{
	struct rti_counter c = { 0 };

	ck_assert_int_eq(rti_counter_hold(&c, 5000), 0);
	ck_assert_int_eq(rti_counter_hold(&c, 4990), 0);
	ck_assert_uint_eq(c.total, 5000);
	ck_assert_int_eq(rti_counter_hold(&c, 4999), 0);
	ck_assert_uint_eq(c.total, 5000);
	ck_assert_int_eq(rti_counter_hold(&c, 5003), 0);
	ck_assert_uint_eq(c.total, 5003);
}
END_TEST

START_TEST(holds_small_counters)
{
	struct rti_counter c = { 0 };

	rti_counter_hold(&c, 3);
	ck_assert_int_eq(rti_counter_hold(&c, 0), 0);
	rti_counter_hold(&c, 4);
	ck_assert_uint_eq(c.total, 4);
}
END_TEST

START_TEST(deep_fall_is_a_new_baseline)
{
	struct rti_counter c = { 0 };

	rti_counter_hold(&c, 10000);
	ck_assert_int_eq(rti_counter_hold(&c, 100), 1);
	ck_assert_uint_eq(c.total, 10000);
	ck_assert_int_eq(rti_counter_hold(&c, 130), 0);
	ck_assert_uint_eq(c.total, 10030);
}
END_TEST

static struct rti_device *list(struct rti_device_table *devices, const char *name, uint64_t number, uint64_t value, int is_new)
{
	struct rti_device *device;
	int came = -1;

	ck_assert_int_eq(rti_device_table_find(devices, name, number, &device, &came), 0);
	ck_assert_int_eq(came, is_new);
	device->now[0] = value;
	return device;
}

START_TEST(gone_item_keeps_its_share)
{
	struct rti_device_table devices = { 0 };
	struct rti_device *b;

	rti_device_table_begin(&devices);
	list(&devices, "a", 0, 100, 1)->flags = RT_ITEM_IN_TOTAL;
	list(&devices, "b", 0, 10, 1)->flags = RT_ITEM_IN_TOTAL;
	rti_device_table_advance(&devices);
	ck_assert_uint_eq(devices.total[0], 110);

	rti_device_table_begin(&devices);
	list(&devices, "b", 0, 12, 0);
	rti_device_table_advance(&devices);
	ck_assert_uint_eq(devices.total[0], 112);
	b = rti_device_table_next(&devices, NULL);
	ck_assert_str_eq(b->name, "b");
	ck_assert_ptr_null(rti_device_table_next(&devices, b));

	/* back, having counted on meanwhile: the 100 are not counted again */
	rti_device_table_begin(&devices);
	list(&devices, "a", 0, 130, 1);
	list(&devices, "b", 0, 12, 0);
	rti_device_table_advance(&devices);
	ck_assert_uint_eq(devices.total[0], 142);

	/* gone once more, and back anew */
	rti_device_table_begin(&devices);
	list(&devices, "b", 0, 12, 0);
	rti_device_table_advance(&devices);
	rti_device_table_begin(&devices);
	list(&devices, "a", 0, 7, 1);
	list(&devices, "b", 0, 12, 0);
	rti_device_table_advance(&devices);
	ck_assert_uint_eq(devices.total[0], 149);
	rti_device_table_free(&devices);
}
END_TEST

START_TEST(name_and_number_are_the_identity)
{
	struct rti_device_table devices = { 0 };

	for (int round = 0; round < 2; round++) {
		rti_device_table_begin(&devices);
		list(&devices, "sda", 8, 100, round == 0)->flags = RT_ITEM_IN_TOTAL;
		list(&devices, "sda", 9, 50, round == 0)->flags = RT_ITEM_IN_TOTAL;
		rti_device_table_advance(&devices);
	}
	ck_assert_uint_eq(devices.count, 2);
	ck_assert_uint_eq(devices.total[0], 150);
	rti_device_table_free(&devices);
}
END_TEST

START_TEST(joining_the_total_counts_from_then_on)
{
	struct rti_device_table devices = { 0 };

	rti_device_table_begin(&devices);
	list(&devices, "a", 0, 100, 1);
	rti_device_table_advance(&devices);
	rti_device_table_begin(&devices);
	list(&devices, "a", 0, 103, 0)->flags = RT_ITEM_IN_TOTAL;
	rti_device_table_advance(&devices);
	ck_assert_uint_eq(devices.total[0], 3);
	rti_device_table_free(&devices);
}
END_TEST

/* A host where interfaces come and go. */
START_TEST(memory_is_bounded)
{
	struct rti_device_table devices = { 0 };

	for (unsigned i = 0; i < 10 * RTI_DEVICES_MAX; i++) {
		char name[32];

		rti_device_table_begin(&devices);
		list(&devices, "eth0", 0, 1000 + i, i == 0)->flags = RT_ITEM_IN_TOTAL;
		snprintf(name, sizeof(name), "veth%u", i);
		list(&devices, name, 0, 1, 1)->flags = RT_ITEM_IN_TOTAL;
		rti_device_table_advance(&devices);
	}
	ck_assert_uint_eq(devices.count, RTI_DEVICES_MAX);
	ck_assert_uint_eq(devices.total[0], 1000 + 2 * 10 * RTI_DEVICES_MAX - 1);
	rti_device_table_free(&devices);
}
END_TEST

/* What is listed is never forgotten, however much there is. */
START_TEST(listed_items_all_stay)
{
	struct rti_device_table devices = { 0 };
	unsigned count = 2 * RTI_DEVICES_MAX;

	for (int round = 0; round < 2; round++) {
		rti_device_table_begin(&devices);
		for (unsigned i = 0; i < count; i++) {
			char name[32];

			snprintf(name, sizeof(name), "veth%u", i);
			list(&devices, name, 0, 1, round == 0)->flags = RT_ITEM_IN_TOTAL;
		}
		rti_device_table_advance(&devices);
	}
	ck_assert_uint_eq(devices.count, count);
	ck_assert_uint_eq(devices.total[0], count);
	rti_device_table_free(&devices);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("accumulate");
	TCase *counters = suite_case(suite, "counters"), *held = suite_case(suite, "held");
	TCase *devices = suite_case(suite, "items");

	tcase_add_test(counters, grows_with_the_kernel);
	tcase_add_test(counters, wraps_where_plausible);
	tcase_add_test(counters, else_begins_again);
	tcase_add_test(held, holds_over_corrections);
	tcase_add_test(held, holds_small_counters);
	tcase_add_test(held, deep_fall_is_a_new_baseline);
	tcase_add_test(devices, gone_item_keeps_its_share);
	tcase_add_test(devices, name_and_number_are_the_identity);
	tcase_add_test(devices, joining_the_total_counts_from_then_on);
	tcase_add_test(devices, memory_is_bounded);
	tcase_add_test(devices, listed_items_all_stay);
	return suite_run(suite);
}
