/* SPDX-License-Identifier: MIT */
/* Names, units, places and meanings of all public fields, for bindings. fields.def has them. */
#include "api/fields.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "api/struct_size.h"

/* Name, unit and text of each field, one after another. With arrays in a struct rt_field for each,
 * the library would have twice the constants; with pointers, as many relocations. */
#define FITS(string, member) (sizeof(string) <= sizeof(((struct rt_field *)NULL)->member))
#define ROW(of, field, type, role, bits, measure, meaning)                                         \
	char of##_##field[sizeof(#field "\0" measure "\0" meaning)];                               \
	_Static_assert(FITS(#field, name) && FITS(measure, unit) && FITS(meaning, text), #field);
static const struct {
#include "api/fields.def"
} strings = {
#define ROW(of, name, type, role, bits, unit, text) #name "\0" unit "\0" text,
#include "api/fields.def"
};

#define PLACE(of, name)                                                                            \
	.offset = offsetof(struct rt_##of, name), .length = sizeof(((struct rt_##of *)NULL)->name)

static const struct rti_field fields[] = {
#define ROW(of, field, kind, part, bits, unit, text)                                               \
	{ .has = (bits),                                                                           \
	  PLACE(of, field),                                                                        \
	  .strings = offsetof(__typeof__(strings), of##_##field),                                  \
	  .type = RT_TYPE_##kind,                                                                  \
	  .role = RT_FIELD_##part },
#define DIFFERENCE(field, bit)                                                                     \
	{ .has = (bit),                                                                            \
	  PLACE(delta, field),                                                                     \
	  .strings = offsetof(__typeof__(strings), metrics_##field),                               \
	  .type = RT_TYPE_U64,                                                                     \
	  .role = RT_FIELD_COUNTER },
#include "api/fields.def"
};

/* FIRST_OF_cpu is the number of the first field of struct rt_cpu. */
enum {
#define STRUCT(of, id) FIRST_OF_##of, BEFORE_##of = FIRST_OF_##of - 1,
#define ROW(of, name, type, role, bits, unit, text) NUMBER_OF_##of##_##name,
#define DIFFERENCE(name, bit) NUMBER_OF_delta_##name,
#include "api/fields.def"
	FIELDS
};

/* In the order of fields.def: the fields of a struct end where those of the next one begin. */
static const struct table {
	uint32_t id, struct_size, first;
} tables[] = {
#define STRUCT(of, id) { id, sizeof(struct rt_##of), FIRST_OF_##of },
#include "api/fields.def"
	{ 0, 0, FIELDS },
};

enum { TABLES = sizeof(tables) / sizeof(tables[0]) - 1 };

/* Returns a table without fields for an unknown struct. */
static const struct table *find(uint32_t struct_id)
{
	const struct table *table = tables;

	while (table < &tables[TABLES] && table->id != struct_id)
		table++;
	return table;
}

const struct rti_field *rti_fields_of(uint32_t struct_id, uint32_t *count)
{
	const struct table *table = find(struct_id);

	*count = table < &tables[TABLES] ? table[1].first - table->first : 0;
	return &fields[table->first];
}

uint32_t rt_field_count(uint32_t struct_id)
{
	uint32_t count;

	rti_fields_of(struct_id, &count);
	return count;
}

uint32_t rt_field_struct_size(uint32_t struct_id)
{
	return find(struct_id)->struct_size;
}

/* Returns what comes after it. */
static const char *copy_string(char *out, const char *string)
{
	size_t size = strlen(string) + 1;

	memcpy(out, string, size);
	return string + size;
}

int rt_field_get(uint32_t struct_id, uint32_t index, struct rt_field *out, size_t out_size)
{
	struct rt_field whole = { .size = sizeof(whole) };
	const struct rti_field *field;
	const char *string;
	uint32_t count;

	if (!out)
		return -EFAULT;
	field = rti_fields_of(struct_id, &count);
	if (rti_struct_check_size(out_size, RTI_FIELD_V1) < 0 || index >= count)
		return -EINVAL;
	field += index;
	whole.offset = field->offset;
	whole.length = field->length;
	whole.type = field->type;
	whole.role = field->role;
	whole.has = field->has;
	string = copy_string(whole.name, (const char *)&strings + field->strings);
	string = copy_string(whole.unit, string);
	copy_string(whole.text, string);
	rti_struct_copy_out(out, out_size, &whole, sizeof(whole));
	return 0;
}
