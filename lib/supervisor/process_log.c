/* SPDX-License-Identifier: MIT */
/* Counts every process of the tree by the kernel's process events, and lists them if requested. */
#include "supervisor/process_log.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "os/platform.h"
#include "os/proc_connector.h"
#include "supervisor/account_receiver.h"
#include "supervisor/cgroup_watch.h"
#include "supervisor/leader_exit.h"
#include "supervisor/process_text.h"
#include "supervisor/record_list.h"
#include "supervisor/record_read.h"
#include "supervisor/table.h"
#include "supervisor/wait_proof.h"
#include "util/descendant_set.h"

#define EVENTS_PER_MS 256 /* that a large system may have */
/* Sockets with room for fewer get their filters at once: threads might fill them. */
#define SPARE_EVENTS 4096
#define UNFILTERED_MAX_MS 2
#define BATCH_MAX_MS 20
#define EXIT_DELAY_MAX_MS 2 /* how long after a process is reaped its exit may be reported */
#define LAST_EXITS_MAX_NS 100000000 /* the same on a busy system, if none is left that runs */
#define LAST_EXITS_POLL_MS 10

/* Its tables are large, but only the pages that are used take up memory. */
struct process_log {
	struct rts_process_log_opts opts;
	int64_t inherited_maxrss_kib;
	pid_t program;
	uint64_t program_end_ns;
	bool has_leader_exit; /* as in the shared memory, which others may write to */
	struct rti_platform platform;
	struct rti_descendant_set descendants;
	int events, threads;                    /* sockets, or -1 */
	bool has_filters, may_wait_for_filters; /* that drop events of threads */
	int64_t ahead_ns;                       /* our clock, of the clock of the events */
	uint64_t complete_ns;                   /* CLOCK_MONOTONIC until which no event was lost */
	int batch_ms;
};

/* The only one. NULL: none. */
static struct process_log *process_log;

static void handle_fork(const struct rti_process_event *event)
{
	const struct rti_process_record *parent;
	struct rti_process_record *record;

	if (event->tid != event->pid) /* of a thread, before the filter */
		return;
	if (!rti_descendant_set_fork(&process_log->descendants, event->ppid, event->pid)) {
		rts_record_forget_pid(event->pid);
		return;
	}
	rts_wait_proof_fork(event);
	rts_cgroup_watch_fork(event->pid);
	rts_cgroup_watch_sample(event->pid, event->monotonic_ns);
	if (!process_log->opts.has_list)
		return;
	parent = rts_record_find(event->ppid);
	record = rts_record_add(event->pid, event->ppid, event->monotonic_ns);
	if (!record || !parent)
		return;
	memcpy(record->comm, parent->comm, sizeof(record->comm));
	rts_process_text_fork(record, parent);
}

static void handle_exec(const struct rti_process_event *event)
{
	struct rti_process_record *record = rts_record_find(event->pid);

	if (rti_descendant_set_has(&process_log->descendants, event->pid))
		rts_cgroup_watch_sample(event->pid, event->monotonic_ns);
	rti_descendant_set_exec(&process_log->descendants, event->pid);
	if (record)
		rts_record_read_program(record);
}

/* Each thread of a process has an exit event; the process ends with the last of them. */
static void handle_exit(const struct rti_process_event *event)
{
	struct rti_process_record *record = rts_record_find(event->pid);
	const struct rti_descendant_set *descendants = &process_log->descendants;

	if (event->pid == process_log->program && event->tid == event->pid)
		process_log->program_end_ns = event->monotonic_ns;
	if (event->tid == event->pid && rti_descendant_set_is_alive(descendants, event->pid)) {
		bool is_parent_known = rti_descendant_set_has(descendants, event->ppid);

		if (rts_runs_without_leader(process_log->opts.shared, event->pid)) {
			process_log->has_leader_exit = true;
			process_log->opts.shared->has_leader_exit = 1;
		}
		rts_cgroup_watch_exit(event->pid, rts_wait_proof_exit(event, is_parent_known));
		rti_descendant_set_exit(&process_log->descendants, event->pid);
	}
	if (!record || record->flags & RTI_RECORD_REAPED)
		return;
	record->threads_ended += event->tid != event->pid;
	record->end_ns = event->monotonic_ns;
	/* The process has its leader's status. Another thread's counts if it is not 0: what kills
	 * the process after its leader has exited shows only in the other threads. A status of 0 is
	 * ignored, since the thread may have exited before the leader: its event may come later all
	 * the same. */
	if (event->tid == event->pid || event->status)
		record->status = event->status;
	rts_process_log_record_zombie(event->pid);
}

