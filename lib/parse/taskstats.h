/* SPDX-License-Identifier: MIT */
/* Parser of the messages of taskstats (Documentation/accounting/taskstats.rst): what a thread had
 * used when it exited.
 *
 * It is not in parse.h because os/taskstats.h needs nothing else from there. */
#ifndef RTI_PARSE_TASKSTATS_H
#define RTI_PARSE_TASKSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel fills it in do_exit(), before it releases the memory of the process. So the CPU time
 * lacks what the rest of the exit takes, and what the thread has used since the scheduler last
 * looked: up to a tick. */
struct rti_task_exit {
	int32_t pid, tid;
	bool is_last;         /* the last thread of its process */
	uint64_t lifetime_ns; /* of the process so far, to the microsecond */
	uint64_t cpu_ns;      /* of this thread; a lower bound; 0 also if the kernel has none */
	uint64_t user_us, system_us; /* likewise, as sampled by ticks */
	/* VmHWM of the process: the most since its last exec. To the KiB; 0 for a thread of the
	 * kernel. */
	uint64_t peak_rss_bytes;
	uint64_t read_bytes, write_bytes; /* of this thread, rounded down to a KiB */
	char comm[16];                    /* name of this thread, NUL-terminated */
};

/* Parse one message. Returns 0; -EBADMSG if it is none, or too short; or -EOPNOTSUPP if it lacks
 * the id of the process (before Linux 5.19, version 12). */
int rti_parse_taskstats(const void *data, size_t len, struct rti_task_exit *out);

/* Parse the answer to a request for the id of the family. Returns 0, -EBADMSG if it is none, or the
 * error that it reports. E.g.: -ENOENT, the kernel has no taskstats. */
int rti_parse_genl_family(const void *data, size_t len, uint16_t *id);

/* Numbers of <linux/genetlink.h>. tests/unit/parse/test_taskstats.c compares
 * all that follow with the headers. */
#define RTI_GENL_ID_CTRL 16
#define RTI_CTRL_CMD_GETFAMILY 3
#define RTI_CTRL_ATTR_FAMILY_ID 1
#define RTI_CTRL_ATTR_FAMILY_NAME 2

/* <linux/taskstats.h>, as of version 12: numbers, and offsets in struct taskstats. */
#define RTI_TASKSTATS_CMD_GET 1
#define RTI_TASKSTATS_CMD_NEW 2
#define RTI_TASKSTATS_ATTR_REGISTER_CPUMASK 3
#define RTI_TASKSTATS_TYPE_STATS 3
#define RTI_TASKSTATS_TYPE_AGGR_PID 4
#define RTI_TASKSTATS_VERSION_MIN 12
#define RTI_TASKSTATS_BYTES_MIN 384 /* to the end of ac_tgetime */
#define RTI_TASKSTATS_LAST 0x20     /* AGROUP of ac_flag */
#define RTI_TASKSTATS_AT_FLAG 8
#define RTI_TASKSTATS_AT_CPU_NS 72
#define RTI_TASKSTATS_AT_COMM 80
#define RTI_TASKSTATS_AT_PID 128
#define RTI_TASKSTATS_AT_USER_US 152
#define RTI_TASKSTATS_AT_SYSTEM_US 160
#define RTI_TASKSTATS_AT_PEAK_KIB 200
#define RTI_TASKSTATS_AT_READ_BYTES 248
#define RTI_TASKSTATS_AT_WRITE_BYTES 256
#define RTI_TASKSTATS_AT_TGID 368
#define RTI_TASKSTATS_AT_LIFETIME_US 376

#endif
