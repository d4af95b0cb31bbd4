/* SPDX-License-Identifier: MIT */
/* Counts every process of the tree by the kernel's process events, and lists them if requested. */
#include "supervisor/process_log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "os/cpu_time.h"
#include "os/platform.h"
#include "os/proc_connector.h"
#include "os/taskstats.h"
#include "parse/parse.h"
#include "supervisor/cgroup_watch.h"
#include "supervisor/exit_account.h"
#include "supervisor/proc_file.h"
#include "supervisor/process_text.h"
#include "supervisor/table.h"
#include "supervisor/wait_proof.h"
#include "util/descendant_set.h"

#define RECORDS_PER_ALLOCATION 1024
#define EVENTS_PER_MS 256 /* that a large system may have */
#define BATCH_MAX_MS 20
#define EXIT_DELAY_MAX_MS 2 /* how long after a process is reaped its exit may be reported */
#define LAST_EXITS_MAX_NS 100000000 /* the same on a busy system, if none is left that runs */
#define LAST_EXITS_POLL_MS 10
/* /proc gives a start in clock ticks, and the event a moment later exactly. No pid is reused in
 * that time. */
#define SAME_START_NS 500000000u
#define EARLY_MAX 64 /* exit accounts that came before the fork of their process */

/* Its tables are large, but only the pages that are used take up memory. */
struct process_log {
	struct rts_process_log_opts opts;
	int64_t inherited_maxrss_kib;
	pid_t program;
	uint64_t program_end_ns;
	struct rti_platform platform;
	struct rti_descendant_set descendants;
	int events, threads, accounts; /* sockets, or -1 */
	bool has_account_loss;
	struct rti_task_exit early[EARLY_MAX];
	size_t early_count;
	uint64_t complete_ns; /* CLOCK_MONOTONIC until which no event was lost */
	int batch_ms;
	uint64_t boottime_ahead_ns;           /* boot time minus monotonic time */
	struct rti_process_record *records;   /* the list in shared memory */
	uint64_t room;                        /* records that memory is allocated for */
	uint32_t record_number[RTI_PIDS_MAX]; /* by pid: index in records plus 1; 0: none */
};

/* The only one. NULL: none. */
static struct process_log *process_log;

/* Make room for one more record. Allocate the memory before it is written to: if memory is full,
 * writing would raise a signal. Returns false if there is no room. */
static bool reserve_records(void)
{
	const uint64_t size = sizeof(struct rti_process_record);

	if (process_log->opts.shared->records < process_log->room)
		return true;
	if (process_log->room >= RTI_RECORDS_MAX ||
	    fallocate(*process_log->opts.memory, 0,
	              (off_t)(RTI_SHARED_STATS_BYTES + process_log->room * size),
	              (off_t)(RECORDS_PER_ALLOCATION * size)) < 0)
		return false;
	process_log->room += RECORDS_PER_ALLOCATION;
	return true;
}

static struct rti_process_record *find_record(int32_t pid)
{
	uint32_t number = pid > 0 && pid < RTI_PIDS_MAX ? process_log->record_number[pid] : 0;

	return number ? &process_log->records[number - 1] : NULL;
}

static struct rti_process_record *add_record(int32_t pid, int32_t ppid, uint64_t start_ns)
{
	const struct rti_process_record *older = find_record(pid);
	struct rti_process_record *record;

	if (pid <= 0 || pid >= RTI_PIDS_MAX)
		return NULL;
	if (!reserve_records()) {
		process_log->record_number[pid] = 0;
		process_log->opts.shared->records_skipped++;
		return NULL;
	}
	record = &process_log->records[process_log->opts.shared->records++];
	*record = (struct rti_process_record){ .pid = pid, .ppid = ppid, .start_ns = start_ns };
	if (older)
		rts_exit_account_follow(record, older);
	process_log->record_number[pid] = (uint32_t)process_log->opts.shared->records;
	return record;
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
	ssize_t n =
	    rts_read_pid_file(process_log->opts.shared, record->pid, "stat", text, sizeof(text));
	struct rti_now now;
	uint64_t ahead_ns, shown_ns;

	if (n <= 0 || rti_parse_pid_stat(text, (size_t)n, stat) < 0)
		return false;
	/* The system may have been suspended since the process started, or before. */
	process_log->platform.now(&now);
	ahead_ns = now.boottime_ns - now.monotonic_ns;
	shown_ns = stat->starttime * process_log->platform.tick_ns;
	return !record->start_ns || record->start_ns + ahead_ns - shown_ns <
	                                SAME_START_NS + ahead_ns - process_log->boottime_ahead_ns;
}

