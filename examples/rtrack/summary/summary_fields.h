/* SPDX-License-Identifier: MIT */
/* The figures of a summary: their names, units and values. Text, Markdown, JSON and templates all
 * show the fields of this one table. */
#ifndef SUMMARY_FIELDS_H
#define SUMMARY_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/text.h"
#include "usage.h"

enum summary_unit {
	UNIT_SECONDS, /* uint64_t, ns */
	UNIT_BYTES,   /* uint64_t */
	UNIT_COUNT,   /* uint64_t */
	UNIT_REAL,    /* double; negative: unknown */
	UNIT_NUMBER,  /* int32_t; negative: unknown */
	UNIT_SIGNAL,  /* int32_t; 0: none */
	UNIT_FLAG,    /* bool */
	UNIT_WORD,    /* const char *; NULL: unknown */
	UNIT_WORDS,   /* const char *const *, NULL at the end; NULL: unknown */
	UNIT_DOMAINS, /* uint64_t, RT_HAS_ bits */
	UNIT_REASONS  /* uint32_t, RT_REASON_ bits */
};

/* Where people see a field. JSON and templates have all. */
enum summary_place { PLACE_NOT_SHOWN, PLACE_LONG, PLACE_ALWAYS };

struct summary_field {
	const char *group; /* JSON object that it is in, and prefix in templates; NULL: none */
	const char *name;  /* with its unit */
	unsigned kinds;    /* USAGE_ bits */
	enum summary_unit unit;
	size_t offset;    /* in struct usage */
	uint64_t bits;    /* RT_HAS_ bits that the value needs, or 0 */
	uint64_t missing; /* value that means unknown; NO_SUCH_VALUE: none does */
	enum summary_place place;
	const char *label; /* for people */
	const char *about; /* its definition, or NULL */
};

/* Returns the field with this index, or NULL past the last. */
const struct summary_field *summary_field_at(size_t index);

/* Find a field by its name in templates: the name, or group and name with '_' between them. Returns
 * NULL if there is none of this kind. */
const struct summary_field *summary_field_by_name(const char *name, size_t len, unsigned kinds);

/* Returns true if the value of a field is known. A lower bound and an estimate are known. */
bool summary_field_is_known(const struct summary_field *field, const struct usage *u);

/* Returns true if the value of UNIT_SECONDS, UNIT_BYTES, UNIT_COUNT or UNIT_REAL is 0. */
bool summary_field_is_zero(const struct summary_field *field, const struct usage *u);

/* Returns "at least ", "about " or "". */
const char *summary_field_reservation(const struct summary_field *field, const struct usage *u);

/* Read a value of UNIT_SECONDS (in ns), UNIT_BYTES, UNIT_COUNT or UNIT_DOMAINS. */
uint64_t summary_field_whole(const struct summary_field *field, const struct usage *u);

/* Add the value for people to read, with its unit: "2.83 s". */
void summary_field_add_human(struct text *out, const struct summary_field *field,
                             const struct usage *u);

/* Add the value for programs to read, without a unit: "2.830511". Unknown is "-". */
void summary_field_add_plain(struct text *out, const struct summary_field *field,
                             const struct usage *u);

/* Add the value to a JSON object, under its name. Unknown is null. */
void summary_field_add_json(struct text *out, const struct summary_field *field,
                            const struct usage *u);

#endif
