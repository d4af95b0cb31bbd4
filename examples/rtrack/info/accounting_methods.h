/* SPDX-License-Identifier: MIT */
/* Finds out which accounting methods work here, and what the others lack. */
#ifndef ACCOUNTING_METHODS_H
#define ACCOUNTING_METHODS_H

#include <stddef.h>

#include <rtrack/rtrack.h>

/* Run a program that does nothing with this accounting method, as rtrack run does. Returns 0 and
 * the outcome of the program, or a negative errno value. */
int accounting_method_try(uint32_t accounting, struct rt_outcome *outcome);

/* Returns what is missing for a method that failed with -EOPNOTSUPP. Never NULL. */
const char *accounting_method_missing(uint32_t accounting);

/* Returns why the library refuses a method: it says so as it refuses the start of a program. Valid
 * until the next call. Never NULL. */
const char *accounting_method_refusal(uint32_t accounting);

/* A hierarchy of cgroups: "v2", or the controllers of one of v1. E.g.: "cpu,cpuacct". */
struct accounting_hierarchy {
	char name[64];
};

/* List the hierarchies in which RT_ACCOUNTING_CGROUP makes a cgroup here. Returns how many there
 * are; 0 if the method does not work. */
size_t accounting_hierarchies(struct accounting_hierarchy out[], size_t room);

#endif
