/* SPDX-License-Identifier: MIT */
/* Files relative to the one that this code was loaded from, like $ORIGIN of ld.so(8). */
#include "os/origin.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/decimal.h"

#define NAME_MAX_BYTES 255
#define UNMAPPED 65534 /* stands for every user that a user namespace does not know */

/* Where files may lie, relative to the directory of the library: in a build tree or a package of
 * one directory, where plug-ins are, and where an installation has programs. A path is absolute
 * only if the build was asked for it. */
static const char *const places[] = {
	"",
	"librtrack/",
	RTI_HELPERS_FROM_LIB,
#ifdef RTI_HELPER_PATH
	RTI_HELPER_PATH,
#endif
};
#define PLACES (sizeof(places) / sizeof(places[0]))

/* The file of this code as it was when it was loaded. No permissions: it is not known. Written by
 * rti_origin_note_library() only. */
static struct stat library;

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

/* Returns the name that the library was loaded by, or NULL if it does not lead to the library: this
 * code is part of the program, so its caller chooses the name; or the name is relative, and the
 * host may have changed its directory since. */
static const char *library_path(void)
{
	uintptr_t here = (uintptr_t)rti_origin_open;
	Dl_info self;

	if (is_in_program(here) || !dladdr((void *)here, &self) || !self.dli_fname ||
	    self.dli_fname[0] != '/')
		return NULL;
	return self.dli_fname;
}

/* By the time that a helper is started, the path may lead elsewhere. */
__attribute__((constructor)) void rti_origin_note_library(void)
{
	const char *path = library_path();

	if (!path || stat(path, &library) < 0)
		library = (struct stat){ 0 };
}

/* Store the directory of the library, with a slash at its end and no symbolic link in it. Returns
 * its length; 0: it is not known; -EMFILE; or -ENFILE. */
static int find_directory(char *out)
{
	const char *path = library_path();
	char link[RTI_DESCRIPTOR_PATH_MAX];
	ssize_t len;
	int fd;

	if (!path)
		return 0;
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		return -errno;
	if (fd < 0) { /* it was removed since */
		len = (ssize_t)strnlen(path, RTI_ORIGIN_PATH_MAX);
		memcpy(out, path, (size_t)len);
	} else {
		rti_origin_descriptor_path(fd, "", link);
		len = readlink(link, out, RTI_ORIGIN_PATH_MAX);
		close(fd);
	}
	if (len >= RTI_ORIGIN_PATH_MAX)
		return 0;
	while (len > 0 && out[len - 1] != '/')
		len--;
	out[len > 0 ? len : 0] = '\0';
	return len > 0 ? (int)len : 0;
}

/* Whether a directory is the one that the library was configured for. */
static bool is_configured(const char *dir)
{
	struct stat found, configured;

	return stat(dir, &found) == 0 && stat(RTI_LIBDIR, &configured) == 0 &&
	       found.st_dev == configured.st_dev && found.st_ino == configured.st_ino;
}

/* Whether a file can be changed only by users that could have changed the library before it was
 * loaded: root, the caller, and those that may write to the library's file. An access list that
 * lets others write shows in the bits of the group. The group that the caller's files get by
 * default may be its own. E.g.: a user with umask 002. That does not hold for root, which works for
 * all users. */
static bool is_ours(const struct stat *file, bool is_at_home)
{
	uid_t user = geteuid();
	bool is_of_user = file->st_uid == user;

	if (file->st_mode & S_IWOTH)
		return false;
	if (file->st_uid != 0 && !is_of_user &&
	    (!library.st_mode || file->st_uid != library.st_uid))
		return false;
	/* That two files have such an owner does not mean that they have the same. */
	if (file->st_uid == UNMAPPED && !is_at_home)
		return false;
	if (!(file->st_mode & S_IWGRP) || file->st_gid == 0)
		return true;
	if (library.st_mode & S_IWGRP && file->st_gid == library.st_gid)
		return true;
	return user != 0 && is_of_user && file->st_gid == getegid();
}

