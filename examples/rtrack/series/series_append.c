/* SPDX-License-Identifier: MIT */
/* Looks at a file that a series is appended to. */
#include "series_append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Open a file for reading that is open for writing, whatever names it has. Returns a descriptor, or
 * a negative errno value. */
static int open_again(int fd)
{
	char path[40];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	return again < 0 ? -errno : again;
}

bool ends_in_torn_row(int fd, off_t size)
{
	int reader = open_again(fd);
	char last = '\n';

	if (reader < 0)
		return false;
	if (pread(reader, &last, 1, size - 1) != 1)
		last = '\n';
	close(reader);
	return last != '\n';
}

int read_head(int fd, char head[HEAD_MAX])
{
	int reader = open_again(fd);
	char *end;
	ssize_t len;

	if (reader < 0)
		return reader;
	len = pread(reader, head, HEAD_MAX - 1, 0);
	close(reader);
	if (len < 0)
		return -EIO;
	head[len] = '\0';
	end = strchr(head, '\n');
	if (!end)
		return -EINVAL;
	*end = '\0';
	return 0;
}

/* Read the beginning of a file. Returns its length, 0 if it cannot be read. */
static size_t read_beginning(int fd, char *out, size_t size)
{
	int reader = open_again(fd);
	ssize_t len;

	if (reader < 0)
		return 0;
	len = pread(reader, out, size - 1, 0);
	close(reader);
	out[len > 0 ? len : 0] = '\0';
	return len > 0 ? (size_t)len : 0;
}

bool begins_with_object(int fd)
{
	char text[2];

	return read_beginning(fd, text, sizeof(text)) == 0 || text[0] == '{';
}

enum time_form read_time_form_csv(int fd, size_t place)
{
	char text[2 * HEAD_MAX];
	const char *cell = text;

	if (read_beginning(fd, text, sizeof(text)) == 0)
		return TIME_FORM_UNKNOWN;
	cell += strcspn(cell, "\n");
	cell += *cell != '\0';
	for (; *cell && place > 0; place--) {
		cell += strcspn(cell, ",\n");
		cell += *cell == ',';
	}
	if (*cell < '0' || *cell > '9')
		return TIME_FORM_UNKNOWN;
	/* 2026-11-22T19:00:55.123456Z or 1795374055.123456 */
	return cell[strspn(cell, "0123456789.")] == '-' ? TIME_FORM_ISO : TIME_FORM_EPOCH;
}

enum time_form read_time_form_jsonl(int fd)
{
	static const char key[] = "\"timestamp\":";
	char text[2 * HEAD_MAX];
	const char *value;

	if (read_beginning(fd, text, sizeof(text)) == 0)
		return TIME_FORM_UNKNOWN;
	value = strstr(text, key);
	if (!value)
		return TIME_FORM_UNKNOWN;
	return value[sizeof(key) - 1] == '"' ? TIME_FORM_ISO : TIME_FORM_EPOCH;
}
