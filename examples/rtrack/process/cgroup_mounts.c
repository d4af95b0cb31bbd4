/* SPDX-License-Identifier: MIT */
/* Reads where the hierarchies of cgroups are mounted, from /proc/self/mountinfo, and which one a
 * process names. */
#include "cgroup_mounts.h"

#include <stdlib.h>
#include <string.h>

FILE *cgroup_mounts_open(void)
{
	return fopen("/proc/self/mountinfo", "re");
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Spaces, tabs, line feeds and backslashes of a path are written as \040, \011, \012 and \134. */
static void decode(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		if (from[0] == '\\' && is_octal(from[1]) && is_octal(from[2]) &&
		    is_octal(from[3])) {
			*to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* A line has id, parent, device, root, mount point, options and optional fields, then " - " and the
 * type: "30 24 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw". */
static bool parse(const char *line, struct cgroup_mount *mount)
{
	const char *type = strstr(line, " - ");

	if (!type)
		return false;
	type += strlen(" - ");
	mount->is_v2 = strncmp(type, "cgroup2 ", strlen("cgroup2 ")) == 0;
	if (!mount->is_v2 && strncmp(type, "cgroup ", strlen("cgroup ")) != 0)
		return false;
	if (sscanf(line, "%*s %*s %*s %1023s %1023s", mount->root, mount->point) != 2)
		return false;
	decode(mount->root);
	decode(mount->point);
	return true;
}

bool cgroup_mounts_next(FILE *list, struct cgroup_mount *mount)
{
	char *line = NULL;
	size_t size = 0;
	bool is_found = false;

	while (!is_found && getline(&line, &size, list) > 0)
		is_found = parse(line, mount);
	free(line);
	return is_found;
}

bool cgroup_line_has(const char *line, const char *controller)
{
	const char *at = strchr(line, ':');
	size_t len = strlen(controller);

	if (strncmp(line, "0::", 3) == 0)
		return true;
	for (at = at ? at + 1 : ""; *at && *at != ':'; at += strcspn(at, ",:"), at += *at == ',') {
		if (strncmp(at, controller, len) == 0 && strchr(",:", at[len]))
			return true;
	}
	return false;
}
