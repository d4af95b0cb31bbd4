/* SPDX-License-Identifier: MIT */
/* Says in words why a domain of a sample is not complete. */
#include "api/obstacle_text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "bpf/refusal.h"
#include "os/capability.h"
#include "os/kernel_abi.h"
#include "util/text.h"

/* In these texts $F is the file with its path, $P the process, $E the error, $S and $H the options
 * rt_opts.pss_share and rt_opts.pss_hold_us, $C the controller of a cgroup. */

static const char *const texts[] = {
	[RTI_CAUSE_KERNEL_THREAD] =
	    "Process $P is a kernel thread, which has no memory of its own.",
	[RTI_CAUSE_OTHER_ROOT] = "The figure exists only for the running system: leave out"
				 " rt_opts.root.",
	[RTI_CAUSE_ENDED] = "Process $P had ended before $F could be read. Shorter intervals miss"
			    " less, and rt_command_start() follows a program from its start to its"
			    " end.",
	[RTI_CAUSE_UNWAITED] = "A process has ended, and no process of the tree waited for it. What"
			       " it used after its last read is not known. Shorter intervals lose"
			       " less.",
	[RTI_CAUSE_SIGCHLD] = "A process ignores SIGCHLD, so no account has what its children used."
			      " Those that start and end between two samples leave no trace.",
	[RTI_CAUSE_UNREPORTED] = "A process has ended. The kernel reports its last figures only to"
				 " the process that waits for it. rt_command_start() has a"
				 " supervisor that does.",
	[RTI_CAUSE_TICKS] =
	    "The kernel shows the CPU time of processes that were waited for in whole"
	    " clock ticks, as it does that of all processes below rt_opts.root. More"
	    " than a hundredth may be missing.",
	[RTI_CAUSE_THREAD_ENDED] =
	    "A thread of process $P has ended, and the kernel does not report"
	    " its figures to other processes. Shorter intervals lose less.",
	[RTI_CAUSE_NO_PSS_READS] = "RT_OPT_NO_PSS_READS forbids reading PSS, so it is estimated:"
				   " leave out that flag.",
	[RTI_CAUSE_PSS_UNWANTED] = "RT_HAS_PSS is not in rt_opts.want, so PSS is not read and the"
				   " peak is estimated: add that bit.",
	[RTI_CAUSE_PSS_SHARE] = "The budget for reading PSS, $S thousandths of one CPU, is used up,"
				" so PSS is estimated. Raise rt_opts.pss_share, or sample less"
				" often.",
	[RTI_CAUSE_PSS_HOLD] = "Process $P is so large that reading its PSS would block its mmap()"
			       " for more than $H us, so PSS is estimated. Raise"
			       " rt_opts.pss_hold_us if the process may be blocked for longer.",
	[RTI_CAUSE_PSS_CHANGED] = "Processes changed what they share while PSS was read, so it is"
				  " estimated. The next sample reads it again.",
	[RTI_CAUSE_EVENTS_OFF] = "Processes that start and end between two samples are not seen."
				 " Process events report them: set RT_OPT_PROCESS_EVENTS.",
	[RTI_CAUSE_EVENTS_UNHEARD] =
	    "Process events, which need the initial pid and user namespaces and, before Linux 6.6,"
	    " CAP_NET_ADMIN, cannot be received here. So processes that start and end between two"
	    " samples are not seen.",
	[RTI_CAUSE_EVENTS_LOST] = "Process events came faster than they were read, and some were"
				  " lost. Call rt_sample() or rt_tracker_glance() more often.",
	[RTI_CAUSE_EVENTS_LATE] =
	    "The supervisor counts processes with a delay. The number is exact"
	    " once the program and all that it started have ended.",
	[RTI_CAUSE_ACCOUNT_BEHIND] =
	    "Threads of the tree began or ended all the while the kernel's account of it was read."
	    " The next sample has what is missing.",
	[RTI_CAUSE_ACCOUNT_LOST] =
	    "The kernel's account of the tree lacks threads: no mark could be made for them, or no"
	    " BPF program was called when they ended.",
	[RTI_CAUSE_ACCOUNT_UNREAD] = "The kernel's account of the tree could not be read: $E.",
	[RTI_CAUSE_GPU_CLOSED] =
	    "A process has ended, or has closed a GPU, since the first sample. What it used of GPUs"
	    " after the last look at it is not known. Shorter intervals lose less.",
	[RTI_CAUSE_GPU_SHARED] =
	    "Several openings of a GPU share memory, or their driver does not say whether they do:"
	    " what they share is counted for each.",
	[RTI_CAUSE_CGROUP_CONTROLLER] =
	    "The controller $C is not enabled for the cgroup. Write +$C to"
	    " cgroup.subtree_control of each cgroup above it, or set CPUAccounting=,"
	    " MemoryAccounting=, IOAccounting= or TasksAccounting= of a systemd unit.",
	[RTI_CAUSE_CGROUP_DIRECTORY] =
	    "The controller $C is in another hierarchy (cgroup v1), where there is no cgroup of"
	    " this name. Make one there and move the processes into it, or mount cgroup v2 alone"
	    " (systemd.unified_cgroup_hierarchy=1).",
	[RTI_CAUSE_CGROUP_UNMOUNTED] =
	    "No cgroup hierarchy with the controller $C is mounted: mount cgroup v2, or that"
	    " controller of v1.",
	[RTI_CAUSE_CGROUP_ROOT] =
	    "The kernel has no such account of the root cgroup. rt_system_tracker_new() has the"
	    " figures of the system.",
	[RTI_CAUSE_CGROUP_VERSION] =
	    "The controller $C is in cgroup v1, which has no such account, or not all of it."
	    " cgroup v2 has it (systemd.unified_cgroup_hierarchy=1).",
	[RTI_CAUSE_CGROUP_DEVICE] =
	    "The kernel no longer lists a device, nor what was read and written on it.",
	[RTI_CAUSE_CGROUP_REMOVED] =
	    "The cgroup has been removed. What it used after the last sample is not known."
	    " Shorter intervals lose less.",
	[RTI_CAUSE_CGROUP_MEMBERS] =
	    "The kernel has no account of this for a cgroup, so it is that of the members that"
	    " samples have seen. Others may have come and gone, and members may have come from"
	    " elsewhere.",
	[RTI_CAUSE_CGROUP_HIDDEN] =
	    "Members of the cgroup are in a pid namespace that the caller does not see, or may be:"
	    " cgroup v1 does not say. Run the caller in the initial pid namespace.",
	[RTI_CAUSE_BETWEEN_SAMPLES] = "The peak between two samples or peak polls may be higher."
				      " Shorter intervals miss less.",
};

