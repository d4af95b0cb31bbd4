/* SPDX-License-Identifier: MIT */
/* Adds what the threads of a process had used when they exited to the record of the process. */
#include "supervisor/exit_account.h"

#include <string.h>

#include "os/cpu_time.h"

/* The fork event is a moment later than the start that the kernel counts from. */
#define START_DELAY_NS 1000000000u

void rts_exit_account_add(struct rti_process_record *record, const struct rti_task_exit *exited,
                          bool has_loss, uint64_t now_ns)
{
	uint64_t user_ns, system_ns;

	if (record->flags & RTI_RECORD_MIXED)
		return;
	if (record->flags & RTI_RECORD_FOLLOWS) {
		if (exited->is_last)
			record->flags &= ~RTI_RECORD_FOLLOWS;
		return;
	}
	/* If the process cannot have lived for so long, the account is of another process, and
	 * others may have been, too. */
	if (exited->is_last && now_ns >= record->start_ns &&
	    exited->lifetime_ns > now_ns - record->start_ns + START_DELAY_NS) {
		record->flags &=
		    ~(RTI_RECORD_HAS_CPU | RTI_RECORD_HAS_OWN_IO | RTI_RECORD_HAS_PEAK);
		record->flags |= RTI_RECORD_MIXED;
		record->own_read_bytes = record->own_write_bytes = record->peak_rss_bytes = 0;
		if (!(record->flags & RTI_RECORD_FINAL))
			record->cpu_user_ns = record->cpu_system_ns = 0;
		return;
	}
	/* After the CPU clock of the whole process was read, accounts of single threads add
	 * nothing. */
	if (!(record->flags & (RTI_RECORD_FINAL | RTI_RECORD_CLOCK_READ))) {
		rti_split_cpu(exited->cpu_ns, exited->user_us, exited->user_us + exited->system_us,
		              &user_ns, &system_ns);
		record->cpu_user_ns += user_ns;
		record->cpu_system_ns += system_ns;
	}
	if (exited->tid == exited->pid && !(record->flags & RTI_RECORD_FINAL))
		memcpy(record->comm, exited->comm, sizeof(record->comm));
	record->own_read_bytes += exited->read_bytes;
	record->own_write_bytes += exited->write_bytes;
	if (record->peak_rss_bytes < exited->peak_rss_bytes)
		record->peak_rss_bytes = exited->peak_rss_bytes;
	if (has_loss)
		record->flags |= RTI_RECORD_PEAK_LOW;
	if (!exited->is_last)
		return;
	record->flags |= RTI_RECORD_ACCOUNTED | RTI_RECORD_HAS_CPU;
	if (record->peak_rss_bytes)
		record->flags |= RTI_RECORD_HAS_PEAK;
	if (!has_loss)
		record->flags |= RTI_RECORD_HAS_OWN_IO;
}

void rts_exit_account_follow(struct rti_process_record *record,
                             const struct rti_process_record *older)
{
	if (!(older->flags & RTI_RECORD_ACCOUNTED))
		record->flags |= RTI_RECORD_FOLLOWS;
}

void rts_exit_account_raise_cpu(struct rti_process_record *record, uint64_t user_ns,
                                uint64_t system_ns, uint64_t now_ns)
{
	if (record->flags & RTI_RECORD_FINAL ||
	    user_ns + system_ns < record->cpu_user_ns + record->cpu_system_ns)
		return;
	record->cpu_user_ns = user_ns;
	record->cpu_system_ns = system_ns;
	record->cpu_read_ns = now_ns;
	record->flags |= RTI_RECORD_HAS_CPU | RTI_RECORD_CLOCK_READ;
}
