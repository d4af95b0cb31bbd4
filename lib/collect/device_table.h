/* SPDX-License-Identifier: MIT */
/* The disks or network interfaces that a collector has seen, with their counters. */
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

/* A disk or an interface. It is kept while it is unlisted, so that nothing is counted twice if it
 * comes back. */
struct rti_device {
	char name[64];
	uint64_t number; /* device number, part of the identity; 0 if there is none */
	uint64_t round;  /* the list in which it was last found */
	uint64_t gauge;
	uint32_t flags;                    /* RT_ITEM_ bits */
	uint32_t traits;                   /* bits of the collector */
	uint64_t now[RTI_DEVICE_COUNTERS]; /* the kernel's current values */
	struct rti_counter counter[RTI_DEVICE_COUNTERS];
};

/* Owned by the state of one collector. Zeroed memory is a valid start.
 * Invariant: total[i] grows only by the growth of devices with RT_ITEM_IN_TOTAL. So it keeps the
 * share of devices that are no longer listed. */
struct rti_device_table {
	struct rti_device *device;
	size_t count, room;
	size_t next; /* where the next search is likely to succeed: lists keep their order */
	uint64_t round;
	uint64_t total[RTI_DEVICE_COUNTERS];
};

/* Begin a new list. Every device is unlisted until it is found again. */
void rti_device_table_begin(struct rti_device_table *devices);

/* Find a device, or add it, and mark it as listed. Sets *is_new to true if it was not in the
 * previous list. The table owns *out, which is valid until the next call. Returns 0 or -ENOMEM. */
int rti_device_table_find(struct rti_device_table *devices, const char *name, uint64_t number,
                          struct rti_device **out, bool *is_new);

/* Returns the listed device after this one, or the first if device is NULL. Returns NULL if there
 * are no more. */
struct rti_device *rti_device_table_next(const struct rti_device_table *devices,
                                         const struct rti_device *device);

/* Move the counters of every listed device on to its current values. Adds the growth of devices
 * with RT_ITEM_IN_TOTAL to the totals. */
void rti_device_table_advance(struct rti_device_table *devices);

void rti_device_table_free(struct rti_device_table *devices);

#endif
