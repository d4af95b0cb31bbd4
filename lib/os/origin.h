/* SPDX-License-Identifier: MIT */
/* Files relative to the one that this code was loaded from, like $ORIGIN of ld.so(8).
 *
 * They are installed with the library. So a build tree or an installation can be moved as a
 * whole. */
#ifndef RTI_ORIGIN_H
#define RTI_ORIGIN_H

#define RTI_ORIGIN_PATH_MAX 4096

/* A file that was found. Only root and the caller can exchange what is in its directory. So use it
 * by the descriptor of that: rti_origin_descriptor_path(). The path as text may lead elsewhere by
 * then. E.g.: another user may rename a directory that is above. */
struct rti_origin_file {
	int dir;                        /* O_PATH; the caller closes it */
	const char *name;               /* in dir; the end of path */
	char path[RTI_ORIGIN_PATH_MAX]; /* for messages and argv[0] */
};

/* Find a file by a name that is relative to the directory of this library. Returns 0; -EMFILE or
 * -ENFILE; or -ENOENT: there is none, or
 * - this code is part of the program: its name is argv[0], which the caller of the program chooses;
 * - the program has more rights than its caller (AT_SECURE);
 * - the library was loaded by a relative name: the host may have changed its directory since;
 * - the library lies where it was installed, so a path that was compiled in leads to the file;
 * - the file is a symbolic link, or others than root and the caller may write to it or to its
 *   directory. */
int rti_origin_open(const char *name, struct rti_origin_file *out);

/* Room for the path of a name in a directory. */
#define RTI_DESCRIPTOR_PATH_MAX 320

/* Make a path that leads to a name in an open directory, through /proc. It is of use to this
 * process and to one that it forks, while the descriptor is open. */
void rti_origin_descriptor_path(int dir, const char *name, char out[RTI_DESCRIPTOR_PATH_MAX]);

#endif
