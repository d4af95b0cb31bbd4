/* SPDX-License-Identifier: MIT */
/* Counters that never fall, made of counters of the kernel that sometimes do, and the tables that hold them. */
#include "collect/accumulate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rtrack/rtrack.h>

#define WRAP (UINT64_C(1) << 32)
#define DEEPEST_CORRECTION 1000 /* clock ticks, 10 s */
#define FIRST_ROOM 16

/* Between two samples less than a quarter of the range goes by; so it is where the counter stood that tells. */
static int is_wrap(uint64_t last, uint64_t now)
{
	return last < WRAP && last >= WRAP / 4 * 3 && now < WRAP / 4;
}

uint64_t rti_counter_advance(struct rti_counter *counter, uint64_t now)
{
	uint64_t growth = now;

	if (now >= counter->last)
		growth = now - counter->last;
	else if (is_wrap(counter->last, now))
		growth = now + WRAP - counter->last;
	counter->last = now;
	counter->total += growth;
	return growth;
}

int rti_counter_hold(struct rti_counter *counter, uint64_t now)
{
	if (now >= counter->last) {
		counter->total += now - counter->last;
		counter->last = now;
		return 0;
	}
	if (now >= counter->last / 2 || counter->last - now <= DEEPEST_CORRECTION)
		return 0;
	counter->last = now;
	return 1;
}

void rti_items_begin(struct rti_items *items)
{
	items->round++;
	items->next = 0;
}

static int is_item(const struct rti_item *item, const char *name, uint64_t number)
{
	return item->number == number && strcmp(item->name, name) == 0;
}

static struct rti_item *find(struct rti_items *items, const char *name, uint64_t number)
{
	for (size_t i = 0; i < items->count; i++) {
		size_t at = items->next + i < items->count ? items->next + i : items->next + i - items->count;

		if (is_item(&items->item[at], name, number)) {
			items->next = at + 1 < items->count ? at + 1 : 0;
			return &items->item[at];
		}
	}
	return NULL;
}

/* The one that has been gone longest, so that hosts where interfaces come and go all day do not grow for ever. */
static struct rti_item *find_forgettable(const struct rti_items *items)
{
	struct rti_item *oldest = &items->item[0];

	for (size_t i = 1; i < items->count; i++)
		if (items->item[i].round < oldest->round)
			oldest = &items->item[i];
	return oldest->round + 1 < items->round ? oldest : NULL;
}

static struct rti_item *add(struct rti_items *items)
{
	struct rti_item *item = items->count >= RTI_ITEMS_REMEMBERED ? find_forgettable(items) : NULL;

	if (item)
		return item;
	if (items->count == items->room) {
		size_t room = items->room ? items->room * 2 : FIRST_ROOM;

		item = realloc(items->item, room * sizeof(*item));
		if (!item)
			return NULL;
		items->item = item;
		items->room = room;
	}
	return &items->item[items->count++];
}

int rti_items_find(struct rti_items *items, const char *name, uint64_t number, struct rti_item **out, int *has_come)
{
	struct rti_item *item = find(items, name, number);

	*has_come = !item || item->round + 1 < items->round;
	if (!item) {
		item = add(items);
		if (!item)
			return -ENOMEM;
		*item = (struct rti_item){ .number = number };
		memcpy(item->name, name, strnlen(name, sizeof(item->name) - 1));
	}
	item->round = items->round;
	*out = item;
	return 0;
}

struct rti_item *rti_items_next(const struct rti_items *items, const struct rti_item *item)
{
	for (size_t at = item ? (size_t)(item - items->item) + 1 : 0; at < items->count; at++)
		if (items->item[at].round == items->round)
			return &items->item[at];
	return NULL;
}

void rti_items_advance(struct rti_items *items)
{
	for (struct rti_item *item = rti_items_next(items, NULL); item; item = rti_items_next(items, item)) {
		for (size_t i = 0; i < RTI_ITEM_COUNTERS; i++) {
			uint64_t growth = rti_counter_advance(&item->counter[i], item->now[i]);

			if (item->flags & RT_ITEM_IN_TOTAL)
				items->total[i] += growth;
		}
	}
}

void rti_items_free(struct rti_items *items)
{
	free(items->item);
	*items = (struct rti_items){ 0 };
}

int rti_rows_reserve(struct rti_rows *rows, size_t count, size_t row_size)
{
	size_t room = rows->room ? rows->room : FIRST_ROOM;
	void *data;

	if (count <= rows->room)
		return 0;
	while (room < count)
		room *= 2;
	data = realloc(rows->data, room * row_size);
	if (!data)
		return -ENOMEM;
	rows->data = data;
	rows->room = room;
	return 0;
}

const void *rti_rows_get(const struct rti_rows *rows, size_t *count)
{
	*count = rows->count;
	return rows->count ? rows->data : NULL;
}

void rti_rows_free(struct rti_rows *rows)
{
	free(rows->data);
	*rows = (struct rti_rows){ 0 };
}