#define PSI_NEEDS "Linux 4.20 with CONFIG_PSI, and psi=1 at boot where PSI is off by default."

/* What a kernel needs so that it has a file. */
static const struct {
	const char *file, *needs;
} needs[] = {
	{ "io", "a kernel with CONFIG_TASK_IO_ACCOUNTING." },
	{ "smaps_rollup", "Linux 4.14 with CONFIG_PROC_PAGE_MONITOR. PSS is estimated." },
	{ "pressure/cpu", PSI_NEEDS },
	{ "pressure/memory", PSI_NEEDS },
	{ "pressure/io", PSI_NEEDS },
	{ "spl/kstat/zfs", "the kernel module of ZFS, and its program zpool." },
	{ "meminfo", "the kernel's own file: a container may show another one." },
	{ "net/dev", "a kernel with CONFIG_NET." },
	{ "diskstats", "a kernel with CONFIG_BLOCK." },
	{ "loadavg", "the kernel's own file: a container may show another one." },
	{ "cpu.pressure", PSI_NEEDS },
	{ "memory.pressure", PSI_NEEDS },
	{ "io.pressure", PSI_NEEDS },
	{ "memory.peak", "Linux 5.19." },
	{ "pids.peak", "Linux 6.1." },
	{ "memory.stat", "a later kernel." },
	{ "memory.oom_control", "Linux 4.13." },
};

/* Of cgroup v1, swap space is in a file that has other figures, too. */
static const char *text_of_missing(const char *file, uint64_t has)
{
	if (has == RT_HAS_CGROUP_SWAP)
		return "CONFIG_SWAP, and swapaccount=1 at boot where it is off by default.";
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (strcmp(file, needs[i].file) == 0)
			return needs[i].needs;
	return "the kernel's own file.";
}

