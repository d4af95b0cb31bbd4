/* SPDX-License-Identifier: MIT */
/* Fills the record of a process with what its files in /proc say. */
#include "supervisor/record_read.h"

#include <string.h>

#include "os/cpu_time.h"
#include "os/platform.h"
#include "parse/parse.h"
#include "supervisor/proc_file.h"
#include "supervisor/process_text.h"

/* /proc gives a start in clock ticks, and the event a moment later exactly. No pid is reused in
 * that time. */
#define SAME_START_NS 500000000u

/* Invariant: written by rts_record_read_begin() only. */
static struct {
	struct rti_shared_stats *shared;
	int32_t root;
	struct rti_platform platform;
	uint64_t boottime_ahead_ns; /* boot time minus monotonic time */
} reader;

void rts_record_read_begin(struct rti_shared_stats *shared, int32_t root)
{
	struct rti_now now;

	reader.shared = shared;
	reader.root = root;
	rti_platform_init(&reader.platform, false);
	reader.platform.now(&now);
	reader.boottime_ahead_ns = now.boottime_ns - now.monotonic_ns;
}

static void copy_comm(struct rti_process_record *record, const char *comm)
{
	memset(record->comm, 0, sizeof(record->comm));
	memcpy(record->comm, comm, strnlen(comm, sizeof(record->comm) - 1));
}

/* Read /proc/PID/stat. Returns false if it cannot be read, or is of another process that has got
 * the same pid. */
static bool read_stat(const struct rti_process_record *record, struct rti_pid_stat *stat)
{
	char text[1024];
	ssize_t n = rts_read_pid_file(reader.shared, record->pid, "stat", text, sizeof(text));
	struct rti_now now;
	uint64_t ahead_ns, shown_ns;

	if (n <= 0 || rti_parse_pid_stat(text, (size_t)n, stat) < 0)
		return false;
	/* The system may have been suspended since the process started, or before. */
	reader.platform.now(&now);
	ahead_ns = now.boottime_ns - now.monotonic_ns;
	shown_ns = stat->starttime * reader.platform.tick_ns;
	return !record->start_ns || record->start_ns + ahead_ns - shown_ns <
	                                SAME_START_NS + ahead_ns - reader.boottime_ahead_ns;
}

/* stat comes last: it proves that the texts are of this process. The old ones are wrong even if the
 * new ones cannot be read. */
void rts_record_read_program(struct rti_process_record *record)
{
	struct rti_pid_stat stat;

	if (record->flags & RTI_RECORD_EXECUTED) /* what it held before is unknown */
		record->flags |= RTI_RECORD_PEAK_LOW;
	record->flags |= RTI_RECORD_EXECUTED;
	rts_process_text_read(record);
	if (read_stat(record, &stat)) {
		copy_comm(record, stat.comm);
	} else {
		rts_process_text_forget(record);
		memset(record->comm, 0, sizeof(record->comm));
	}
}

void rts_record_forget_program(struct rti_process_record *record)
{
	rts_process_text_forget(record);
	if (!(record->flags & RTI_RECORD_FINAL))
		memset(record->comm, 0, sizeof(record->comm));
	record->flags |= RTI_RECORD_PEAK_LOW;
}

/* Read the final stat and CPU time of a process. They are final if it is a zombie without other
 * threads. Returns false if they are not, or cannot be read. */
static bool read_final_stat(struct rti_process_record *record, struct rti_pid_stat *stat)
{
	struct rti_cpu_clock clock = { 0 };

	if (!read_stat(record, stat) || stat->state != 'Z' || stat->num_threads > 1 ||
	    reader.platform.cpu_clock(record->pid, &clock) < 0)
		return false;
	rti_split_cpu(clock.total_ns, clock.user_part_ns, clock.both_parts_ns, &record->cpu_user_ns,
	              &record->cpu_system_ns);
	record->flags |= RTI_RECORD_FINAL;
	copy_comm(record, stat->comm);
	if (!record->start_ns)
		record->start_ns =
		    stat->starttime * reader.platform.tick_ns - reader.boottime_ahead_ns;
	return true;
}

static void read_final_io(struct rti_process_record *record)
{
	char text[512];
	ssize_t n = rts_read_pid_file(reader.shared, record->pid, "io", text, sizeof(text));
	struct rti_pid_io io;

	if (n <= 0 || rti_parse_pid_io(text, (size_t)n, &io) < 0)
		return;
	record->read_bytes = io.read_bytes;
	record->write_bytes = io.write_bytes;
	record->flags |= RTI_RECORD_HAS_IO;
}

void rts_record_read_final(struct rti_process_record *record)
{
	struct rti_pid_stat stat;

	if (!read_final_stat(record, &stat))
		return;
	read_final_io(record);
	/* ru_maxrss is the largest of the peaks of the process, of the children that it waited for,
	 * and of the program that it ran before exec. It is the process's own peak if the process
	 * has not waited for children, and the supervisor, which is small, has forked it. */
	if (record->ppid == reader.root && stat.cminflt + stat.cmajflt == 0)
		record->flags |= RTI_RECORD_WAIT_HAS_PEAK;
}
