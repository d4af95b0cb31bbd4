/* SPDX-License-Identifier: MIT */
/* The paths of programs, by the device and inode of their file. */
#include "trace/exe_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/program_file.h"

/* Direct-mapped: a program that takes the place of another costs a readlink(2), no more. */
#define SLOTS 256
#define PATH_BYTES 257 /* one more than an event has room for, so that a cut is seen */

struct slot {
	struct rti_exe_file file;
	char path[PATH_BYTES];
};

struct rti_exe_cache {
	struct slot slots[SLOTS];
};

int rti_exe_cache_new(struct rti_exe_cache **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static bool copy_path(const char *from, char *path, size_t size)
{
	size_t len = strlen(from);
	bool fits = len < size;

	if (!fits)
		len = size - 1;
	memcpy(path, from, len);
	path[len] = '\0';
	return fits;
}

static struct slot *slot_of(struct rti_exe_cache *cache, struct rti_exe_file file)
{
	return &cache->slots[(file.inode ^ file.device) % SLOTS];
}

void rti_exe_cache_add(struct rti_exe_cache *cache, struct rti_exe_file file, const char *path)
{
	struct slot *slot = slot_of(cache, file);

	slot->file = file;
	copy_path(path, slot->path, sizeof(slot->path));
}

bool rti_exe_cache_get(struct rti_exe_cache *cache, struct rti_exe_file file, int32_t pid,
                       char *path, size_t size)
{
	struct slot *slot = slot_of(cache, file);
	struct rti_exe_file found;
	char found_path[PATH_BYTES];

	*path = '\0';
	if (!file.inode)
		return true;
	if (slot->file.inode == file.inode && slot->file.device == file.device)
		return copy_path(slot->path, path, size);
	/* The process may have executed another program since. */
	if (pid <= 0 ||
	    rti_program_file(pid, &found.device, &found.inode, found_path, sizeof(found_path)) <
	        0 ||
	    found.device != file.device || found.inode != file.inode)
		return true;
	rti_exe_cache_add(cache, file, found_path);
	return copy_path(slot->path, path, size);
}

void rti_exe_cache_free(struct rti_exe_cache *cache)
{
	free(cache);
}
