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

	ck_assert_int_eq(rti_device_table_find(devices, name, number, &device), 0);
	ck_assert_str_eq(device->name, name);
	ck_assert_int_eq(device->is_new, is_new);
	device->now[0] = value;
	return device;
}

static void list_in_total(struct rti_device_table *devices, const char *name, uint64_t number,
                          uint64_t value, bool is_new)
{
	list_device(devices, name, number, value, is_new)->flags = RT_ITEM_IN_TOTAL;
}

START_TEST(device_removed_and_returned_starts_from_what_it_shows)
{
	struct rti_device_table devices = { .falls = { RTI_FALL_RESTART } };
	struct rti_device *b;

	rti_device_table_begin(&devices);
	list_in_total(&devices, "a", 0, 100, true);
	list_in_total(&devices, "b", 0, 10, true);
	ck_assert(!rti_device_table_advance(&devices));
	ck_assert_uint_eq(devices.total[0], 110);

	rti_device_table_begin(&devices);
	list_in_total(&devices, "b", 0, 12, false);
	ck_assert(rti_device_table_advance(&devices));
	ck_assert_uint_eq(devices.total[0], 112);

	b = rti_device_table_next(&devices, NULL);
	ck_assert_str_eq(b->name, "b");
	ck_assert_ptr_null(rti_device_table_next(&devices, b));

	/* It is still away, which is no news. */
	rti_device_table_begin(&devices);
	list_in_total(&devices, "b", 0, 12, false);
	ck_assert(!rti_device_table_advance(&devices));

	/* It returns with what it has counted elsewhere, and goes on. */
	for (int round = 0; round < 2; round++) {
		rti_device_table_begin(&devices);
		list_in_total(&devices, "a", 0, 130 + 5 * (uint64_t)round, round == 0);
		list_in_total(&devices, "b", 0, 12, false);
		ck_assert_int_eq(rti_device_table_advance(&devices), round == 0);
		ck_assert_uint_eq(devices.total[0], 112 + 5 * (uint64_t)round);
		ck_assert_uint_eq(devices.device[0].counter[0].total, 130 + 5 * (uint64_t)round);
	}

	/* It leaves again and returns with a counter that started from 0. */
	rti_device_table_begin(&devices);
	list_in_total(&devices, "b", 0, 12, false);
	ck_assert(rti_device_table_advance(&devices));
	rti_device_table_begin(&devices);
	list_in_total(&devices, "a", 0, 7, true);
	list_in_total(&devices, "b", 0, 12, false);
	ck_assert(rti_device_table_advance(&devices));
	ck_assert_uint_eq(devices.total[0], 117);
	ck_assert_uint_eq(devices.device[0].counter[0].total, 142);
	rti_device_table_free(&devices);
}
END_TEST

START_TEST(device_that_replaces_another_in_one_step_marks_the_total)
{
	struct rti_device_table devices = { .is_by_number = true };

	rti_device_table_begin(&devices);
	list_in_total(&devices, "ppp0", 4, 100, true);
	ck_assert(!rti_device_table_advance(&devices));
	rti_device_table_begin(&devices);
	list_in_total(&devices, "ppp0", 5, 3000, true);
	ck_assert(rti_device_table_advance(&devices));
	ck_assert_uint_eq(devices.total[0], 100);
	rti_device_table_begin(&devices);
	list_in_total(&devices, "ppp0", 5, 3001, false);
	ck_assert(!rti_device_table_advance(&devices));
	ck_assert_uint_eq(devices.total[0], 101);
	rti_device_table_free(&devices);
}
END_TEST

START_TEST(device_with_a_number_may_get_another_name)
{
	struct rti_device_table devices = { .is_by_number = true };

	rti_device_table_begin(&devices);
	list_in_total(&devices, "a-longer-name", 4, 100, true);
	list_in_total(&devices, "b", 5, 200, true);
	list_in_total(&devices, "without", 0, 300, true);
	ck_assert(!rti_device_table_advance(&devices));
	/* The names of two change places. */
	rti_device_table_begin(&devices);
	list_in_total(&devices, "b", 4, 101, false);
	list_in_total(&devices, "a-longer-name", 5, 202, false);
	list_in_total(&devices, "without", 0, 303, false);
	ck_assert(!rti_device_table_advance(&devices));
	ck_assert_uint_eq(devices.total[0], 606);
	ck_assert_uint_eq(devices.count, 3);
	/* Without a number the name is the device. */
	rti_device_table_begin(&devices);
	list_in_total(&devices, "b", 4, 101, false);
	list_in_total(&devices, "a-longer-name", 5, 202, false);
	list_in_total(&devices, "outside", 0, 400, true);
	ck_assert(rti_device_table_advance(&devices));
	ck_assert_uint_eq(devices.total[0], 606);
	rti_device_table_free(&devices);
}
END_TEST

