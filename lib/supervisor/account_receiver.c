/* SPDX-License-Identifier: MIT */
/* Receives the accounts of threads that exit, and adds them to the records of their processes. */
#include "supervisor/account_receiver.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "os/cpu_time.h"
#include "os/platform.h"
#include "os/taskstats.h"
#include "supervisor/exit_account.h"
#include "supervisor/proc_file.h"
#include "supervisor/record_list.h"

#define LOSSES_MAX 16 /* in one call; a filter of system calls may fail each */
#define EARLY_MAX 64  /* exit accounts that came before the fork of their process */

/* Invariant: written by the functions of this file only, except that the caller moves the
 * socket. */
static struct {
	struct rti_platform platform;
	int socket;
	bool has_loss;
	struct rti_task_exit early[EARLY_MAX];
	size_t early_count;
} receiver = { .socket = -1 };

void rts_accounts_begin(struct rti_shared_stats *shared)
{
	char cpus[1024];

	rti_platform_init(&receiver.platform, false);
	receiver.has_loss = false;
	receiver.early_count = 0;
	receiver.socket = -1;
	if (rts_read_file(shared, "/sys/devices/system/cpu/possible", cpus, sizeof(cpus)) <= 0)
		return;
	cpus[strcspn(cpus, "\n")] = '\0';
	receiver.socket = rti_taskstats_open(cpus);
}

void rts_accounts_end(void)
{
	if (receiver.socket >= 0)
		close(receiver.socket);
	receiver.socket = -1;
}

int *rts_accounts_socket(void)
{
	return &receiver.socket;
}

/* Read the CPU clock of a process when all of its threads have sent their accounts, unless its exit
 * event has been handled: then it may be gone. It is releasing its memory, so this is no final
 * figure. Nothing else is read here, so that the zombie is read in time. */
static void read_cpu(struct rti_process_record *record)
{
	struct rti_cpu_clock clock = { 0 };
	uint64_t user_ns, system_ns;

	if (record->flags & RTI_RECORD_FINAL || record->end_ns ||
	    receiver.platform.cpu_clock(record->pid, &clock) < 0)
		return;
	rti_split_cpu(clock.total_ns, clock.user_part_ns, clock.both_parts_ns, &user_ns,
	              &system_ns);
	rts_exit_account_raise_cpu(record, user_ns, system_ns, receiver.platform.monotonic_ns());
}

static void add_account(struct rti_process_record *record, const struct rti_task_exit *exited)
{
	bool had_account = record->flags & RTI_RECORD_ACCOUNTED;

	rts_exit_account_add(record, exited, receiver.has_loss, receiver.platform.monotonic_ns());
	if (!had_account && record->flags & RTI_RECORD_ACCOUNTED)
		read_cpu(record);
}

/* Read the events first: the fork of each process that has sent one of these is then known. */
static void add_early_accounts(bool (*handle_events)(void))
{
	size_t count = receiver.early_count;

	receiver.early_count = 0;
	if (count == 0 || !handle_events())
		return;
	for (size_t i = 0; i < count; i++) {
		const struct rti_task_exit *exited = &receiver.early[i];
		struct rti_process_record *record = rts_record_find(exited->pid);

		if (record)
			add_account(record, exited);
	}
}

/* Accounts of all processes of the system arrive here. The fork of this one may not have been
 * handled yet. */
static void handle_account(void *arg, const struct rti_task_exit *exited)
{
	bool (**handle_events)(void) = arg;
	struct rti_process_record *record = rts_record_find(exited->pid);

	if (record && !(record->flags & RTI_RECORD_ACCOUNTED)) {
		add_account(record, exited);
		return;
	}
	if (receiver.early_count == EARLY_MAX)
		add_early_accounts(*handle_events);
	receiver.early[receiver.early_count++] = *exited;
}

void rts_accounts_receive(bool (*handle_events)(void))
{
	int err, losses = 0;

	do {
		err = receiver.socket < 0
		          ? 0
		          : rti_taskstats_drain(receiver.socket, handle_account, &handle_events);
		receiver.has_loss |= err == -ENOBUFS;
	} while (err == -ENOBUFS && ++losses < LOSSES_MAX);
	add_early_accounts(handle_events);
	if (err < 0 && err != -ENOBUFS)
		rts_accounts_end();
}
