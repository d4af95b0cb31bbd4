/* SPDX-License-Identifier: MIT */
/* The table of devices. */
#include "collect/device_table.h"

#include <stdio.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "suite.h"

static struct rti_device *list(struct rti_device_table *devices, const char *name, uint64_t number,
                               uint64_t value, bool is_new)
{
	struct rti_device *device;
	bool came = !is_new;

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
	Suite *suite = suite_create("device_table");
	TCase *devices = suite_case(suite, "devices");

	tcase_add_test(devices, gone_item_keeps_its_share);
	tcase_add_test(devices, name_and_number_are_the_identity);
	tcase_add_test(devices, joining_the_total_counts_from_then_on);
	tcase_add_test(devices, memory_is_bounded);
	tcase_add_test(devices, listed_items_all_stay);
	return suite_run(suite);
}