/* Open the directory of a path. */
static int open_dir(struct rti_origin_file *file)
{
	char *slash = strrchr(file->path, '/');

	*slash = '\0';
	file->dir = open(*file->path ? file->path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	*slash = '/';
	file->name = slash + 1;
	if (file->dir >= 0)
		return 0;
	return errno == EMFILE || errno == ENFILE ? -errno : -ENOENT;
}

/* Make the path that of the file, or of its directory, as it is by now: with no symbolic link and
 * no ".." in it. */
static void resolve(struct rti_origin_file *out, bool is_dir)
{
	char link[RTI_DESCRIPTOR_PATH_MAX], name[NAME_MAX_BYTES + 1] = "";
	size_t len = strnlen(out->name, NAME_MAX_BYTES);
	ssize_t dir_len;

	memcpy(name, out->name, len);
	rti_origin_descriptor_path(out->dir, "", link);
	dir_len = readlink(link, out->path, sizeof(out->path) - sizeof(name) - 1);
	if (dir_len < 0) /* no /proc */
		dir_len = out->name - 1 - out->path;
	if (!is_dir) {
		out->path[dir_len] = '/';
		memcpy(out->path + dir_len + 1, name, len + 1);
	} else {
		out->path[dir_len] = '\0';
	}
}

/* Look at one file. Returns 0 with its directory open; or as rti_origin_open(). With describes, the
 * path of what is refused is resolved. */
static int look(struct rti_origin_file *out, bool is_at_home, bool describes)
{
	struct stat dir, file;
	int err = open_dir(out);

	if (err < 0)
		return err;
	if (fstat(out->dir, &dir) == 0 &&
	    fstatat(out->dir, out->name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(file.st_mode)) {
		bool is_dir_ours = is_ours(&dir, is_at_home);
		const struct stat *refused = is_dir_ours ? &file : &dir;

		if (is_dir_ours && is_ours(&file, is_at_home))
			return 0;
		out->uid = refused->st_uid;
		out->gid = refused->st_gid;
		out->mode = refused->st_mode & 07777;
		if (describes)
			resolve(out, !is_dir_ours);
		err = -EPERM;
	} else {
		err = -ENOENT;
	}
	close(out->dir);
	out->dir = -1;
	return err;
}

/* Look at one place after the other, to the first file that may be used; or, with ends_at_refused,
 * to the first that is there. */
static int walk(const char *name, struct rti_origin_file *out, bool ends_at_refused)
{
	size_t name_len = strlen(name), len;
	bool is_at_home, is_refused = false;
	int dir_len, err;

	out->dir = -1;
	dir_len = find_directory(out->path);
	if (dir_len < 0)
		return dir_len;
	is_at_home = dir_len > 0 && is_configured(out->path);
	/* A program with more rights than its caller. */
	if (getauxval(AT_SECURE) && !is_at_home)
		dir_len = 0;
	for (size_t i = 0; i < PLACES; i++) {
		size_t from = *places[i] == '/' ? 0 : (size_t)dir_len;

		len = strlen(places[i]);
		if ((from == 0 && *places[i] != '/') || from + len + name_len >= sizeof(out->path))
			continue;
		memcpy(out->path + from, places[i], len);
		memcpy(out->path + from + len, name, name_len + 1);
		err = look(out, is_at_home, ends_at_refused);
		if (err != -EPERM && err != -ENOENT)
			return err;
		is_refused |= err == -EPERM;
		if (is_refused && ends_at_refused)
			break;
	}
	return is_refused ? -EPERM : -ENOENT;
}

int rti_origin_open(const char *name, struct rti_origin_file *out)
{
	return walk(name, out, false);
}

bool rti_origin_is_refused(const char *name, struct rti_origin_file *out)
{
	int err = walk(name, out, true);

	if (err == 0)
		close(out->dir);
	out->dir = -1;
	return err == -EPERM;
}

void rti_origin_descriptor_path(int dir, const char *name, char out[RTI_DESCRIPTOR_PATH_MAX])
{
	static const char descriptors[] = "/proc/self/fd/";
	size_t name_len = strnlen(name, NAME_MAX_BYTES);
	char *at = out + sizeof(descriptors) - 1;

	memcpy(out, descriptors, sizeof(descriptors));
	at = rti_decimal(at, (uint64_t)dir);
	if (name_len)
		*at++ = '/';
	memcpy(at, name, name_len);
	at[name_len] = '\0';
}
