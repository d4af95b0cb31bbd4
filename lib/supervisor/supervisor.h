/* SPDX-License-Identifier: MIT */
/* Starts one program, reaps it and its orphaned descendants, and reports.
 *
 * The same code runs in two places: in a process of its own (main.c), and in the process that has
 * asked for the program, if that process allows it (command/own_supervisor.c). Either process is a
 * subreaper, calls these functions from one thread at a time, and has one command at a time. */
#ifndef RTS_SUPERVISOR_H
#define RTS_SUPERVISOR_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "os/protocol/supervisor_protocol.h"
#include "supervisor/reaped_io.h"

/* What to start, and how. */
struct rts_request {
	bool has_list, has_new_group, has_new_session, is_counted;
	const char *cgroup; /* directories, as in supervisor_protocol.h; or "" */
	const char *cwd;    /* or "" */
	char **argv;
	char **envp; /* NULL: this process's */
};

/* Written by supervisor.c only, except for what the caller sets before rts_begin(). */
struct rts_supervisor {
	/* Set by the caller. */
	struct rti_shared_stats *shared;
	int memory; /* descriptor of the memory that shared is in */
	/* This process is the one that has asked for the program. */
	bool is_caller;
	/* Called with each report. */
	void (*deliver)(struct rts_supervisor *s);

	pid_t program; /* 0 once it was reaped */
	bool may_reap;
	bool is_batching; /* events accumulate until batch_ends_ms */
	uint64_t batch_ends_ms;
	struct rti_report report;

	/* For a caller, which may have had children before. */
	struct rusage children_before;
	int64_t reaped_maxrss_kib; /* largest of all that were reaped */
	uint64_t reaped;           /* how many there were */
	struct rts_reaped_io io;
};

/* Prepare to start a program: begin to count. cpus: that are online. Returns 0 or -ENOMEM. */
int rts_begin(struct rts_supervisor *s, const struct rts_request *request, uint64_t cpus);
/* Start the program. mask: its signal mask. Fills the report: its pid, or why there is none.
 * Returns the kind of the report. */
enum rti_report_kind rts_start(struct rts_supervisor *s, const struct rts_request *request,
                               const sigset_t *mask);
/* Stop counting, and release what rts_begin() has acquired. */
void rts_end(void);

/* What RUSAGE_CHILDREN says of the processes that were reaped since rts_begin(). */
void rts_get_reaped(const struct rts_supervisor *s, struct rusage *use);

/* Complete the report and deliver it. */
void rts_report(struct rts_supervisor *s, enum rti_report_kind kind);

/* Reap all zombies, but some ten thousand at most: if processes exit as fast as they are reaped, a
 * caller would wait forever. Reports the end of the program. Sets *has_more if there may be more.
 * Returns 0; -EPERM if the process may not wait for its children; or -ECHILD if another part of the
 * process has reaped the program. */
int rts_reap_all(struct rts_supervisor *s, bool *has_more);

/* Bring the shared stats up to date, and report the account. */
void rts_account(struct rts_supervisor *s);

/* Let events accumulate before they are handled: a wakeup costs more than an event. The first calls
 * for rts_begin_batch(). rts_batch_left_ms() handles them if the time is over. It returns how long
 * to sleep at most, or -1 for no limit. */
void rts_begin_batch(struct rts_supervisor *s);
int rts_batch_left_ms(struct rts_supervisor *s);

#endif
