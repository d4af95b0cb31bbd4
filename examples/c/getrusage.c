/* SPDX-License-Identifier: MIT */
/* Prints the sixteen getrusage(2) fields of this process. Names and units come from the library's
 * field table. */
#include <stdio.h>
#include <string.h>

#include <rtrack/rtrack.h>

static void print_field(const struct rt_rusage *usage, const struct rt_field *field)
{
	const char *at = (const char *)usage + field->offset;
	double seconds;
	int64_t number;

	if (field->type == RT_TYPE_DOUBLE) {
		memcpy(&seconds, at, sizeof(seconds));
		printf("%-11s %12.6f %s\n", field->name, seconds, field->unit);
	} else {
		memcpy(&number, at, sizeof(number));
		printf("%-11s %12lld %s\n", field->name, (long long)number, field->unit);
	}
}

int main(void)
{
	struct rt_rusage usage;
	struct rt_field field;
	int err = rt_getrusage(RT_RUSAGE_SELF, &usage);

	for (uint32_t i = 0; !err && i < rt_field_count(RT_STRUCT_RUSAGE); i++) {
		err = rt_field_get(RT_STRUCT_RUSAGE, i, &field, sizeof(field));
		if (!err)
			print_field(&usage, &field);
	}
	if (err)
		fprintf(stderr, "getrusage: %s\n", rt_strerror(err));
	return err ? 1 : 0;
}
