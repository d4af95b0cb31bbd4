/* SPDX-License-Identifier: MIT */
/* Watches for members that leave the cgroup of their command.
 *
 * v2 shows where a process was even after its exit, so the supervisor checks what it reaps. v1
 * shows it for running processes alone, so they are looked at from time to time. Processes that are
 * left running at the end are looked at in any case. */
#ifndef RTI_CGROUP_WATCH_H
#define RTI_CGROUP_WATCH_H

struct rt_command;

/* Begin, at the start of a command. */
void rti_cgroup_watch_begin(struct rt_command *c);

/* Look at all members that run, and plan the next look. */
void rti_cgroup_watch_look(struct rt_command *c);

#endif
