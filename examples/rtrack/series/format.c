/* SPDX-License-Identifier: MIT */
/* Finds the format of a time series by its name or by the name of its file. */
#include "format.h"

#include <string.h>

#include "text/text.h"

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
	if (has_suffix(file, ".ndjson"))
		return &format_jsonl;
	for (int i = 0; i < FORMAT_COUNT; i++) {
		if (formats[i]->suffix && has_suffix(file, formats[i]->suffix))
			return formats[i];
	}
	return &format_csv;
}
