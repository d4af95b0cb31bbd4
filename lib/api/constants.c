/* SPDX-License-Identifier: MIT */
/* Names, values and meanings of all public constants, for bindings. */
#include "api/constants.h"

#include <errno.h>

#include <rtrack/rtrack.h>

#include "api/struct_size.h"

/* #constant names what the caller wrote, since an argument of # is not expanded. */
#define CONSTANT(of, constant, meaning)                                                            \
	{                                                                                          \
		.size = sizeof(struct rt_constant), .group = RT_CONSTANTS_##of,                    \
		.value = (int64_t)(constant), .name = #constant, .text = meaning                   \
	}

/* In the order of the header. tests/consumers compares them. */
static const struct rt_constant constants[] = {
	CONSTANT(OTHER, RT_RUSAGE_SELF, "figures of the calling process"),
	CONSTANT(OTHER, RT_RUSAGE_CHILDREN,
	         "figures of the children that the calling process has waited for, and of theirs"),
	CONSTANT(OTHER, RT_RUSAGE_THREAD, "figures of the calling thread"),
	CONSTANT(HAS, RT_HAS_CPU, "CPU time in user and kernel mode"),
	CONSTANT(HAS, RT_HAS_RSS, "resident memory"),
	CONSTANT(HAS, RT_HAS_PSS, "proportional memory"),
	CONSTANT(HAS, RT_HAS_PEAK_RSS, "peak resident memory"),
	CONSTANT(HAS, RT_HAS_IO, "bytes read and written by processes"),
	CONSTANT(HAS, RT_HAS_FAULTS, "page faults"),
	CONSTANT(HAS, RT_HAS_CTXSW, "voluntary and involuntary context switches"),
	CONSTANT(HAS, RT_HAS_PROCESSES, "number of processes"),
	CONSTANT(HAS, RT_HAS_THREADS, "number of threads"),
	CONSTANT(HAS, RT_HAS_PROCESSES_PEAK, "largest number of processes at the same time"),
	CONSTANT(HAS, RT_HAS_CGROUP_MEMORY, "memory, as the cgroup accounts for it"),
	CONSTANT(HAS, RT_HAS_CGROUP_IO, "storage I/O, as the cgroup accounts for it"),
	CONSTANT(HAS, RT_HAS_CGROUP_TASKS, "tasks, as the cgroup accounts for them"),
	CONSTANT(HAS, RT_HAS_PROCESSES_SEEN, "number of processes of the tree so far"),
	CONSTANT(HAS, RT_HAS_CPU_MODES, "CPU time by mode, and the list of CPUs"),
	CONSTANT(HAS, RT_HAS_ACTIVITY,
	         "forks, context switches, interrupts, running and blocked threads"),
	CONSTANT(HAS, RT_HAS_MEMORY, "memory, except available memory"),
	CONSTANT(HAS, RT_HAS_MEMORY_AVAILABLE, "available memory"),
	CONSTANT(HAS, RT_HAS_SWAP, "swap space"),
	CONSTANT(HAS, RT_HAS_DISK, "block devices and their list"),
	CONSTANT(HAS, RT_HAS_FILESYSTEM, "file systems and their list"),
	CONSTANT(HAS, RT_HAS_NETWORK, "network interfaces and their list"),
	CONSTANT(HAS, RT_HAS_LOAD, "load averages"),
	CONSTANT(HAS, RT_HAS_PRESSURE_CPU, "CPU pressure"),
	CONSTANT(HAS, RT_HAS_PRESSURE_MEMORY, "memory pressure"),
	CONSTANT(HAS, RT_HAS_PRESSURE_IO, "I/O pressure"),
	CONSTANT(HAS, RT_HAS_ZFS, "ZFS pools and their list"),
	CONSTANT(HAS, RT_HAS_GPU, "time for which GPUs were busy, and their list"),
	CONSTANT(HAS, RT_HAS_GPU_MEMORY, "memory of GPUs"),
	CONSTANT(HAS, RT_HAS_GPU_ENERGY, "energy that GPUs have used"),
	CONSTANT(HAS, RT_HAS_PEAK_TREE, "largest memory of all members together"),
	CONSTANT(HAS, RT_HAS_IO_CALLS, "calls with which processes read and wrote"),
	CONSTANT(HAS, RT_HAS_RATE, "figures per time"),
	CONSTANT(OPT, RT_OPT_NO_CHILDREN, "follow the process alone, not its descendants"),
	CONSTANT(OPT, RT_OPT_NETWORK_FILESYSTEMS, "list network file systems too"),
	CONSTANT(OPT, RT_OPT_PROCESS_EVENTS,
	         "receive every fork and exit event from the kernel, if the caller may"),
	CONSTANT(OPT, RT_OPT_NO_PSS_READS, "never read PSS: estimate it and the peak of the tree"),
	CONSTANT(OPT, RT_OPT_IO_WITH_REAPED,
	         "report the I/O of the process with that of the children that it waited for"),
	CONSTANT(OTHER, RT_KIND_PID, "a process tree"),
	CONSTANT(OTHER, RT_KIND_SYSTEM, "the system"),
	CONSTANT(REASON, RT_REASON_UNWAITED, "a member exited and no tracked parent waited for it"),
	CONSTANT(REASON, RT_REASON_SIGCHLD_IGNORED,
	         "a member ignores SIGCHLD, so children of it may leave no trace"),
	CONSTANT(REASON, RT_REASON_UNREADABLE,
	         "CPU time or page faults of a member could not be read"),
	CONSTANT(REASON, RT_REASON_LEFT_RUNNING,
	         "members were still running when the figures were last read"),
	CONSTANT(REASON, RT_REASON_MEMBERS_SKIPPED, "the tree could not be followed in full"),
	CONSTANT(REASON, RT_REASON_ORPHANS_UNSEEN,
	         "an orphan that started and exited between two samples would not have been seen"),
	CONSTANT(REASON, RT_REASON_UNVERIFIED,
	         "nothing is known to be missing, but that cannot be verified"),
	CONSTANT(REASON, RT_REASON_CLOCK_ABOVE,
	         "the inherited clock counted more CPU time than was waited for"),
	CONSTANT(REASON, RT_REASON_EVENTS_LOST,
	         "process events arrived faster than they were read"),
	CONSTANT(REASON, RT_REASON_EVENTS_UNHEARD,
	         "process events were asked for, and cannot be received here"),
	CONSTANT(REASON, RT_REASON_LEFT_CGROUP,
	         "a process has moved to another cgroup, so the account of this one lacks it"),
	CONSTANT(REASON, RT_REASON_NO_SUPERVISOR,
	         "no supervisor could be started, so samples of the tree were used"),
	CONSTANT(OTHER, RT_PSS_READ, "this sample read all of it"),
	CONSTANT(OTHER, RT_PSS_CACHED, "part of it was read earlier"),
	CONSTANT(OTHER, RT_PSS_ESTIMATED, "not all of it could be read, so it is estimated"),
	CONSTANT(OTHER, RT_SOURCE_PROC, "the files of /proc"),
	CONSTANT(OTHER, RT_SOURCE_BPF, "a BPF program read the members of the tree"),
	CONSTANT(OTHER, RT_OBSTACLE_RIGHTS, "the caller may not read it"),
	CONSTANT(OTHER, RT_OBSTACLE_KERNEL, "the kernel does not have it here"),
	CONSTANT(OTHER, RT_OBSTACLE_OPTIONS, "the options of the tracker rule it out"),
	CONSTANT(OTHER, RT_OBSTACLE_LIMIT, "too little of something, such as descriptors"),
	CONSTANT(OTHER, RT_OBSTACLE_GONE, "a process or a thread had ended before"),
	CONSTANT(OTHER, RT_OBSTACLE_FORMAT, "the file could not be understood"),
	CONSTANT(OTHER, RT_OBSTACLE_SLOW, "no answer in time, or it changed meanwhile"),
	CONSTANT(OTHER, RT_OBSTACLE_ERROR, "another error"),
	CONSTANT(OTHER, RT_OBSTACLE_UNSEEN, "nothing that was read can show all of it"),
	CONSTANT(OTHER, RT_ITEM_IN_TOTAL, "the item is part of the total"),
	CONSTANT(OTHER, RT_ITEM_PARTITION, "a partition of another device"),
	CONSTANT(OTHER, RT_ITEM_VIRTUAL, "without hardware of its own"),
	CONSTANT(OTHER, RT_ITEM_STALLED, "it did not answer in time"),
	CONSTANT(OTHER, RT_ITEM_NETWORK, "served over a network"),
	CONSTANT(OTHER, RT_GPU_NVML, "the library of NVIDIA's driver"),
	CONSTANT(OTHER, RT_GPU_DRM, "the files of a DRM driver"),
	CONSTANT(ACCOUNTING, RT_ACCOUNTING_AUTO,
	         "the best accounting method that works without extra privileges"),
	CONSTANT(ACCOUNTING, RT_ACCOUNTING_POLL, "samples of the tree"),
	CONSTANT(ACCOUNTING, RT_ACCOUNTING_WAIT, "a supervisor that reaps the tree"),
	CONSTANT(ACCOUNTING, RT_ACCOUNTING_CGROUP, "a supervisor, in a cgroup of its own"),
	CONSTANT(ACCOUNTING, RT_ACCOUNTING_WAIT_PERF, "a supervisor, with an inherited clock"),
	CONSTANT(ACCOUNTING, RT_ACCOUNTING_BPF, "BPF programs that account for each process"),
	CONSTANT(OTHER, RT_COMMAND_LIST_PROCESSES, "list every process of the command"),
	CONSTANT(OTHER, RT_COMMAND_NEW_GROUP, "the program leads a process group of its own"),
	CONSTANT(OTHER, RT_COMMAND_NEW_SESSION, "the program leads a session of its own"),
	CONSTANT(OTHER, RT_COMMAND_ONLY_FDS, "the program inherits no other descriptors"),
	CONSTANT(OTHER, RT_COMMAND_KILL_ON_FREE, "what still runs is killed on release"),
	CONSTANT(OTHER, RT_PEAK_PSS, "sum of PSS, read or estimated"),
	CONSTANT(OTHER, RT_PEAK_RSS, "sum of RSS"),
	CONSTANT(OTHER, RT_PEAK_CGROUP, "peak that the kernel has charged to the cgroup"),
	CONSTANT(OTHER, RT_PROCESS_FINAL, "the figures are final"),
	CONSTANT(OTHER, RT_PROCESS_RUNNING, "it still ran when the list was made"),
	CONSTANT(OTHER, RT_TRACE_BACK_END_AUTO, "BPF if it can be had, else ptrace"),
	CONSTANT(OTHER, RT_TRACE_BACK_END_BPF, "trace by BPF programs"),
	CONSTANT(OTHER, RT_TRACE_BACK_END_PTRACE, "trace a command by ptrace"),
	CONSTANT(OTHER, RT_TRACE_CALL_GETRUSAGE, "getrusage"),
	CONSTANT(OTHER, RT_TRACE_CALL_WAIT4, "wait4"),
	CONSTANT(OTHER, RT_TRACE_CALL_WAITID, "waitid"),
	CONSTANT(OTHER, RT_TRACE_OPT_ALL, "trace every process of the machine"),
	CONSTANT(OTHER, RT_TRACE_OPT_NO_CHILDREN, "trace the process alone, not its descendants"),
	CONSTANT(OTHER, RT_TRACE_OPT_LIVE_CHILDREN,
	         "read what children that were not waited for have used"),
	CONSTANT(OTHER, RT_TRACE_EVENT_32BIT, "a call of the 32-bit ABI"),
	CONSTANT(OTHER, RT_TRACE_EVENT_UNREAD, "the returned figures could not be read"),
	CONSTANT(OTHER, RT_TRACE_EVENT_NO_ENTRY, "the entry of the call was not seen"),
	CONSTANT(OTHER, RT_TRACE_EVENT_EXE_CUT, "the path of the program is cut"),
	CONSTANT(OTHER, RT_STRUCT_RUSAGE, "struct rt_rusage"),
	CONSTANT(OTHER, RT_STRUCT_METRICS, "struct rt_metrics"),
	CONSTANT(OTHER, RT_STRUCT_DELTA, "struct rt_delta"),
	CONSTANT(OTHER, RT_STRUCT_OUTCOME, "struct rt_outcome"),
	CONSTANT(OTHER, RT_STRUCT_PROCESS, "struct rt_process"),
	CONSTANT(OTHER, RT_STRUCT_CPU, "struct rt_cpu"),
	CONSTANT(OTHER, RT_STRUCT_DISK, "struct rt_disk"),
	CONSTANT(OTHER, RT_STRUCT_FILESYSTEM, "struct rt_filesystem"),
	CONSTANT(OTHER, RT_STRUCT_NETWORK, "struct rt_network"),
	CONSTANT(OTHER, RT_STRUCT_ZPOOL, "struct rt_zpool"),
	CONSTANT(OTHER, RT_STRUCT_COMMAND_PROCESS, "struct rt_command_process"),
	CONSTANT(OTHER, RT_STRUCT_OPTS, "struct rt_opts"),
	CONSTANT(OTHER, RT_STRUCT_COMMAND_OPTS, "struct rt_command_opts"),
	CONSTANT(OTHER, RT_STRUCT_CONSTANT, "struct rt_constant"),
	CONSTANT(OTHER, RT_STRUCT_OBSTACLE, "struct rt_obstacle"),
	CONSTANT(OTHER, RT_STRUCT_TRACE_OPTS, "struct rt_trace_opts"),
	CONSTANT(OTHER, RT_STRUCT_TRACE_EVENT, "struct rt_trace_event"),
	CONSTANT(OTHER, RT_STRUCT_TRACE_TOTALS, "struct rt_trace_totals"),
	CONSTANT(OTHER, RT_STRUCT_GPU, "struct rt_gpu"),
	CONSTANT(OTHER, RT_STRUCT_GPU_PROCESS, "struct rt_gpu_process"),
	CONSTANT(OTHER, RT_TYPE_U32, "uint32_t"),
	CONSTANT(OTHER, RT_TYPE_I32, "int32_t"),
	CONSTANT(OTHER, RT_TYPE_U64, "uint64_t"),
	CONSTANT(OTHER, RT_TYPE_I64, "int64_t"),
	CONSTANT(OTHER, RT_TYPE_DOUBLE, "double"),
	CONSTANT(OTHER, RT_TYPE_CHARS, "char array, terminated by NUL"),
	CONSTANT(OTHER, RT_TYPE_RUSAGE, "struct rt_rusage"),
	CONSTANT(OTHER, RT_TYPE_POINTER, "pointer of the caller"),
	CONSTANT(OTHER, RT_FIELD_META, "describes the struct itself"),
	CONSTANT(OTHER, RT_FIELD_COUNTER, "never falls"),
	CONSTANT(OTHER, RT_FIELD_GAUGE, "holds for one instant"),
	CONSTANT(OTHER, RT_CONSTANTS_HAS, "group of the RT_HAS_ bits"),
	CONSTANT(OTHER, RT_CONSTANTS_REASON, "group of the RT_REASON_ bits"),
	CONSTANT(OTHER, RT_CONSTANTS_OPT, "group of the RT_OPT_ bits"),
	CONSTANT(OTHER, RT_CONSTANTS_ACCOUNTING, "group of the RT_ACCOUNTING_ values"),
	CONSTANT(OTHER, RT_CONSTANTS_OTHER, "group of all other constants"),
};

const char *rti_constant_name(uint32_t group, uint64_t value)
{
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		if (constants[i].group == group && (uint64_t)constants[i].value == value)
			return constants[i].name;
	}
	return NULL;
}

int rt_constant_get(uint32_t index, struct rt_constant *out, size_t out_size)
{
	if (!out)
		return -EFAULT;
	if (rti_struct_check_size(out_size, RTI_CONSTANT_V1) < 0 ||
	    index >= sizeof(constants) / sizeof(constants[0]))
		return -EINVAL;
	rti_struct_copy_out(out, out_size, &constants[index], sizeof(constants[0]));
	return 0;
}