START_TEST(devices_with_equal_name_and_other_number_are_distinct)
{
	struct rti_device_table devices = { 0 };

	for (int round = 0; round < 2; round++) {
		rti_device_table_begin(&devices);
		list_in_total(&devices, "sda", 8, 100, round == 0);
		list_in_total(&devices, "sda", 9, 50, round == 0);
		/* The number of a disk may be given to one of another name. */
		list_in_total(&devices, "sdb", 8, 70, round == 0);
		ck_assert(!rti_device_table_advance(&devices));
	}
	ck_assert_uint_eq(devices.count, 3);
	ck_assert_uint_eq(devices.total[0], 220);
	rti_device_table_free(&devices);
}
END_TEST

/* E.g.: a kernel that has no device numbers, and an interface with an alias of its own name. */
START_TEST(devices_with_equal_name_and_number_are_several)
{
	struct rti_device_table devices = { 0 };

	for (uint64_t round = 0; round < 3; round++) {
		rti_device_table_begin(&devices);
		list_in_total(&devices, "sda", 0, 100 + round, round == 0);
		list_in_total(&devices, "sda", 0, 50 + 2 * round, round == 0);
		ck_assert(!rti_device_table_advance(&devices));
		ck_assert_uint_eq(devices.total[0], 150 + 3 * round);
	}
	ck_assert_uint_eq(devices.count, 2);
	rti_device_table_free(&devices);
}
END_TEST

START_TEST(device_that_joins_or_leaves_the_total_marks_it)
{
	struct rti_device_table devices = { 0 };

	rti_device_table_begin(&devices);
	list_device(&devices, "a", 0, 100, true);
	ck_assert(!rti_device_table_advance(&devices));
	rti_device_table_begin(&devices);
	list_in_total(&devices, "a", 0, 103, false);
	ck_assert(rti_device_table_advance(&devices));
	ck_assert_uint_eq(devices.total[0], 3);
	rti_device_table_begin(&devices);
	list_in_total(&devices, "a", 0, 107, false);
	ck_assert(!rti_device_table_advance(&devices));
	ck_assert_uint_eq(devices.total[0], 7);
	rti_device_table_begin(&devices);
	list_device(&devices, "a", 0, 109, false)->flags = 0;
	ck_assert(rti_device_table_advance(&devices));
	ck_assert_uint_eq(devices.total[0], 7);
	rti_device_table_begin(&devices);
	list_device(&devices, "a", 0, 111, false);
	ck_assert(!rti_device_table_advance(&devices));
	rti_device_table_free(&devices);
}
END_TEST

START_TEST(device_outside_the_total_marks_nothing)
{
	struct rti_device_table devices = { 0 };

	rti_device_table_begin(&devices);
	list_in_total(&devices, "eth0", 0, 100, true);
	list_device(&devices, "lo", 0, 100, true);
	ck_assert(!rti_device_table_advance(&devices));
	rti_device_table_begin(&devices); /* its counter falls, and one is new */
	list_in_total(&devices, "eth0", 0, 101, false);
	list_device(&devices, "lo", 0, 5, false);
	list_device(&devices, "veth0", 0, 5, true);
	ck_assert(!rti_device_table_advance(&devices));
	rti_device_table_begin(&devices); /* both are gone */
	list_in_total(&devices, "eth0", 0, 102, false);
	ck_assert(!rti_device_table_advance(&devices));
	rti_device_table_begin(&devices); /* one comes back */
	list_in_total(&devices, "eth0", 0, 103, false);
	list_device(&devices, "veth0", 0, 9000, true);
	ck_assert(!rti_device_table_advance(&devices));
	ck_assert_uint_eq(devices.total[0], 103);
	rti_device_table_free(&devices);
}
END_TEST

