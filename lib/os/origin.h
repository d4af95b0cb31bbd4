/* SPDX-License-Identifier: MIT */
/* Paths relative to the file that this code was loaded from, like $ORIGIN of ld.so(8).
 *
 * They lead to what is installed with the library. So a build tree or an installation can be
 * moved as a whole. */
#ifndef RTI_ORIGIN_H
#define RTI_ORIGIN_H

#define RTI_ORIGIN_PATH_MAX 4096

/* Make an absolute path of a name that is relative to this library's directory. Sets out to ""
 * if the directory cannot be trusted or the path does not fit. */
void rti_origin_path(const char *name, char out[RTI_ORIGIN_PATH_MAX]);

#endif
