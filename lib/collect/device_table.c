/* SPDX-License-Identifier: MIT */
/* The disks or network interfaces that a collector has seen, with their counters. */
#include "collect/device_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "util/array.h"

void rti_device_table_begin(struct rti_device_table *devices)
{
	devices->round++;
	devices->next = 0;
}

/* Devices with equal names and numbers in one list are several. */
static bool is_same(const struct rti_device_table *devices, const struct rti_device *device,
                    const char *name, uint64_t number)
{
	return device->number == number && device->round != devices->round &&
	       ((number && devices->is_by_number) || strcmp(device->name, name) == 0);
}

static struct rti_device *find_device(struct rti_device_table *devices, const char *name,
                                      uint64_t number)
{
	for (size_t i = 0; i < devices->count; i++) {
		size_t at = devices->next + i < devices->count ? devices->next + i
		                                               : devices->next + i - devices->count;
		struct rti_device *device = &devices->device[at];

		if (is_same(devices, device, name, number)) {
			devices->next = at + 1 < devices->count ? at + 1 : 0;
			return device;
		}
	}
	return NULL;
}

/* Returns an entry for a new device, or NULL if memory is short. A full table does not grow on a
 * host where interfaces come and go: it replaces the device that has been unlisted longest, unless
 * that was in the previous list. */
static struct rti_device *add_device(struct rti_device_table *devices)
{
	struct rti_device *device = devices->device;

	if (devices->count >= RTI_DEVICES_MAX) {
		for (size_t i = 1; i < devices->count; i++)
			if (devices->device[i].round < device->round)
				device = &devices->device[i];
		if (device->round + 1 < devices->round)
			return device;
	}
	device =
	    rti_array_grow(devices->device, &devices->room, devices->count + 1, sizeof(*device));
	if (!device)
		return NULL;
	devices->device = device;
	return &devices->device[devices->count++];
}

int rti_device_table_find(struct rti_device_table *devices, const char *name, uint64_t number,
                          struct rti_device **out)
{
	struct rti_device *device = find_device(devices, name, number);

	if (!device) {
		device = add_device(devices);
		if (!device)
			return -ENOMEM;
		*device = (struct rti_device){ .number = number };
	}
	if (strcmp(device->name, name) != 0) {
		memset(device->name, 0, sizeof(device->name));
		memcpy(device->name, name, strnlen(name, sizeof(device->name) - 1));
	}
	device->is_new = device->counted_in == 0 || device->counted_in != devices->whole_round;
	device->round = devices->round;
	*out = device;
	return 0;
}

bool rti_device_table_set_gone(struct rti_device_table *devices, uint64_t number)
{
	bool was_listed = false;

	for (size_t i = 0; i < devices->count; i++) {
		struct rti_device *device = &devices->device[i];

		if (device->number != number)
			continue;
		was_listed |= device->counted_in && device->counted_in == devices->whole_round;
		device->counted_in = 0;
	}
	return was_listed;
}

struct rti_device *rti_device_table_next(const struct rti_device_table *devices,
                                         const struct rti_device *device)
{
	for (size_t at = device ? (size_t)(device - devices->device) + 1 : 0; at < devices->count;
	     at++)
		if (devices->device[at].round == devices->round)
			return &devices->device[at];
	return NULL;
}

/* Returns true if the totals lack something of the device. */
static bool advance_device(struct rti_device_table *devices, struct rti_device *device)
{
	bool is_first = devices->whole_round == 0;
	bool is_in_total = device->flags & RT_ITEM_IN_TOTAL;
	bool has_fallen = false;

	for (size_t i = 0; i < RTI_DEVICE_COUNTERS; i++) {
		uint64_t before = device->counter[i].total;

		has_fallen |=
		    rti_counter_advance(&device->counter[i], device->now[i], devices->falls[i]);
		if (is_in_total && (is_first || !device->is_new))
			devices->total[i] += device->counter[i].total - before;
	}
	return is_in_total && !is_first && (has_fallen || !device->was_in_total);
}

bool rti_device_table_advance(struct rti_device_table *devices)
{
	size_t stayed = 0, in_total = 0;
	bool is_partial = false;

	for (struct rti_device *device = rti_device_table_next(devices, NULL); device;
	     device = rti_device_table_next(devices, device)) {
		bool is_in_total = device->flags & RT_ITEM_IN_TOTAL;

		if (device->is_new)
			device->was_in_total = false;
		is_partial |= advance_device(devices, device);
		stayed += is_in_total && device->was_in_total;
		in_total += is_in_total;
		device->was_in_total = is_in_total;
		device->counted_in = devices->round;
	}
	is_partial |= stayed < devices->in_total;
	devices->in_total = in_total;
	devices->whole_round = devices->round;
	return is_partial;
}

void rti_device_table_free(struct rti_device_table *devices)
{
	free(devices->device);
	*devices = (struct rti_device_table){ 0 };
}
