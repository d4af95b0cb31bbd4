/* SPDX-License-Identifier: MIT */
/* Prints the library's field tables, for test_layout.py: per struct its size, then a line per
 * field. That this file compiles proves the offsets of layout_lp64.h. */
#include <inttypes.h>
#include <stdio.h>

#include <rtrack/rtrack.h>

#include "layout_lp64.h"

static int print_struct(uint32_t id)
{
	struct rt_field field;

	printf("struct %" PRIu32 " %" PRIu32 "\n", id, rt_field_struct_size(id));
	for (uint32_t i = 0; i < rt_field_count(id); i++) {
		if (rt_field_get(id, i, &field, sizeof(field)) < 0)
			return 1;
		printf("%s %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 " %s\n",
		       field.name, field.offset, field.length, field.type, field.role, field.has,
		       field.unit);
	}
	return 0;
}

int main(void)
{
	int failed = 0;

	for (uint32_t id = 1; rt_field_count(id) > 0; id++)
		failed |= print_struct(id);
	return failed;
}
