/* SPDX-License-Identifier: MIT */
/* The device table: rows that come and go, and the total over them. */
#include "collect/device_table.h"

#include <stdio.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "suite.h"

static struct rti_device *list_device(struct rti_device_table *devices, const char *name,
                                      uint64_t number, uint64_t value, bool is_new)
{
	struct rti_device *device;
	bool is_added = !is_new;

	ck_assert_int_eq(rti_device_table_find(devices, name, number, &device, &is_added), 0);
	ck_assert_int_eq(is_added, is_new);
	device->now[0] = value;
	return device;
}

START_TEST(device_removed_and_returned_keeps_its_share_of_the_total)
{
	struct rti_device_table devices = { 0 };
	struct rti_device *b;

	rti_device_table_begin(&devices);
	list_device(&devices, "a", 0, 100, true)->flags = RT_ITEM_IN_TOTAL;
	list_device(&devices, "b", 0, 10, true)->flags = RT_ITEM_IN_TOTAL;
	rti_device_table_advance(&devices);
	ck_assert_uint_eq(devices.total[0], 110);

	rti_device_table_begin(&devices);
	list_device(&devices, "b", 0, 12, false);
	rti_device_table_advance(&devices);
	ck_assert_uint_eq(devices.total[0], 112);

	b = rti_device_table_next(&devices, NULL);
	ck_assert_str_eq(b->name, "b");
	ck_assert_ptr_null(rti_device_table_next(&devices, b));

	/* It returns with a higher counter. The first 100 are not counted again. */
	rti_device_table_begin(&devices);
	list_device(&devices, "a", 0, 130, true);
	list_device(&devices, "b", 0, 12, false);
	rti_device_table_advance(&devices);
	ck_assert_uint_eq(devices.total[0], 142);

	/* It leaves again and returns with a counter that started from 0. */
	rti_device_table_begin(&devices);
	list_device(&devices, "b", 0, 12, false);
	rti_device_table_advance(&devices);
	rti_device_table_begin(&devices);
	list_device(&devices, "a", 0, 7, true);
	list_device(&devices, "b", 0, 12, false);
	rti_device_table_advance(&devices);
	ck_assert_uint_eq(devices.total[0], 149);
	rti_device_table_free(&devices);
}
END_TEST

START_TEST(devices_with_equal_name_and_other_number_are_distinct)
{
	struct rti_device_table devices = { 0 };

	for (int round = 0; round < 2; round++) {
		rti_device_table_begin(&devices);
		list_device(&devices, "sda", 8, 100, round == 0)->flags = RT_ITEM_IN_TOTAL;
		list_device(&devices, "sda", 9, 50, round == 0)->flags = RT_ITEM_IN_TOTAL;
		rti_device_table_advance(&devices);
	}
	ck_assert_uint_eq(devices.count, 2);
	ck_assert_uint_eq(devices.total[0], 150);
	rti_device_table_free(&devices);
}
END_TEST

START_TEST(device_added_to_the_total_later_counts_from_then_on)
{
	struct rti_device_table devices = { 0 };

	rti_device_table_begin(&devices);
	list_device(&devices, "a", 0, 100, true);
	rti_device_table_advance(&devices);
	rti_device_table_begin(&devices);
	list_device(&devices, "a", 0, 103, false)->flags = RT_ITEM_IN_TOTAL;
	rti_device_table_advance(&devices);
	ck_assert_uint_eq(devices.total[0], 3);
	rti_device_table_free(&devices);
}
END_TEST

/* A host with interfaces that come and go. */
START_TEST(table_with_many_past_devices_stays_bounded)
{
	struct rti_device_table devices = { 0 };

	for (unsigned i = 0; i < 10 * RTI_DEVICES_MAX; i++) {
		char name[32];

		rti_device_table_begin(&devices);
		list_device(&devices, "eth0", 0, 1000 + i, i == 0)->flags = RT_ITEM_IN_TOTAL;
		snprintf(name, sizeof(name), "veth%u", i);
		list_device(&devices, name, 0, 1, true)->flags = RT_ITEM_IN_TOTAL;
		rti_device_table_advance(&devices);
	}
	ck_assert_uint_eq(devices.count, RTI_DEVICES_MAX);
	ck_assert_uint_eq(devices.total[0], 1000 + 2 * 10 * RTI_DEVICES_MAX - 1);
	rti_device_table_free(&devices);
}
END_TEST

/* A device that is listed is never dropped, however many there are. */
START_TEST(table_with_many_present_devices_keeps_them_all)
{
	struct rti_device_table devices = { 0 };
	unsigned count = 2 * RTI_DEVICES_MAX;

	for (int round = 0; round < 2; round++) {
		rti_device_table_begin(&devices);
		for (unsigned i = 0; i < count; i++) {
			char name[32];

			snprintf(name, sizeof(name), "veth%u", i);
			list_device(&devices, name, 0, 1, round == 0)->flags = RT_ITEM_IN_TOTAL;
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

	tcase_add_test(devices, device_removed_and_returned_keeps_its_share_of_the_total);
	tcase_add_test(devices, devices_with_equal_name_and_other_number_are_distinct);
	tcase_add_test(devices, device_added_to_the_total_later_counts_from_then_on);
	tcase_add_test(devices, table_with_many_past_devices_stays_bounded);
	tcase_add_test(devices, table_with_many_present_devices_keeps_them_all);
	return suite_run(suite);
}