static void handle_event(const struct rti_process_event *event)
{
	struct rti_process_record *record;

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
		record = event->tid == event->pid ? rts_record_find(event->pid) : NULL;
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

/* The kernel knows nothing of the time namespace of this process. */
static void take_event(void *arg, const struct rti_process_event *event)
{
	struct rti_process_event converted = *event;

	(void)arg;
	converted.monotonic_ns += (uint64_t)process_log->ahead_ns;
	handle_event(&converted);
}

static unsigned wanted_events(void)
{
	return process_log->opts.has_list
	           ? RTI_EVENTS_TRACERS | RTI_EVENTS_NAMES | RTI_EVENTS_THREAD_EXITS
	           : RTI_EVENTS_TRACERS;
}

/* Returns an RTI_EVENTS_ value. */
static uint32_t subscribe(void)
{
	uint32_t capacity, batch_ms;

	process_log->events = process_log->threads = -1;
	if (process_log->opts.is_counted)
		return RTI_EVENTS_UNAVAILABLE;
	process_log->events =
	    rti_events_open(wanted_events() | RTI_EVENTS_UNFILTERED, &process_log->ahead_ns);
	process_log->threads =
	    process_log->events < 0 ? -1 : rti_events_open_threads(RTI_EVENTS_UNFILTERED);
	if (process_log->events < 0)
		return RTI_EVENTS_UNAVAILABLE;
	capacity = rti_events_capacity(process_log->events);
	process_log->may_wait_for_filters = capacity >= SPARE_EVENTS;
	batch_ms = capacity / EVENTS_PER_MS;
	process_log->batch_ms = batch_ms > BATCH_MAX_MS ? BATCH_MAX_MS : (int)batch_ms;
	if (process_log->opts.has_list) { /* read names before short-lived processes exit */
		process_log->batch_ms = 0;
		rts_accounts_begin(process_log->opts.shared);
	}
	return RTI_EVENTS_INTACT;
}

int rts_process_log_begin(const struct rts_process_log_opts *opts)
{
	int err = rts_wait_proof_begin(opts->shared, opts->root, opts->cpus);

	if (err < 0)
		return err;
	process_log = rts_table_new(sizeof(*process_log));
	if (!process_log)
		return -ENOMEM;
	process_log->opts = *opts;
	rti_platform_init(&process_log->platform, false);
	if (opts->has_list) {
		rts_process_text_begin(opts->shared, opts->memory);
		rts_record_read_begin(opts->shared, opts->root);
		err = rts_record_list_begin(opts->shared, opts->memory);
		if (err < 0)
			return err;
	}
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
	if (!process_log->may_wait_for_filters)
		rts_process_log_filter();
}

void rts_process_log_filter(void)
{
	if (process_log->has_filters)
		return;
	process_log->has_filters = true;
	rti_events_filter(process_log->events, wanted_events());
	rti_events_filter_threads(process_log->threads);
}

void rts_process_log_end(void)
{
	if (process_log && process_log->events >= 0)
		rti_events_close(process_log->events);
	if (process_log && process_log->threads >= 0)
		rti_events_close(process_log->threads);
	rts_accounts_end();
	rts_record_list_end();
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
	return rts_accounts_socket();
}

int rts_process_log_batch_ms(void)
{
	if (!process_log->has_filters && process_log->batch_ms > UNFILTERED_MAX_MS)
		return UNFILTERED_MAX_MS;
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

/* A process that lived on after this time may have executed another program unnoticed. */
static void forget_program_since(void *arg, struct rti_process_record *record)
{
	const uint64_t *since_ns = arg;

	if (!record->end_ns || record->end_ns >= *since_ns)
		rts_record_forget_program(record);
}

/* After a loss a pid may have been reused unnoticed. What was counted until then is a lower bound;
 * counts from later events would not be. So stop. Returns false then, and ever after. */
static bool handle_events(void)
{
	uint64_t begun_ns = process_log->platform.monotonic_ns();

	if (process_log->events < 0)
		return false;
	if (rti_events_drain(process_log->events, take_event, NULL) == 0) {
		process_log->complete_ns = begun_ns;
		return true;
	}
	rts_record_each(forget_program_since, &process_log->complete_ns);
	process_log->opts.shared->events = RTI_EVENTS_LOST;
	stop(&process_log->events);
	stop(&process_log->threads);
	rts_accounts_end();
	return false;
}

void rts_process_log_update(void)
{
	struct rti_shared_stats *shared = process_log->opts.shared;

	if (process_log->events < 0)
		return;
	if (handle_events())
		rts_accounts_receive(handle_events);
	/* After the other events: a thread is of a process that has been forked by then. */
	if (process_log->threads >= 0 &&
	    rti_events_drain(process_log->threads, handle_thread, NULL) < 0)
		stop(&process_log->threads);
	shared->processes = process_log->descendants.count - 1;
	shared->alive_peak = process_log->descendants.alive_peak - 1;
}

/* Threads may run on without their leader. */
uint64_t rts_process_log_program_end_ns(void)
{
	handle_events();
	return process_log->has_leader_exit ? 0 : process_log->program_end_ns;
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

void rts_process_log_record_zombie(pid_t pid)
{
	struct rti_process_record *record = rts_record_find(pid);

	/* Without events the fork of this process and its parent are unknown, and an older record
	 * for its pid may be of another process. */
	if ((!record || record->flags & RTI_RECORD_REAPED) && process_log->opts.has_list &&
	    process_log->events < 0)
		record = rts_record_add(pid, 0, 0);
	if (record && !(record->flags & RTI_RECORD_FINAL))
		rts_record_read_final(record);
}

void rts_process_log_record_reaped(pid_t pid, int status, const struct rusage *use)
{
	struct rti_process_record *record = rts_record_find(pid);
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
