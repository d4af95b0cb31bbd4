/* SPDX-License-Identifier: MIT */
/* The columns that a series can have: a field of the library each, or a figure computed from some.
 * The CSV, JSON Lines, --fields and rtrack info --fields share them. */
#ifndef SERIES_COLUMNS_H
#define SERIES_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

#include "follow/figures.h"
#include "format.h"

enum value_type {
	VALUE_UNKNOWN,
	VALUE_UNSIGNED,
	VALUE_SIGNED,
	VALUE_REAL,
	VALUE_SECONDS,  /* nanoseconds, written as seconds with all digits */
	VALUE_TIME,     /* nanoseconds since 1970 */
	VALUE_WORD,     /* a word of the library: it needs no quotes in CSV */
	VALUE_TEXT,     /* any bytes, in word */
	VALUE_REASONS,  /* RT_REASON_ bits */
	VALUE_PARTIAL,  /* the names of the columns that are lower bounds in this row */
	VALUE_ESTIMATED /* the names of the columns that may be above or below the truth */
};

struct value {
	enum value_type type;
	union {
		uint64_t whole;
		int64_t number;
		double real;
		const char *word;
	};
};

/* The differences of FROM_MEMBER_BEFORE are those of the process since its row before. */
enum column_origin { FROM_SAMPLE, FROM_DELTA, FROM_MEMBER, FROM_MEMBER_BEFORE };

/* What a series can be of, besides the RT_KIND_ values: the processes of trees, or those of cgroups
 * and perhaps of trees. */
#define KIND_MEMBERS 100
#define KIND_CGROUP_MEMBERS 101

/* Bits of what a series can be of. */
enum {
	OF_TREE = 1,
	OF_SYSTEM = 2,
	OF_CGROUP = 4,
	OF_MEMBERS = 8,
	OF_CGROUP_MEMBERS = 16,
	OF_TOTALS = OF_TREE | OF_SYSTEM | OF_CGROUP,
	OF_PROCESSES = OF_MEMBERS | OF_CGROUP_MEMBERS,
	OF_ANY = OF_TOTALS | OF_PROCESSES
};

struct column {
	char name[48];
	char unit[16]; /* UCUM, "" if it has none */
	enum column_origin origin;
	enum value_type type;
	uint64_t has; /* RT_HAS_ bits that it needs, of the sample or of the difference */
	/* Where the field is, if it is not computed, and its number in the table of its struct. */
	uint32_t field_type, offset, length, struct_id, index;
	/* Called only if all that it needs is known. */
	struct value (*compute)(const struct row *row);
	const char *about; /* of a computed one: what it means, in English */
	bool is_usual;     /* a row of JSON Lines has it by default */
	unsigned kinds;    /* of a computed one: OF_ bits of the series that have it */
	bool is_optional;  /* left out if the first row of the series does not have the figure */
};

struct columns {
	/* RT_KIND_ or KIND_ value of the series. Among the rows of RT_KIND_CGROUP may be some of
	 * trees. */
	uint32_t kind;
	bool has_iso_times;
	struct column *at;
	size_t count;
};

/* Get all the columns of a kind. Free them with columns_free(). Returns 0 or -ENOMEM. */
int columns_all(struct columns *c, uint32_t kind);

void columns_free(struct columns *c);

/* Returns the column with this name of len bytes, or NULL. */
const struct column *columns_find(const struct columns *c, const char *name, size_t len);

/* Return what a row describes: the process tree, else the system. */
const struct rt_metrics *row_sample(const struct row *row);
const struct rt_delta *row_delta(const struct row *row);

/* Returns what a column holds in a row. */
struct value column_value(const struct column *column, const struct row *row);

/* Returns true if the value is known and has this mark: VALUE_PARTIAL or VALUE_ESTIMATED. */
bool column_is_marked(const struct column *column, const struct row *row, enum value_type mark);

/* Returns what the figure means, in English: of a field, the text in *field, which this fills. */
const char *column_about(const struct column *column, struct rt_field *field);

/* The columns that are computed. series_computed.c has the table. */
extern const struct column computed_columns[];
extern const size_t computed_column_count;

/* Those of series of processes. series_members.c has the table. */
extern const struct column member_columns[];
extern const size_t member_column_count;

#endif