/* The files that only a tracer may read, as ptrace(2) has it. */
static bool is_traced_file(const char *file)
{
	return strcmp(file, "io") == 0 || strcmp(file, "smaps_rollup") == 0 ||
	       strcmp(file, "fd") == 0;
}

static const char *text_of_refused(const char *file)
{
	if (!is_traced_file(file))
		return "The caller may not read $F. Run the caller as root, or give it permission"
		       " to read that file.";
	if (rti_has_capability(RTI_CAP_SYS_PTRACE))
		return "The caller may not read $F, though it has CAP_SYS_PTRACE: the process"
		       " belongs to a user namespace outside of the caller's, or a security module"
		       " (LSM) refuses it.";
	return "The caller may not read $F: the process belongs to another user, or is not"
	       " dumpable (PR_SET_DUMPABLE). CAP_SYS_PTRACE would allow it.";
}

static const char *text_of_read(const struct rti_explanation *why)
{
	switch (why->error) {
	case -EACCES:
	case -EPERM:
		return text_of_refused(why->file);
	case -EMFILE:
		return "$F could not be opened: the limit of open descriptors is reached. Raise"
		       " RLIMIT_NOFILE, or lower rt_opts.max_fds.";
	case -ENFILE:
		return "$F could not be opened: the system has too many open files. Raise the"
		       " sysctl fs.file-max.";
	case -ENOMEM:
		return "Memory ran out when $F was read. A later sample tries again.";
	case -EAGAIN:
		return "No thread could be started: raise RLIMIT_NPROC, or pids.max of the cgroup.";
	case -EBADMSG:
		return "$F has a format that this library does not know, or a counter in it went"
		       " back. A newer release may know it.";
	case -EIO:
		return "$F could not be read in full: $E.";
	default:
		return "$F could not be read: $E.";
	}
}

static const char *text_of_skipped(int err)
{
	switch (err) {
	case -ENOSPC:
		return "The tree has more processes than could be added: one scan adds 16,384 at"
		       " most. Later samples add the others. See rt_metrics.members_skipped.";
	case -EMFILE:
		return "Processes could not be added to the tree: the limit of open descriptors is"
		       " reached. Raise RLIMIT_NOFILE, or lower rt_opts.max_fds.";
	case -ENFILE:
		return "Processes could not be added to the tree: the system has too many open"
		       " files. Raise the sysctl fs.file-max.";
	case -ENOMEM:
		return "Processes could not be added to the tree, since memory ran out. Later"
		       " samples try again.";
	default:
		return "Processes could not be added to the tree: $E.";
	}
}

static const char *text_of_gpu(int err)
{
	switch (err) {
	case -ENODATA:
		return "The drivers of the GPUs report the share of a period, which is added up:"
		       " the time is an estimate.";
	case -ENOENT:
		return "There is no GPU that can be asked: neither the library of NVIDIA's driver"
		       " (libnvidia-ml.so.1) nor a card of a driver that reports the figure.";
	case -EOPNOTSUPP:
		return "The GPUs here do not report the figure, or their drivers do not.";
	case -EACCES:
	case -EPERM:
		return "The driver of a GPU refuses it to the caller: $E.";
	case -ETIMEDOUT:
		return "The driver of a GPU has not answered in time. A later sample may have its"
		       " answer.";
	case -EXDEV:
		return "NVIDIA's driver knows processes by the ids of the first pid namespace."
		       " Run the tracker there.";
	case -EPROTONOSUPPORT:
		return "The library and the kernel module of NVIDIA's driver are of different"
		       " versions: load the module that belongs to the library.";
	default:
		return "A GPU could not be asked: $E.";
	}
}