START_TEST(counter_that_falls_marks_the_total_until_it_is_reached_again)
{
	struct rti_device_table devices = { 0 };
	static const struct {
		uint64_t value, total;
		bool is_partial;
	} steps[] = { { 10000, 10000, false }, { 9950, 10000, true }, { 9990, 10000, true },
		      { 10001, 10001, false }, { 50, 10001, true },   { 60, 10011, false } };

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		rti_device_table_begin(&devices);
		list_in_total(&devices, "eth0", 0, steps[i].value, i == 0);
		ck_assert_int_eq(rti_device_table_advance(&devices), steps[i].is_partial);
		ck_assert_uint_eq(devices.total[0], steps[i].total);
	}
	rti_device_table_free(&devices);
}
END_TEST

/* Each counter has falls of its own. E.g.: of a disk, the busy time alone has 32 bits. */
START_TEST(counter_of_32_bits_wraps_beside_others)
{
	struct rti_device_table devices = { .falls = { 0, RTI_FALL_WRAP } };

	for (int round = 0; round < 2; round++) {
		struct rti_device *device;

		rti_device_table_begin(&devices);
		device = list_device(&devices, "a", 0, 7, round == 0);
		device->flags = RT_ITEM_IN_TOTAL;
		device->now[1] = round == 0 ? UINT32_MAX : 4;
		ck_assert(!rti_device_table_advance(&devices));
	}
	ck_assert_uint_eq(devices.total[0], 7);
	ck_assert_uint_eq(devices.total[1], UINT32_MAX + UINT64_C(5));
	rti_device_table_free(&devices);
}
END_TEST

START_TEST(list_that_is_not_read_to_its_end_counts_for_nothing)
{
	struct rti_device_table devices = { 0 };

	rti_device_table_begin(&devices);
	list_in_total(&devices, "a", 0, 100, true);
	list_in_total(&devices, "b", 0, 10, true);
	ck_assert(!rti_device_table_advance(&devices));
	rti_device_table_begin(&devices);
	rti_device_table_begin(&devices);
	list_device(&devices, "c", 0, 10, true);
	list_device(&devices, "a", 0, 900, false);
	rti_device_table_begin(&devices);
	list_in_total(&devices, "a", 0, 107, false);
	list_in_total(&devices, "b", 0, 13, false);
	ck_assert(!rti_device_table_advance(&devices));
	ck_assert_uint_eq(devices.total[0], 120);
	rti_device_table_begin(&devices);
	list_in_total(&devices, "a", 0, 107, false);
	list_in_total(&devices, "b", 0, 13, false);
	list_in_total(&devices, "c", 0, 500, true);
	ck_assert(rti_device_table_advance(&devices));
	ck_assert_uint_eq(devices.total[0], 120);
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
		list_in_total(&devices, "eth0", 0, 1000 + i, i == 0);
		snprintf(name, sizeof(name), "veth%u", i);
		list_in_total(&devices, name, 0, 1, true);
		ck_assert_int_eq(rti_device_table_advance(&devices), i > 0);
	}
	ck_assert_uint_eq(devices.count, RTI_DEVICES_MAX);
	ck_assert_uint_eq(devices.total[0], 1000 + 10 * RTI_DEVICES_MAX);
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
			list_in_total(&devices, name, 0, 1, round == 0);
		}
		ck_assert(!rti_device_table_advance(&devices));
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

	tcase_add_test(devices, device_removed_and_returned_starts_from_what_it_shows);
	tcase_add_test(devices, device_that_replaces_another_in_one_step_marks_the_total);
	tcase_add_test(devices, device_with_a_number_may_get_another_name);
	tcase_add_test(devices, devices_with_equal_name_and_other_number_are_distinct);
	tcase_add_test(devices, devices_with_equal_name_and_number_are_several);
	tcase_add_test(devices, device_that_joins_or_leaves_the_total_marks_it);
	tcase_add_test(devices, device_outside_the_total_marks_nothing);
	tcase_add_test(devices, counter_that_falls_marks_the_total_until_it_is_reached_again);
	tcase_add_test(devices, counter_of_32_bits_wraps_beside_others);
	tcase_add_test(devices, list_that_is_not_read_to_its_end_counts_for_nothing);
	tcase_add_test(devices, table_with_many_past_devices_stays_bounded);
	tcase_add_test(devices, table_with_many_present_devices_keeps_them_all);
	return suite_run(suite);
}
