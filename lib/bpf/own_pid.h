/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Pids as the process that has loaded the programs sees them: in its own pid namespace.
 *
 * For BPF programs. */
#ifndef RTI_OWN_PID_H
#define RTI_OWN_PID_H

#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Of 32 levels (include/linux/pid_namespace.h, MAX_PID_NS_LEVEL) with 16 bytes each. */
#define ENTRY_OFFSET_MASK 1023u

/* The pid namespace of the reader. Set by note_own_namespace(). */
__u64 own_namespace;
__u32 own_level;

/* The entry of a pid in the pid namespace with this level. Linux 6.1 adds a number to a typed
 * pointer only if it knows the number's bounds, which the mask shows. */
static const struct upid *entry_of(const struct pid *pid, __u32 level)
{
	__u32 at = level * bpf_core_type_size(struct upid);

	return (const void *)pid + bpf_core_field_offset(struct pid, numbers) +
	       (at & ENTRY_OFFSET_MASK);
}

static void note_own_namespace(const struct task_struct *reader)
{
	const struct pid *pid = BPF_CORE_READ(reader, thread_pid); /* a number: Linux 6.1 */
	const struct upid *number;
	struct pid_namespace *namespace = NULL;

	own_level = BPF_CORE_READ(pid, level);
	number = entry_of(pid, own_level);
	bpf_core_read(&namespace, sizeof(namespace), &number->ns);
	own_namespace = (__u64) namespace;
}

/* The number of a process or thread in the pid namespace of the reader; 0: it is not in it. */
static __s32 own_number(const struct pid *pid)
{
	const struct upid *number;
	struct pid_namespace *namespace = NULL;
	__s32 nr = 0;

	if (!pid || BPF_CORE_READ(pid, level) < own_level)
		return 0;
	number = entry_of(pid, own_level);
	bpf_core_read(&namespace, sizeof(namespace), &number->ns);
	if ((__u64) namespace != own_namespace)
		return 0;
	bpf_core_read(&nr, sizeof(nr), &number->nr);
	return nr;
}

static __s32 own_pid(const struct task_struct *task)
{
	return own_level ? own_number(BPF_CORE_READ(task, signal, pids[PIDTYPE_TGID]))
	                 : BPF_CORE_READ(task, tgid);
}

#endif
