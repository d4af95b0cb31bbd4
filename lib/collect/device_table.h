/* SPDX-License-Identifier: MIT */
/* The disks or network interfaces that a collector has seen, with their counters.
 *
 * Owner: the state of one collector. Zeroed memory is a valid start. */
#ifndef RTI_DEVICE_TABLE_H
#define RTI_DEVICE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/counter.h"

#define RTI_DEVICE_COUNTERS 8
/* items, gone ones included, past which the longest gone are forgotten */
#define RTI_DEVICES_MAX 1024

/* A disk or an interface. It is remembered while it is gone, so that nothing counts twice when
 * it comes back. */
struct rti_device {
	char name[64];
	uint64_t number; /* device number, which is part of the identity; 0 where there is none */
	uint64_t round;  /* in which it was last listed */
	uint64_t gauge;
	uint32_t flags;  /* RT_ITEM_ bits */
	uint32_t traits; /* the collector's own */
	uint64_t now[RTI_DEVICE_COUNTERS];
	struct rti_counter counter[RTI_DEVICE_COUNTERS];
};

/* Invariant: total[i] grows only by what items with RT_ITEM_IN_TOTAL grow, so it keeps the share
 * of those that went. */
struct rti_device_table {
	struct rti_device *device;
	size_t count, room;
	size_t next; /* where the next find is likely to succeed: lists keep their order */
	uint64_t round;
	uint64_t total[RTI_DEVICE_COUNTERS];
};

/* Begin a new list: until it is found again, every item counts as gone. */
void rti_device_table_begin(struct rti_device_table *devices);

/* Find an item, or make it, and mark it as listed. *has_come is 1 when it was not in the list
 * before this one. The pointer holds until the next find. 0 or -ENOMEM. */
int rti_device_table_find(struct rti_device_table *devices, const char *name, uint64_t number,
                          struct rti_device **out, bool *is_new);

/* The listed items one after the other: NULL when there are no more. Start with NULL. */
struct rti_device *rti_device_table_next(const struct rti_device_table *devices,
                                         const struct rti_device *device);

/* Move every listed item on to its values of now, and the totals with those that have
 * RT_ITEM_IN_TOTAL. */
void rti_device_table_advance(struct rti_device_table *devices);

void rti_device_table_free(struct rti_device_table *devices);

#endif
