/* SPDX-License-Identifier: MIT */
/* The command line of a running process. */
#include "command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/text.h"

/* The words point into the same allocation. */
static char **make_array(const struct text *text)
{
	size_t count = 0, at = 0;
	char **words, *copy;

	for (size_t i = 0; i < text->len; i++)
		count += (size_t)(text->data[i] == '\0');
	words = calloc(1, (count + 1) * sizeof(*words) + text->len);
	if (!words)
		return NULL;
	copy = (char *)&words[count + 1];
	memcpy(copy, text->data, text->len);
	for (size_t i = 0; i < count; i++) {
		words[i] = copy + at;
		at += strlen(copy + at) + 1;
	}
	return words;
}

/* Each word ends with a NUL, unless the process has overwritten its arguments: setproctitle(3). */
char **command_line_read(int32_t pid)
{
	struct text text = { 0 };
	char path[40], piece[4096], **words = NULL;
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	file = fopen(path, "re");
	while (file && (len = fread(piece, 1, sizeof(piece), file)) > 0)
		text_bytes(&text, piece, len);
	if (file)
		fclose(file);
	if (text.len > 0 && text.data[text.len - 1] != '\0')
		text_bytes(&text, "", 1);
	if (text.len > 0 && text.data[0] != '\0' && !text.is_short)
		words = make_array(&text);
	text_free(&text);
	return words;
}
