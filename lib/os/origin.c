/* SPDX-License-Identifier: MIT */
/* Files relative to the one that this code was loaded from, like $ORIGIN of ld.so(8). */
#include "os/origin.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/decimal.h"

#define NAME_MAX_BYTES 255

/* Whether an address is in the main program. A program that ld.so has loaded says in PT_PHDR how
 * far it was moved. One without it is linked statically, so it has no other code. */
static bool is_in_program(uintptr_t address)
{
	const ElfW(Phdr) *headers = (const void *)getauxval(AT_PHDR);
	size_t count = headers ? getauxval(AT_PHNUM) : 0, i = 0;
	uintptr_t moved;

	while (i < count && headers[i].p_type != PT_PHDR)
		i++;
	if (i == count)
		return true;
	moved = (uintptr_t)headers - headers[i].p_vaddr;
	for (i = 0; i < count; i++)
		if (headers[i].p_type == PT_LOAD &&
		    address - moved - headers[i].p_vaddr < headers[i].p_memsz)
			return true;
	return false;
}

/* Make the path of a name beside the library. Returns 0 or -ENOENT. */
static int join(const char *library, const char *name, struct rti_origin_file *out)
{
	size_t dir_len = (size_t)(strrchr(library, '/') - library), name_len = strlen(name);

	if (dir_len + 1 + name_len >= sizeof(out->path))
		return -ENOENT;
	if (dir_len == strlen(RTI_LIBDIR) && memcmp(library, RTI_LIBDIR, dir_len) == 0)
		return -ENOENT;
	memcpy(out->path, library, dir_len + 1);
	memcpy(out->path + dir_len + 1, name, name_len + 1);
	return 0;
}

/* Whether only root and the caller can change a file. An access list that lets others write shows
 * in the bits of the group. The group that the caller's files get by default may be its own. E.g.:
 * a user with umask 002. That does not hold for root, which works for all users. */
static bool is_ours(const struct stat *file)
{
	uid_t user = geteuid();

	if ((file->st_uid != 0 && file->st_uid != user) || file->st_mode & S_IWOTH)
		return false;
	return !(file->st_mode & S_IWGRP) || file->st_gid == 0 ||
	       (user != 0 && file->st_uid == user && file->st_gid == getegid());
}

/* Open the directory of a path. */
static int open_dir(struct rti_origin_file *file)
{
	char *slash = strrchr(file->path, '/');

	*slash = '\0';
	file->dir = open(file->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*slash = '/';
	file->name = slash + 1;
	if (file->dir >= 0)
		return 0;
	return errno == EMFILE || errno == ENFILE ? -errno : -ENOENT;
}

int rti_origin_open(const char *name, struct rti_origin_file *out)
{
	struct stat file;
	Dl_info self;
	int err;

	out->dir = -1;
	if (getauxval(AT_SECURE) || is_in_program((uintptr_t)rti_origin_open) ||
	    !dladdr((void *)(uintptr_t)rti_origin_open, &self) || !self.dli_fname ||
	    self.dli_fname[0] != '/')
		return -ENOENT;
	err = join(self.dli_fname, name, out);
	if (err == 0)
		err = open_dir(out);
	if (err < 0)
		return err;
	if (fstat(out->dir, &file) == 0 && is_ours(&file) &&
	    fstatat(out->dir, out->name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(file.st_mode) && is_ours(&file))
		return 0;
	close(out->dir);
	out->dir = -1;
	return -ENOENT;
}

void rti_origin_descriptor_path(int dir, const char *name, char out[RTI_DESCRIPTOR_PATH_MAX])
{
	static const char descriptors[] = "/proc/self/fd/";
	size_t name_len = strnlen(name, NAME_MAX_BYTES);
	char *at = out + sizeof(descriptors) - 1;

	memcpy(out, descriptors, sizeof(descriptors));
	at = rti_decimal(at, (uint64_t)dir);
	*at++ = '/';
	memcpy(at, name, name_len);
	at[name_len] = '\0';
}
