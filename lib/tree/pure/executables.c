/* SPDX-License-Identifier: MIT */
/* The programs that the members of a tree run, and the file-backed pages that they map. */
#include "tree/pure/executables.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

void rti_executables_free(struct rti_executables *table)
{
	free(table->entries);
	*table = (struct rti_executables){ 0 };
}

/* Returns the entry of a key, else a free one, else one past the last. */
static size_t find_entry(const struct rti_executables *table, uint64_t key)
{
	size_t found = table->count;

	for (size_t i = 0; i < table->count; i++) {
		const struct rti_executable *e = &table->entries[i];

		if (e->members > 0 && e->key == key)
			return i;
		if (e->members == 0 && found == table->count)
			found = i;
	}
	return found;
}

int rti_executables_find(const struct rti_executables *table, uint64_t key)
{
	size_t i = find_entry(table, key);

	return i < table->count && table->entries[i].members > 0 ? (int)i : -1;
}

int rti_executables_enter(struct rti_executables *table, uint64_t key)
{
	size_t i = find_entry(table, key);
	struct rti_executable *entries;

	if (i == table->count) {
		entries = rti_array_grow(table->entries, &table->capacity, i + 1, sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		table->entries = entries;
		table->count = i + 1;
		entries[i].members = 0;
	}
	if (table->entries[i].members == 0)
		table->entries[i] = (struct rti_executable){ .key = key };
	table->entries[i].members++;
	return (int)i;
}

void rti_executables_enter_again(struct rti_executables *table, int index)
{
	if (index >= 0)
		table->entries[index].members++;
}

void rti_executables_leave(struct rti_executables *table, int index)
{
	if (index >= 0)
		table->entries[index].members--;
}

void rti_executables_open(struct rti_executables *table)
{
	for (size_t i = 0; i < table->count; i++) {
		struct rti_executable *e = &table->entries[i];

		e->largest_pages = e->all_pages = e->measured_pages = 0;
		e->measured_share = 0;
	}
}

void rti_executables_add(struct rti_executables *table, int index, uint64_t pages)
{
	struct rti_executable *e;

	if (index < 0)
		return;
	e = &table->entries[index];
	e->all_pages += pages;
	if (e->largest_pages < pages)
		e->largest_pages = pages;
}

/* The pages that the programs without a measurement map alike. */
static uint64_t common_pages(const struct rti_executables *table)
{
	uint64_t smallest = UINT64_MAX;
	size_t programs = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct rti_executable *e = &table->entries[i];

		if (e->largest_pages == 0)
			continue;
		programs++;
		if (!e->is_measured && e->largest_pages < smallest)
			smallest = e->largest_pages;
	}
	return programs > 1 && smallest != UINT64_MAX ? smallest : 0;
}

static uint64_t pages_of(const struct rti_executable *e)
{
	double pages = (double)e->largest_pages;

	if (e->is_measured)
		pages -= e->missing_pages;
	if (pages > (double)e->all_pages)
		return e->all_pages;
	return pages > 0 ? (uint64_t)pages : 0;
}

/* A PSS that was read leaves out what other programs, inside and outside of the tree, map alike. */
uint64_t rti_executables_pages(const struct rti_executables *table)
{
	uint64_t common = common_pages(table), pages = 0;
	bool has_common = false;

	for (size_t i = 0; i < table->count; i++) {
		const struct rti_executable *e = &table->entries[i];

		if (e->largest_pages == 0)
			continue;
		has_common |= e->is_measured;
		pages += e->is_measured ? pages_of(e) : e->largest_pages - common;
	}
	return has_common ? pages : pages + common;
}

double rti_executables_share(const struct rti_executables *table, int index)
{
	const struct rti_executable *e;

	if (index < 0)
		return 1;
	e = &table->entries[index];
	return e->all_pages ? (double)pages_of(e) / (double)e->all_pages : 0;
}

void rti_executables_measure(struct rti_executables *table, int index, uint64_t pages,
                             uint64_t pss_pages)
{
	if (index < 0)
		return;
	table->entries[index].measured_pages += pages;
	table->entries[index].measured_share += (double)pss_pages;
}

/* If only some members of a program were read, the others are taken to share as these do, and what
 * was known before counts for the rest. */
void rti_executables_learn(struct rti_executables *table)
{
	for (size_t i = 0; i < table->count; i++) {
		struct rti_executable *e = &table->entries[i];
		double all = (double)e->all_pages, measured = (double)e->measured_pages, missing;

		if (e->measured_pages == 0 || e->largest_pages == 0)
			continue;
		missing = (double)e->largest_pages - e->measured_share / measured * all;
		if (e->is_measured && measured < all)
			e->missing_pages += (missing - e->missing_pages) * (measured / all);
		else
			e->missing_pages = missing;
		e->is_measured = true;
	}
}
