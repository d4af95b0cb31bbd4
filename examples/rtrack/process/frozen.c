/* SPDX-License-Identifier: MIT */
/* Whether a process cannot act on signals. */
#include "frozen.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cgroup_mounts.h"

enum { PATH_BYTES = 2200, LINE_BYTES = 1200 };

#define BIT(signal) (UINT64_C(1) << ((signal)-1))

static FILE *open_of(int32_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/%s", pid, name);
	return fopen(path, "re");
}

/* E.g.: "FROZEN" of v1; "frozen 1" of v2. */
static bool says_frozen(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[64];
	bool is_frozen = false;

	while (file && !is_frozen && fgets(line, sizeof(line), file))
		is_frozen = strncmp(line, "FR", 2) == 0 || strcmp(line, "frozen 1\n") == 0;
	if (file)
		fclose(file);
	return is_frozen;
}

/* Look at a cgroup wherever its hierarchy is mounted: only that of the freezer has these files. */
static bool is_frozen_in(const char *cgroup, bool is_v2)
{
	FILE *list = cgroup_mounts_open();
	struct cgroup_mount mount;
	char path[PATH_BYTES];
	bool is_frozen = false;

	while (list && !is_frozen && cgroup_mounts_next(list, &mount)) {
		size_t root = strcmp(mount.root, "/") == 0 ? 0 : strlen(mount.root);

		if (mount.is_v2 != is_v2 || strncmp(cgroup, mount.root, root) != 0)
			continue;
		snprintf(path, sizeof(path), "%s%s/%s", mount.point, cgroup + root,
		         is_v2 ? "cgroup.events" : "freezer.state");
		is_frozen = says_frozen(path);
	}
	if (list)
		fclose(list);
	return is_frozen;
}

bool process_is_frozen(int32_t pid)
{
	FILE *file = open_of(pid, "cgroup");
	char line[LINE_BYTES];
	bool is_frozen = false;

	while (file && !is_frozen && fgets(line, sizeof(line), file)) {
		const char *path = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (path && cgroup_line_has(line, "freezer"))
			is_frozen = is_frozen_in(path, strncmp(line, "0::", 3) == 0);
	}
	if (file)
		fclose(file);
	return is_frozen;
}

/* The kernel turns a pending fatal signal into SIGKILL. */
bool process_is_deaf(int32_t pid)
{
	const uint64_t ends =
	    BIT(SIGTERM) | BIT(SIGHUP) | BIT(SIGINT) | BIT(SIGQUIT) | BIT(SIGKILL);
	FILE *file = open_of(pid, "status");
	uint64_t mask, pending = 0, blocked = 0;
	char line[256], state = '?';

	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "State: %c", &state);
		if (sscanf(line, "SigPnd: %" SCNx64, &mask) == 1 ||
		    sscanf(line, "ShdPnd: %" SCNx64, &mask) == 1)
			pending |= mask;
		sscanf(line, "SigBlk: %" SCNx64, &blocked);
	}
	if (file)
		fclose(file);
	return pending & ~blocked & ends && (state == 'D' || process_is_frozen(pid));
}