/* stat comes last: it proves that the texts are of this process. The old ones are wrong even if the
 * new ones cannot be read. */
static void read_program(struct rti_process_record *record)
{
	struct rti_pid_stat stat;

	if (record->flags & RTI_RECORD_EXECUTED) /* what it held before is not known */
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

static void handle_fork(const struct rti_process_event *event)
{
	const struct rti_process_record *parent;
	struct rti_process_record *record;

	if (!rti_descendant_set_fork(&process_log->descendants, event->ppid, event->pid)) {
		if (process_log->opts.has_list && event->pid > 0 && event->pid < RTI_PIDS_MAX)
			process_log->record_number[event->pid] = 0;
		return;
	}
	rts_wait_proof_fork(event);
	rts_cgroup_watch_fork(event->pid);
	rts_cgroup_watch_sample(event->pid, event->monotonic_ns);
	if (!process_log->opts.has_list)
		return;
	parent = find_record(event->ppid);
	record = add_record(event->pid, event->ppid, event->monotonic_ns);
	if (!record || !parent)
		return;
	memcpy(record->comm, parent->comm, sizeof(record->comm));
	rts_process_text_fork(record, parent);
}

static void handle_exec(const struct rti_process_event *event)
{
	struct rti_process_record *record = find_record(event->pid);

	if (rti_descendant_set_has(&process_log->descendants, event->pid))
		rts_cgroup_watch_sample(event->pid, event->monotonic_ns);
	rti_descendant_set_exec(&process_log->descendants, event->pid);
	if (record)
		read_program(record);
}

/* Returns true if the thread group leader has exited and other threads still run. The event is the
 * same as for the exit of a whole process. */
static bool runs_without_leader(int32_t pid)
{
	char text[1024];
	struct rti_pid_stat stat;
	ssize_t n;

	if (kill(pid, 0) < 0)
		return false; /* the usual case: already reaped */
	n = rts_read_pid_file(process_log->opts.shared, pid, "stat", text, sizeof(text));
	return n > 0 && rti_parse_pid_stat(text, (size_t)n, &stat) == 0 && stat.num_threads > 1;
}

static bool is_waited_for(const struct rti_process_event *event)
{
	return rts_wait_proof_exit(event,
	                           rti_descendant_set_has(&process_log->descendants, event->ppid));
}

/* Each thread of a process has an exit event; the process ends with the last of them. */
static void handle_exit(const struct rti_process_event *event)
{
	struct rti_process_record *record = find_record(event->pid);

	if (event->pid == process_log->program && event->tid == event->pid)
		process_log->program_end_ns = event->monotonic_ns;
	if (event->tid == event->pid &&
	    rti_descendant_set_is_alive(&process_log->descendants, event->pid)) {
		if (runs_without_leader(event->pid))
			process_log->opts.shared->has_leader_exit = 1;
		rts_cgroup_watch_exit(event->pid, is_waited_for(event));
		rti_descendant_set_exit(&process_log->descendants, event->pid);
	}
	if (!record || record->flags & RTI_RECORD_REAPED)
		return;
	record->end_ns = event->monotonic_ns;
	/* The leader's status is that of the process. So is another thread's if it is not 0: what
	 * kills the process after its leader has exited shows only in the other threads. A status
	 * of 0 is ignored, since the thread may have exited before the leader: its event may come
	 * later all the same. */
	if (event->tid == event->pid || event->status)
		record->status = event->status;
	rts_process_log_record_zombie(event->pid);
}

static void handle_event(void *arg, const struct rti_process_event *event)
{
	struct rti_process_record *record;

	(void)arg;
	switch (event->kind) {
	case RTI_EVENT_FORK:
		handle_fork(event);
		break;
	case RTI_EVENT_EXEC:
		handle_exec(event);
		break;
	case RTI_EVENT_EXIT:
		handle_exit(event);
		break;
	case RTI_EVENT_COMM:
		record = event->tid == event->pid ? find_record(event->pid) : NULL;
		if (record)
			memcpy(record->comm, event->comm, sizeof(record->comm));
		break;
	case RTI_EVENT_TRACE:
		if (rti_descendant_set_has(&process_log->descendants, event->pid))
			rts_wait_proof_give_up();
		break;
	case RTI_EVENT_OTHER:
		break;
	}
}

static int open_accounts(void)
{
	char cpus[1024];
	ssize_t n = rts_read_file(process_log->opts.shared, "/sys/devices/system/cpu/possible",
	                          cpus, sizeof(cpus));

	if (n <= 0)
		return -1;
	cpus[strcspn(cpus, "\n")] = '\0';
	return rti_taskstats_open(cpus);
}

/* Returns an RTI_EVENTS_ value. */
static uint32_t subscribe(void)
{
	unsigned also = RTI_EVENTS_TRACERS;
	uint32_t batch_ms;

	if (process_log->opts.has_list)
		also |= RTI_EVENTS_NAMES | RTI_EVENTS_THREAD_EXITS;

	process_log->events = rti_events_open(also);
	process_log->threads = process_log->events < 0 ? -1 : rti_events_open_threads();
	if (process_log->events < 0)
		return RTI_EVENTS_UNAVAILABLE;
	batch_ms = rti_events_capacity(process_log->events) / EVENTS_PER_MS;
	process_log->batch_ms = batch_ms > BATCH_MAX_MS ? BATCH_MAX_MS : (int)batch_ms;
	if (process_log->opts.has_list) { /* read names before short-lived processes exit */
		process_log->batch_ms = 0;
		process_log->accounts = open_accounts();
	}
	return RTI_EVENTS_INTACT;
}

int rts_process_log_begin(const struct rts_process_log_opts *opts)
{
	struct rti_now now;
	int err = rts_wait_proof_begin(opts->shared, opts->root, opts->cpus);

	if (err < 0)
		return err;
	process_log = rts_table_new(sizeof(*process_log));
	if (!process_log)
		return -ENOMEM;
	process_log->opts = *opts;
	process_log->records =
	    (struct rti_process_record *)((char *)opts->shared + RTI_SHARED_STATS_BYTES);
	rti_platform_init(&process_log->platform, false);
	process_log->platform.now(&now);
	process_log->boottime_ahead_ns = now.boottime_ns - now.monotonic_ns;
	process_log->accounts = -1;
	if (opts->has_list)
		rts_process_text_begin(opts->shared, opts->memory);
	rti_descendant_set_add(&process_log->descendants, opts->root);
	opts->shared->events = subscribe();
	if (process_log->threads < 0)
		rts_wait_proof_give_up();
	return 0;
}

void rts_process_log_set_program(pid_t pid, int64_t inherited_maxrss_kib)
{
	process_log->program = pid;
	process_log->inherited_maxrss_kib = inherited_maxrss_kib;
}

/* Threads may run on without their leader. */
uint64_t rts_process_log_program_end_ns(void)
{
	rts_process_log_update();
	return process_log->opts.shared->has_leader_exit ? 0 : process_log->program_end_ns;
}

static void close_accounts(void)
{
	if (process_log->accounts >= 0)
		close(process_log->accounts);
	process_log->accounts = -1;
}

void rts_process_log_end(void)
{
	if (process_log && process_log->events >= 0)
		rti_events_close(process_log->events);
	if (process_log && process_log->threads >= 0)
		rti_events_close(process_log->threads);
	if (process_log)
		close_accounts();
	rts_table_free(process_log, sizeof(*process_log));
	process_log = NULL;
	rts_wait_proof_end();
}

int *rts_process_log_events(void)
{
	return &process_log->events;
}

int *rts_process_log_threads(void)
{
	return &process_log->threads;
}

int *rts_process_log_accounts(void)
{
	return &process_log->accounts;
}

int rts_process_log_batch_ms(void)
{
	return process_log->batch_ms;
}

static void handle_thread(void *arg, const struct rti_process_event *event)
{
	(void)arg;
	/* Those of the root are of this process. */
	if (event->kind == RTI_EVENT_FORK && event->tid != event->pid &&
	    event->pid != process_log->opts.root &&
	    rti_descendant_set_has(&process_log->descendants, event->pid))
		rts_wait_proof_thread(
		    event, rti_descendant_set_is_alive(&process_log->descendants, event->pid));
}

static void stop(int *events)
{
	if (*events >= 0)
		rti_events_close(*events);
	*events = -1;
	rts_wait_proof_give_up();
}

/* Read the CPU clock of a process when all of its threads have sent their accounts, unless its exit
 * event has been handled: then it may be gone. It is releasing its memory, so this is no final
 * figure. Nothing else is read here, so that the zombie is read in time. */
static void read_cpu(struct rti_process_record *record)
{
	struct rti_cpu_clock clock = { 0 };
	uint64_t user_ns, system_ns;

	if (record->flags & RTI_RECORD_FINAL || record->end_ns ||
	    process_log->platform.cpu_clock(record->pid, &clock) < 0)
		return;
	rti_split_cpu(clock.total_ns, clock.user_part_ns, clock.both_parts_ns, &user_ns,
	              &system_ns);
	rts_exit_account_raise_cpu(record, user_ns, system_ns,
	                           process_log->platform.monotonic_ns());
}

static void add_account(struct rti_process_record *record, const struct rti_task_exit *exited)
{
	bool had_account = record->flags & RTI_RECORD_ACCOUNTED;

	rts_exit_account_add(record, exited, process_log->has_account_loss,
	                     process_log->platform.monotonic_ns());
	if (!had_account && record->flags & RTI_RECORD_ACCOUNTED)
		read_cpu(record);
}

/* Processes that lived on after this time may have executed other programs unnoticed. */
static void forget_programs(uint64_t since_ns)
{
	for (uint64_t i = 0; i < process_log->opts.shared->records; i++) {
		struct rti_process_record *record = &process_log->records[i];

		if (record->end_ns && record->end_ns < since_ns)
			continue;
		rts_process_text_forget(record);
		if (!(record->flags & RTI_RECORD_FINAL))
			memset(record->comm, 0, sizeof(record->comm));
		record->flags |= RTI_RECORD_PEAK_LOW;
	}
}

/* After a loss a pid may have been reused unnoticed. What was counted until then is a lower bound;
 * counts from later events would not be. So stop. Returns false then. */
static bool handle_events(void)
{
	uint64_t begun_ns = process_log->platform.monotonic_ns();

	if (rti_events_drain(process_log->events, handle_event, NULL) == 0) {
		process_log->complete_ns = begun_ns;
		return true;
	}
	forget_programs(process_log->complete_ns);
	process_log->opts.shared->events = RTI_EVENTS_LOST;
	stop(&process_log->events);
	stop(&process_log->threads);
	close_accounts();
	return false;
}

/* Events are read first, so the fork of each process is known now that sent one of these. */
static void add_early_accounts(void)
{
	size_t count = process_log->early_count;

	process_log->early_count = 0;
	if (count == 0 || process_log->events < 0 || !handle_events())
		return;
	for (size_t i = 0; i < count; i++) {
		const struct rti_task_exit *exited = &process_log->early[i];
		struct rti_process_record *record = find_record(exited->pid);

		if (record)
			add_account(record, exited);
	}
}

/* Accounts of all processes of the system arrive here. The fork of this one may not have been
 * handled yet. */
static void handle_account(void *arg, const struct rti_task_exit *exited)
{
	struct rti_process_record *record = find_record(exited->pid);

	(void)arg;
	if (record && !(record->flags & RTI_RECORD_ACCOUNTED)) {
		add_account(record, exited);
		return;
	}
	if (process_log->early_count == EARLY_MAX)
		add_early_accounts();
	process_log->early[process_log->early_count++] = *exited;
}

/* After the events: each exit that they reported has sent its account by then. */
static void receive_accounts(void)
{
	int err;

	do {
		err = process_log->accounts < 0
		          ? 0
		          : rti_taskstats_drain(process_log->accounts, handle_account, NULL);
		process_log->has_account_loss |= err == -ENOBUFS;
	} while (err == -ENOBUFS);
	add_early_accounts();
	if (err < 0)
		close_accounts();
}

void rts_process_log_update(void)
{
	struct rti_shared_stats *shared = process_log->opts.shared;

	if (process_log->events < 0)
		return;
	if (handle_events())
		receive_accounts();
	/* After the other events: a thread is of a process that has been forked by then. */
	if (process_log->threads >= 0 &&
	    rti_events_drain(process_log->threads, handle_thread, NULL) < 0)
		stop(&process_log->threads);
	shared->processes = process_log->descendants.count - 1;
	shared->alive_peak = process_log->descendants.alive_peak - 1;
}

void rts_process_log_catch_up(void)
{
	if (process_log->opts.has_list)
		rts_process_log_update();
}

/* Whether a member besides the root has not exited, by the events so far. */
static bool has_live_members(void)
{
	return process_log->descendants.alive > 1;
}

/* The kernel reports an exit after the parent can reap the process. On a busy system that takes a
 * while: but if no process is left, the report will come. */
static void await_last_exits(bool has_children)
{
	uint64_t end_ns = process_log->platform.monotonic_ns() + LAST_EXITS_MAX_NS;

	while (!has_children && has_live_members() && process_log->events >= 0 &&
	       process_log->platform.monotonic_ns() < end_ns) {
		struct pollfd late = { .fd = process_log->events, .events = POLLIN };

		poll(&late, 1, LAST_EXITS_POLL_MS);
		rts_process_log_update();
	}
}

void rts_process_log_finish(bool has_children)
{
	struct pollfd late = { .fd = process_log->events, .events = POLLIN };

	rts_process_log_update();
	await_last_exits(has_children);
	if (process_log->opts.has_list && process_log->events >= 0 &&
	    poll(&late, 1, EXIT_DELAY_MAX_MS) > 0)
		rts_process_log_update();
	rts_wait_proof_publish(has_children || !has_live_members());
}

/* Read the final stat and CPU time of a process. They are final if it is a zombie without other
 * threads. Returns false if they are not, or cannot be read. */
static bool read_final_stat(struct rti_process_record *record, struct rti_pid_stat *stat)
{
	struct rti_cpu_clock clock = { 0 };

	if (!read_stat(record, stat) || stat->state != 'Z' || stat->num_threads > 1 ||
	    process_log->platform.cpu_clock(record->pid, &clock) < 0)
		return false;
	rti_split_cpu(clock.total_ns, clock.user_part_ns, clock.both_parts_ns, &record->cpu_user_ns,
	              &record->cpu_system_ns);
	record->flags |= RTI_RECORD_FINAL;
	copy_comm(record, stat->comm);
	if (!record->start_ns)
		record->start_ns = stat->starttime * process_log->platform.tick_ns -
		                   process_log->boottime_ahead_ns;
	return true;
}

static void read_final_io(struct rti_process_record *record)
{
	char text[512];
	ssize_t n =
	    rts_read_pid_file(process_log->opts.shared, record->pid, "io", text, sizeof(text));
	struct rti_pid_io io;

	if (n <= 0 || rti_parse_pid_io(text, (size_t)n, &io) < 0)
		return;
	record->read_bytes = io.read_bytes;
	record->write_bytes = io.write_bytes;
	record->flags |= RTI_RECORD_HAS_IO;
}

/* Returns true if the ru_maxrss of a process will be its own peak. The kernel reports the largest
 * of the peaks of the process, of the children that it waited for, and of the program that it ran
 * before exec. So the process must not have waited for children, and the supervisor, which is
 * small, must have forked it. */
static bool has_own_peak(const struct rti_process_record *record, const struct rti_pid_stat *stat)
{
	return record->ppid == process_log->opts.root && stat->cminflt + stat->cmajflt == 0;
}

void rts_process_log_record_zombie(pid_t pid)
{
	struct rti_process_record *record = find_record(pid);
	struct rti_pid_stat stat;

	/* Without events the fork of this process and its parent are unknown, and an older record
	 * for its pid may be of another process. */
	if ((!record || record->flags & RTI_RECORD_REAPED) && process_log->opts.has_list &&
	    process_log->events < 0)
		record = add_record(pid, 0, 0);
	if (!record || record->flags & RTI_RECORD_FINAL || !read_final_stat(record, &stat))
		return;
	read_final_io(record);
	if (has_own_peak(record, &stat))
		record->flags |= RTI_RECORD_WAIT_HAS_PEAK;
}

void rts_process_log_record_reaped(pid_t pid, int status, const struct rusage *use)
{
	struct rti_process_record *record = find_record(pid);
	struct rti_now now;

	if (!record)
		return;
	process_log->platform.now(&now);
	if (!record->end_ns)
		record->end_ns = now.monotonic_ns;
	record->status = (uint32_t)status;
	record->flags |= RTI_RECORD_REAPED;
	if (!(record->flags & RTI_RECORD_WAIT_HAS_PEAK) ||
	    use->ru_maxrss <= process_log->inherited_maxrss_kib)
		return;
	record->peak_rss_bytes = (uint64_t)use->ru_maxrss * 1024;
	record->flags |= RTI_RECORD_HAS_PEAK;
	record->flags &= ~RTI_RECORD_PEAK_LOW;
}
