/* SPDX-License-Identifier: MIT */
/* Files relative to the one that this code was loaded from, like $ORIGIN of ld.so(8).
 *
 * They are installed with the library. So a build tree or an installation can be moved as a
 * whole. */
#ifndef RTI_ORIGIN_H
#define RTI_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

#define RTI_ORIGIN_PATH_MAX 4096

/* A file that was found. Only those can exchange what is in its directory that could have exchanged
 * the library. So use it by the descriptor of that: rti_origin_descriptor_path(). The path as text
 * may lead elsewhere by then. E.g.: another user may rename a directory that is above. */
struct rti_origin_file {
	int dir;                        /* the caller closes it */
	const char *name;               /* in dir; the end of path; "": dir is the file itself */
	char path[RTI_ORIGIN_PATH_MAX]; /* for messages and argv[0] */
	/* Of what path names, which rti_origin_is_refused() resolves: the file or its directory. */
	uint32_t uid, gid, mode;
};

/* Find a file of the library by its name. origin.c has the places, and which of them are not looked
 * at: if this code is part of the program or was loaded by a relative name, and if the program has
 * more rights than its caller (AT_SECURE) and the library is not where it was configured to be.
 *
 * Returns 0; -EMFILE or -ENFILE; -ENOENT: there is none, or it is a symbolic link; or -EPERM: there
 * is one, but others may change it or its directory. */
int rti_origin_open(const char *name, struct rti_origin_file *out);

/* After -EPERM: find the file that was refused. Returns false if there is none. Opens nothing. */
bool rti_origin_is_refused(const char *name, struct rti_origin_file *out);

/* Note which file this code is loaded from. Called at that time, and by tests. */
void rti_origin_note_library(void);

/* Room for the path of a name in a directory. */
#define RTI_DESCRIPTOR_PATH_MAX 320

/* Make a path that leads to a name in an open directory, through /proc; with the name "", to an
 * open file. It is of use to this process and to one that it forks, while the descriptor is
 * open. */
void rti_origin_descriptor_path(int dir, const char *name, char out[RTI_DESCRIPTOR_PATH_MAX]);

#endif
