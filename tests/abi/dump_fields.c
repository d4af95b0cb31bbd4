/* SPDX-License-Identifier: MIT */
/* Prints the field tables of the library, for test_layout.py: the size of each struct, then one
 * line for each of its fields. The assertions of layout_lp64.h check the offsets when this
 * compiles. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include <rtrack/rtrack.h>

#include "layout_lp64.h"

enum { IDS_END = 64 }; /* above every RT_STRUCT_ value. Some numbers below are not in use. */

/* Returns false if the library refuses a field. */
static bool print_struct(uint32_t id)
{
	struct rt_field field;

	printf("struct %" PRIu32 " %" PRIu32 "\n", id, rt_field_struct_size(id));
	for (uint32_t i = 0; i < rt_field_count(id); i++) {
		if (rt_field_get(id, i, &field, sizeof(field)) < 0)
			return false;
		printf("%s %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 " %s %s\n",
		       field.name, field.offset, field.length, field.type, field.role, field.has,
		       field.unit, field.text);
	}
	return true;
}

int main(void)
{
	bool is_complete = true;

	for (uint32_t id = 1; id < IDS_END; id++) {
		if (rt_field_count(id) > 0)
			is_complete &= print_struct(id);
	}
	return is_complete ? 0 : 1;
}
