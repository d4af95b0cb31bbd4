/* SPDX-License-Identifier: MIT */
/* Finding what is installed along with us: from where the file lies that this code is in, so
 * that a build tree or an installation may be moved as a whole. */
#ifndef RTI_ORIGIN_H
#define RTI_ORIGIN_H

#define RTI_ORIGIN_PATH_MAX 4096

/* Absolute path of a name that is relative to our directory, or "" where that is not to be
 * trusted or does not fit. */
void rti_origin_path(const char *name, char out[RTI_ORIGIN_PATH_MAX]);

#endif
