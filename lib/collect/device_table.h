/* SPDX-License-Identifier: MIT */
/* The disks or network interfaces that a collector has seen, with their counters.
 *
 * Here is what a sum over devices does as devices come and go: docs/notes/devices.md. */
#ifndef RTI_DEVICE_TABLE_H
#define RTI_DEVICE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/counter.h"

#define RTI_DEVICE_COUNTERS 8
/* Devices, unlisted ones included. At this number, the one that has been unlisted longest is
 * replaced. */
#define RTI_DEVICES_MAX 1024

/* A disk or an interface. It is kept while it is unlisted, so that its own counters go on if it
 * comes back. */
struct rti_device {
	char name[64];
	uint64_t number;     /* see rti_device_table.is_by_number; 0 if there is none */
	uint64_t round;      /* the list in which it was last found */
	uint64_t gauge;      /* written by the collector */
	uint32_t flags;      /* RT_ITEM_ bits; written by the collector */
	uint32_t traits;     /* bits of the collector, which writes them */
	uint64_t counted_in; /* the last whole list that had it; 0: none yet */
	bool is_new;         /* that was not the last one */
	bool was_in_total;   /* in the list counted_in */
	uint64_t now[RTI_DEVICE_COUNTERS]; /* the kernel's values; written by the collector */
	struct rti_counter counter[RTI_DEVICE_COUNTERS];
};

/* Owned by the state of one collector. Zeroed memory is a valid start.
 * Invariant: total[i] grows only by the growth of devices with RT_ITEM_IN_TOTAL, from what they
 * showed when they were new. So it keeps the share of devices that are no longer listed. */
struct rti_device_table {
	struct rti_device *device;
	size_t count, room;
	size_t next; /* where the next search is likely to succeed: lists keep their order */
	uint64_t round;
	uint64_t whole_round; /* the last list that was read to its end; 0: none yet */
	size_t in_total;      /* devices of that list that were in the total */
	uint64_t total[RTI_DEVICE_COUNTERS];
	/* Written once, by the collector. A number other than 0 is a device by itself, which may
	 * get another name. Else the number and the name together are. */
	bool is_by_number;
	unsigned falls[RTI_DEVICE_COUNTERS]; /* RTI_FALL_ bits; likewise */
};

/* Begin a new list. Every device is unlisted until it is found again. */
void rti_device_table_begin(struct rti_device_table *devices);

/* Find a device, or add it, and mark it as listed. The table owns *out, which is valid until the
 * next call. Returns 0 or -ENOMEM. */
int rti_device_table_find(struct rti_device_table *devices, const char *name, uint64_t number,
                          struct rti_device **out);

/* A device with this number has left since the last whole list. If it is listed again, it is as one
 * that is new, though the number is the same. Returns whether that list had it. */
bool rti_device_table_set_gone(struct rti_device_table *devices, uint64_t number);

/* Returns the listed device after this one, or the first if device is NULL. Returns NULL if there
 * are no more. */
struct rti_device *rti_device_table_next(const struct rti_device_table *devices,
                                         const struct rti_device *device);

/* The list is whole, and RT_ITEM_IN_TOTAL is set where it belongs. Move the counters of every
 * listed device on to its current values. Adds the growth of devices in the total to the totals.
 *
 * In the first list a device counts in full. Later, one that is new counts from what it shows.
 *
 * Returns true if the totals lack something: a device has joined the total or left it, or a counter
 * in it has fallen. What happens to other devices makes no difference. */
bool rti_device_table_advance(struct rti_device_table *devices);

void rti_device_table_free(struct rti_device_table *devices);

#endif
