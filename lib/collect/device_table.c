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

static struct rti_device *find_device(struct rti_device_table *devices, const char *name,
                                      uint64_t number)
{
	for (size_t i = 0; i < devices->count; i++) {
		size_t at = devices->next + i < devices->count ? devices->next + i
		                                               : devices->next + i - devices->count;
		struct rti_device *device = &devices->device[at];

		if (device->number == number && strcmp(device->name, name) == 0) {
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
                          struct rti_device **out, bool *is_new)
{
	struct rti_device *device = find_device(devices, name, number);

	*is_new = !device || device->round + 1 < devices->round;
	if (!device) {
		device = add_device(devices);
		if (!device)
			return -ENOMEM;
		*device = (struct rti_device){ .number = number };
		memcpy(device->name, name, strnlen(name, sizeof(device->name) - 1));
	}
	device->round = devices->round;
	*out = device;
	return 0;
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

void rti_device_table_advance(struct rti_device_table *devices)
{
	for (struct rti_device *device = rti_device_table_next(devices, NULL); device;
	     device = rti_device_table_next(devices, device)) {
		for (size_t i = 0; i < RTI_DEVICE_COUNTERS; i++) {
			uint64_t growth = rti_counter_advance(&device->counter[i], device->now[i]);

			if (device->flags & RT_ITEM_IN_TOTAL)
				devices->total[i] += growth;
		}
	}
}

void rti_device_table_free(struct rti_device_table *devices)
{
	free(devices->device);
	*devices = (struct rti_device_table){ 0 };
}
