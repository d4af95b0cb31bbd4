/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* One traced call, as a back end hands it to the library: a BPF program or the ptrace helper fills
 * it in, trace/event.c makes the public struct of it.
 *
 * All are of one release. The layout is not stable and no other program may rely on it. Times are
 * ns. A value that a back end does not know is 0, or UINT32_MAX of uid and cpu. */
#ifndef RTI_TRACE_RECORD_H
#define RTI_TRACE_RECORD_H

#ifdef __bpf__
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

#define RTI_TRACE_GETRUSAGE 0x1u /* as RT_TRACE_CALL_ */
#define RTI_TRACE_WAIT4 0x2u
#define RTI_TRACE_WAITID 0x4u

#define RTI_TRACE_32BIT 0x1u    /* as RT_TRACE_EVENT_ */
#define RTI_TRACE_UNREAD 0x2u   /* the figures could not be read */
#define RTI_TRACE_NO_ENTRY 0x4u /* entry_ns is 0 */

/* The kernel's struct rusage: two timevals and 14 longs; 32-bit: all of 4 bytes. */
#define RTI_TRACE_USAGE_BYTES 144
#define RTI_TRACE_USAGE_BYTES_32 72
#define RTI_TRACE_USAGE_WORDS (RTI_TRACE_USAGE_BYTES / 8)

/* Linux fills in 11 words of the 18. The others are 0, and are left out of a record: a burst of
 * calls waits in less memory. */
#define RTI_TRACE_PACKED_WORDS 11

static inline void rti_trace_pack_usage(uint64_t packed[RTI_TRACE_PACKED_WORDS],
                                        const uint64_t whole[RTI_TRACE_USAGE_WORDS])
{
	packed[0] = whole[0]; /* ru_utime */
	packed[1] = whole[1];
	packed[2] = whole[2]; /* ru_stime */
	packed[3] = whole[3];
	packed[4] = whole[4];   /* ru_maxrss */
	packed[5] = whole[8];   /* ru_minflt */
	packed[6] = whole[9];   /* ru_majflt */
	packed[7] = whole[11];  /* ru_inblock */
	packed[8] = whole[12];  /* ru_oublock */
	packed[9] = whole[16];  /* ru_nvcsw */
	packed[10] = whole[17]; /* ru_nivcsw */
}

static inline void rti_trace_unpack_usage(uint64_t whole[RTI_TRACE_USAGE_WORDS],
                                          const uint64_t packed[RTI_TRACE_PACKED_WORDS])
{
	for (int i = 0; i < RTI_TRACE_USAGE_WORDS; i++)
		whole[i] = i < 5 ? packed[i] : 0;
	whole[8] = packed[5];
	whole[9] = packed[6];
	whole[11] = packed[7];
	whole[12] = packed[8];
	whole[16] = packed[9];
	whole[17] = packed[10];
}

struct rti_trace_record {
	uint16_t call; /* one RTI_TRACE_ bit of the calls */
	/* Of the kernel's struct: 0 if no figures were returned or read. With
	 * RTI_TRACE_USAGE_BYTES, usage is packed; else it is as the kernel wrote it. */
	uint16_t usage_bytes;
	uint32_t flags;               /* RTI_TRACE_ bits of the flags */
	uint64_t lost;                /* events lost so far */
	uint64_t entry_ns, return_ns; /* CLOCK_MONOTONIC */
	int64_t result; /* as the kernel has it at the return, -ERESTARTSYS and the like too */
	uint64_t usage_address;
	uint64_t status_address; /* wait4(2): of the status; waitid(2): of the siginfo_t */
	int32_t who;
	int32_t wait_id;
	uint32_t wait_options, cpu;
	int32_t pid, tid, ppid;                /* in the pid namespace of the library's process */
	int32_t host_pid, host_tid, host_ppid; /* in the first pid namespace */
	int32_t ns_pid, ns_tid, ns_ppid;       /* in its own pid namespace */
	uint32_t uid;                          /* real, in the user namespace of the library */
	/* CLOCK_BOOTTIME */
	uint64_t thread_start_ns, process_start_ns, parent_start_ns;
	uint64_t cgroup_id;
	uint32_t mount_namespace, pid_namespace;
	/* Of the program file. The upper half of the device differs between files that had the same
	 * inode, one after the other. The lower half is as the kernel has it (s_dev). */
	uint64_t exe_device, exe_inode;
	char comm[16];
	char host_name[16]; /* in its UTS namespace: the first 15 bytes, as Tracee has it */
	uint64_t usage[RTI_TRACE_PACKED_WORDS];
};

#endif
