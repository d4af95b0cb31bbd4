/* SPDX-License-Identifier: MIT */
/* Which descriptors of the members are of GPUs.
 *
 * To list the descriptors of a process costs some 10 us, so it is done when something suggests a
 * change, by the cheapest sign that there is:
 *
 *   sign                                                looked at
 *   --------------------------------------------------  -----------------------------------
 *   the member is new                                   once
 *   its address space has changed by 1 MiB or more      when the member is read
 *   it has run, and has more or less descriptors (6.2)  in turn: 1 member in 128 a sample
 *   it has run                                          every 16th of these times
 *   it has a GPU open                                   each sample by number, else each second
 *
 * E.g.: a program that starts to use a GPU loads a library of many MiB first. Where the kernel does
 * not say the number, the turn lists the descriptors of 1 member in 1024. Without a driver of a GPU
 * nothing is looked at. */
#ifndef RTI_GPU_FILES_H
#define RTI_GPU_FILES_H

#include "os/procfs.h"
#include "tree/state/state.h"

/* Returns the path of a file of a process, or of its thread tid unless that is 0. */
struct rti_path rti_gpu_files_path(int32_t pid, int32_t tid, const char *file);

/* Look for GPUs, and for descriptors of them. */
void rti_gpu_files_update(struct rti_tree *tree);

/* List the descriptors of a member again. */
void rti_gpu_files_list(struct rti_tree *tree, struct rti_member *m);

/* Note that a member was read: it may be due. */
void rti_gpu_files_note_read(struct rti_tree_gpu *gpu, struct rti_member *m);

void rti_gpu_files_free(struct rti_gpu_files *files);

#endif
