/* SPDX-License-Identifier: MIT */
/* Builds the paths of files below /proc and /sys. */
#include "os/procfs_path.h"

#include <string.h>

#include "util/decimal.h"

/* Returns the address of the NUL. */
static char *append_text(char *at, const char *text)
{
	size_t len = strlen(text);

	memcpy(at, text, len + 1);
	return at + len;
}

struct rti_path rti_pid_path(int32_t pid, const char *file)
{
	struct rti_path path;
	char *at = rti_decimal(path.text, (uint32_t)pid);

	*at++ = '/';
	append_text(at, file);
	return path;
}

struct rti_path rti_task_path(int32_t pid, int32_t tid, const char *file)
{
	struct rti_path path;
	char *at = rti_decimal(path.text, (uint32_t)pid);

	at = append_text(at, "/task/");
	at = rti_decimal(at, (uint32_t)tid);
	*at++ = '/';
	append_text(at, file);
	return path;
}

struct rti_path rti_class_path(const char *class, const char *name, const char *file)
{
	struct rti_path path;
	char *at = append_text(append_text(append_text(path.text, "class/"), class), "/");

	for (; *name; name++)
		*at++ = *name == '/' ? '!' : *name;
	*at++ = '/';
	append_text(at, file);
	return path;
}

int32_t rti_path_number(const char *name)
{
	int64_t number = 0;

	for (; *name; name++) {
		if (*name < '0' || *name > '9')
			return 0;
		number = number * 10 + (*name - '0');
		if (number > INT32_MAX)
			return 0;
	}
	return (int32_t)number;
}
