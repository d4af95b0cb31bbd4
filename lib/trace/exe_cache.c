/* SPDX-License-Identifier: MIT */
/* The paths of programs, by the device and inode of their file. */
#include "trace/exe_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/process/program_file.h"

/* A path has its place in one of several groups. If the group is full, its members are replaced in
 * turn: the path is read again if a process still executes the file, and is unknown otherwise. */
#define GROUPS 64
#define WAYS 8
#define PATH_BYTES 257 /* one more than an event has room for, so that a cut is seen */

struct slot {
	struct rti_exe_file file;
	char path[PATH_BYTES];
};

struct group {
	struct slot slots[WAYS];
	unsigned next; /* to replace */
};

struct rti_exe_cache {
	struct group groups[GROUPS];
};

int rti_exe_cache_new(struct rti_exe_cache **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static bool copy_path(const char *from, char *path, size_t size)
{
	size_t len = strnlen(from, size);
	bool fits = len < size;

	if (!fits)
		len = size - 1;
	memcpy(path, from, len);
	path[len] = '\0';
	return fits;
}

static struct group *group_of(struct rti_exe_cache *cache, struct rti_exe_file file)
{
	return &cache->groups[(file.inode ^ file.device) % GROUPS];
}

/* Returns NULL if it is not there. */
static struct slot *find_slot(struct group *group, struct rti_exe_file file)
{
	for (struct slot *slot = group->slots; slot < group->slots + WAYS; slot++) {
		if (slot->file.inode == file.inode && slot->file.device == file.device)
			return slot;
	}
	return NULL;
}

void rti_exe_cache_add(struct rti_exe_cache *cache, struct rti_exe_file file, const char *path)
{
	struct group *group = group_of(cache, file);
	struct slot *slot = find_slot(group, file);

	if (!slot)
		slot = &group->slots[group->next++ % WAYS];
	slot->file = file;
	copy_path(path, slot->path, sizeof(slot->path));
}

bool rti_exe_cache_get(struct rti_exe_cache *cache, struct rti_exe_file file, int32_t pid,
                       char *path, size_t size)
{
	const struct slot *slot;
	struct rti_exe_file found;
	char found_path[PATH_BYTES];

	*path = '\0';
	if (!file.inode)
		return true;
	slot = find_slot(group_of(cache, file), file);
	if (slot)
		return copy_path(slot->path, path, size);
	/* The process may have executed another program since. The device is no help: see
	 * os/process/program_file.h. */
	if (pid <= 0 ||
	    rti_program_file(pid, &found.device, &found.inode, found_path, sizeof(found_path)) <
	        0 ||
	    found.inode != file.inode)
		return true;
	rti_exe_cache_add(cache, file, found_path);
	return copy_path(found_path, path, size);
}

void rti_exe_cache_free(struct rti_exe_cache *cache)
{
	free(cache);
}
