/* SPDX-License-Identifier: MIT */
/* Takes samples with this library, through its public header alone. Variants:
 *
 *   -       the default options, except that only some figures are requested
 *   each    may read PSS in each sample, at any cost
 *   gpu     the GPUs of the tree, too
 *   text    may not load a BPF program, so that all figures come from files
 *   default all default options
 *   default-text  likewise, and it may not load a BPF program
 *   default-no-pss  likewise, and it estimates the footprint and reads nothing for that
 *   events  receives process events; text-events: those of the proc connector */
#include "driver.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#define WANT_TREE (RT_HAS_CPU | RT_HAS_RSS | RT_HAS_IO | RT_HAS_PROCESSES)
#define WANT_STAT (RT_HAS_CPU | RT_HAS_CPU_MODES | RT_HAS_ACTIVITY)
#define WANT_MEMORY (RT_HAS_MEMORY | RT_HAS_MEMORY_AVAILABLE)
#define WANT_SYSTEM (WANT_STAT | WANT_MEMORY | RT_HAS_DISK | RT_HAS_NETWORK | RT_HAS_LOAD)
#define NO_LIMIT 1000 /* of rt_opts.pss_share */

static struct rt_tracker *tracker;
static struct rt_metrics metrics;
static uint64_t wanted;

/* Drop the capabilities that loading a BPF program needs, and keep those that reading the files of
 * other users needs. The bounding set may stay, because this program executes no other. The kernel
 * shrinks the ambient set itself. */
static void drop_bpf_capabilities(void)
{
	static const int needed[] = { CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN };
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, held) < 0)
		fail_with_errno("capget");
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		struct __user_cap_data_struct *sets = &held[CAP_TO_INDEX(needed[i])];

		sets->effective &= ~CAP_TO_MASK(needed[i]);
		sets->permitted &= ~CAP_TO_MASK(needed[i]);
		sets->inheritable &= ~CAP_TO_MASK(needed[i]);
	}
	if (syscall(SYS_capset, &header, held) < 0)
		fail_with_errno("capset");
}

void open_target(const struct target *target)
{
	struct rt_opts opts = { .size = sizeof(opts) };
	int err;

	bool is_default = strncmp(target->variant, "default", strlen("default")) == 0;

	if (strstr(target->variant, "text"))
		drop_bpf_capabilities();
	wanted = target->kind == KIND_SYSTEM ? WANT_SYSTEM : WANT_TREE;
	wanted |= target->with_pss ? RT_HAS_PSS : 0;
#ifdef RT_HAS_GPU /* of trees since 0.3 */
	if (strcmp(target->variant, "gpu") == 0)
		wanted |= RT_HAS_GPU | RT_HAS_GPU_MEMORY;
#endif
	if (is_default)
		wanted = 0;
	opts.want = wanted;
	opts.flags = target->kind == KIND_PID ? RT_OPT_NO_CHILDREN : 0;
#ifdef RT_OPT_PROCESS_EVENTS /* since 0.2 */
	if (strstr(target->variant, "events"))
		opts.flags |= RT_OPT_PROCESS_EVENTS;
#endif
#ifdef RT_OPT_NO_MEMORY_READS /* since 0.3 */
	if (strstr(target->variant, "no-pss"))
		opts.flags |= RT_OPT_NO_MEMORY_READS;
#endif
#ifdef RT_PSS_READ /* since 0.2 */
	if (strcmp(target->variant, "each") == 0) {
		opts.pss_share = NO_LIMIT;
		opts.pss_hold_us = UINT32_MAX;
	}
#endif
	if (target->kind == KIND_SYSTEM)
		err = rt_system_tracker_new(&tracker, &opts);
	else
		err = rt_pid_tracker_new(&tracker, target->pid, &opts);
	errno = -err;
	if (err < 0)
		fail_with_errno("tracker");
}

int64_t sample_target(void)
{
	int err = rt_sample(tracker, &metrics, sizeof(metrics));
	uint64_t estimated = 0;

#ifdef RT_HAS_PEAK_FOOTPRINT /* since 0.3 */
	estimated = metrics.estimated;
#endif
	errno = -err;
	if (err < 0)
		fail_with_errno("sample");
	if (metrics.kind == RT_KIND_SYSTEM)
		return 0;
	/* Figures that were not read would make the sample look cheap. */
	if (((metrics.valid | metrics.partial | estimated) & wanted) != wanted) {
		errno = ENODATA;
		fail_with_errno("sample");
	}
	return (int64_t)metrics.processes;
}

const char *describe_sample(void)
{
#ifdef RT_PSS_READ
	static const char *const pss[] = { "-", "read", "cached", "estimated" };
	static const char *const source[] = { "-", "proc", "bpf" };
	static char note[64];

	snprintf(note, sizeof(note), "pss:%s,source:%s",
	         metrics.pss_source < 4 ? pss[metrics.pss_source] : "?",
	         metrics.source < 3 ? source[metrics.source] : "?");
	return note;
#else
	return "-";
#endif
}
