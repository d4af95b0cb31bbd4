/* SPDX-License-Identifier: MIT */
/* Finds the format of a time series by its name or by the name of its file. */
#include "format.h"

#include <string.h>

static const struct format *const formats[] = { &format_csv, &format_csv_v1, &format_csv_v5,
	                                        &format_jsonl };

enum { FORMAT_COUNT = sizeof(formats) / sizeof(formats[0]) };

const struct format *format_by_name(const char *name)
{
	for (int i = 0; i < FORMAT_COUNT; i++) {
		if (strcmp(name, formats[i]->name) == 0)
			return formats[i];
	}
	return NULL;
}

const struct format *format_by_file(const char *file)
{
	size_t len = strlen(file);

	for (int i = 0; i < FORMAT_COUNT; i++) {
		size_t suffix_len = formats[i]->suffix ? strlen(formats[i]->suffix) : 0;

		if (suffix_len > 0 && len > suffix_len &&
		    strcmp(file + len - suffix_len, formats[i]->suffix) == 0)
			return formats[i];
	}
	return &format_csv;
}
