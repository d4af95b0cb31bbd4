/* SPDX-License-Identifier: MIT */
/* Where the members of a tree without a root come from. */
#ifndef RTI_MEMBER_LIST_H
#define RTI_MEMBER_LIST_H

#include <stdint.h>

/* Calls each() for every process that is a member now. Returns 0 or -errno. */
typedef int rti_tree_list(void *arg, int (*each)(void *each_arg, int32_t pid), void *each_arg);

/* An rti_tree_list of all processes that /proc shows. arg: the struct rti_context of the tree. */
int rti_tree_list_all(void *arg, int (*each)(void *each_arg, int32_t pid), void *each_arg);

#endif
