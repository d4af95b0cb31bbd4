/* SPDX-License-Identifier: MIT */
/* Opens files below a directory as if that were "/": links do not lead out of it. */
#ifndef RTI_OPEN_IN_ROOT_H
#define RTI_OPEN_IN_ROOT_H

/* As openat(2). Returns a descriptor or -errno: -ELOOP after 40 links. Before Linux 5.6, it
 * allocates memory. */
int rti_open_in_root(int root, const char *path, int flags);

/* The same without openat2(2), for kernels before 5.6, and filters that refuse it. */
int rti_open_in_root_by_steps(int root, const char *path, int flags);

#endif
