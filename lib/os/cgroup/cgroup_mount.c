/* SPDX-License-Identifier: MIT */
/* Which part of a cgroup hierarchy a mount shows. */
#include "os/cgroup/cgroup_mount.h"

#include <stddef.h>
#include <string.h>

const char *rti_cgroup_below_mount(const char *name, const struct rti_scan *escaped_root)
{
	char root[1024];
	size_t len;

	if (!rti_scan_copy_unescaped(escaped_root, root, sizeof(root)))
		return NULL;
	len = strlen(root);
	if (len > 1) {
		if (strncmp(name, root, len) != 0 || (name[len] && name[len] != '/'))
			return NULL;
		name += len;
	}
	/* A component "..": the cgroup lies outside of what is visible. */
	for (const char *at = strstr(name, "/.."); at; at = strstr(at + 1, "/.."))
		if (at[3] == '\0' || at[3] == '/')
			return NULL;
	return strcmp(name, "/") == 0 ? "" : name;
}