static const char *template_of(const struct rti_explanation *why, uint64_t has)
{
	switch (why->cause) {
	case RTI_CAUSE_NONE:
		return why->error
		           ? "The figure is a lower bound: no file that the tracker reads has the"
		             " whole of it."
		           : "";
	case RTI_CAUSE_READ:
		return text_of_read(why);
	case RTI_CAUSE_NO_FIGURE:
		return "$F does not exist, or lacks the figure. What is needed: ";
	case RTI_CAUSE_HIDDEN:
		return why->pid
		           ? "/proc hides process $P, since it is mounted with hidepid. Mount it"
		             " without hidepid, join the group of its option gid=, or use"
		             " CAP_SYS_PTRACE."
		           : "/proc hides processes of other users, since it is mounted with"
		             " hidepid. Mount it without hidepid, join the group of its option"
		             " gid=, or use CAP_SYS_PTRACE.";
	case RTI_CAUSE_SKIPPED:
		return text_of_skipped(why->error);
	case RTI_CAUSE_STALLED:
		return has == RT_HAS_ZFS
		           ? "zpool has not answered in time. A later sample may have its answer."
		           : "A file system has not answered in time: RT_ITEM_STALLED marks it in"
		             " rt_tracker_filesystems(). A later sample may have its answer.";
	case RTI_CAUSE_NO_FILE_SYSTEM:
		return "A file system could not be asked: $E.";
	case RTI_CAUSE_GPU:
		return text_of_gpu(why->error);
	default:
		return texts[why->cause];
	}
}

static void add_file(struct rti_text *text, const struct rti_explanation *why)
{
	if (why->controller) {
		rti_text_add(text, why->file);
		rti_text_add(text, " of the cgroup");
		return;
	}
	rti_text_add(text, "/proc");
	if (why->pid) {
		rti_text_add(text, "/");
		rti_text_add_number(text, (uint64_t)why->pid);
	}
	if (why->file[0] == '\0') /* the directory itself */
		return;
	rti_text_add(text, "/");
	rti_text_add(text, why->file);
}

static void add_value(struct rti_text *text, const struct rti_explanation *why, char what)
{
	switch (what) {
	case 'F':
		add_file(text, why);
		break;
	case 'P':
		rti_text_add_number(text, (uint64_t)why->pid);
		break;
	case 'E':
		rti_text_add(text, rt_strerror(why->error));
		break;
	case 'S':
		rti_text_add_number(text, why->pss_share);
		break;
	case 'H':
		rti_text_add_number(text, why->pss_hold_us);
		break;
	case 'C':
		rti_text_add(text, why->controller);
		break;
	}
}

/* Why BPF programs do not account for the tree. They are tried if events were asked for. */
static const char *text_of_account(const struct rti_explanation *why)
{
	bool has_asked =
	    why->cause == RTI_CAUSE_EVENTS_UNHEARD || why->cause == RTI_CAUSE_EVENTS_LOST;

	switch (why->account_error) {
	case 0:
		return has_asked
		           ? ""
		           : " BPF programs would see all: RT_OPT_PROCESS_EVENTS of a tracker,"
		             " RT_ACCOUNTING_BPF of a command.";
	case -EPERM:
		return rti_bpf_lacks_capability()
		           ? " BPF programs would see all: they need CAP_BPF and CAP_PERFMON."
		           : " BPF programs would see all, but are refused here.";
	case -ENOPKG:
		return " BPF programs would see all: their plug-in cannot be loaded.";
	case -EOPNOTSUPP:
		return " BPF programs would see all: they need Linux 6.2 with BTF.";
	default:
		return "";
	}
}

/* What an account by BPF programs would have. */
static bool is_seen_by_account(enum rti_cause cause)
{
	return cause == RTI_CAUSE_UNWAITED || cause == RTI_CAUSE_SIGCHLD ||
	       cause == RTI_CAUSE_TICKS || cause == RTI_CAUSE_UNREPORTED ||
	       cause == RTI_CAUSE_THREAD_ENDED || cause == RTI_CAUSE_EVENTS_UNHEARD ||
	       cause == RTI_CAUSE_EVENTS_LOST;
}

void rti_obstacle_describe(const struct rti_explanation *why, uint64_t has, char *out, size_t size)
{
	struct rti_text text = rti_text(out, size);

	for (const char *at = template_of(why, has); *at; at++) {
		const char one[] = { *at, '\0' };

		if (*at == '$')
			add_value(&text, why, *++at);
		else
			rti_text_add(&text, one);
	}
	if (why->cause == RTI_CAUSE_NO_FIGURE)
		rti_text_add(&text, text_of_missing(why->file, has));
	if (is_seen_by_account(why->cause) && !why->has_account)
		rti_text_add(&text, text_of_account(why));
}
