/* SPDX-License-Identifier: MIT */
/* rtrack run: runs a command, follows it and its descendants, and reports what they used.
 *
 * Between samples, rtrack sleeps in rt_command_wait() with a timeout. It returns when the command
 * ends. One more sample then has the final totals, so the rows add up to the summary. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "ending.h"
#include "follow/clock.h"
#include "follow/figures.h"
#include "follow/follow.h"
#include "hard_memory.h"
#include "info/accounting_methods.h"
#include "options/commands.h"
#include "process/exit_code.h"
#include "process/program.h"
#include "process/punctual.h"
#include "process/signals.h"
#include "report/live.h"
#include "report/outputs.h"
#include "report/wanted.h"
#include "run_limits.h"
#include "series/processes.h"
#include "series/rows.h"
#include "series/series.h"
#include "summary/summary.h"
#include "text/message.h"
#include "text/units.h"
#include "unended.h"

#define MESSAGE_BYTES 512
#define FIRST_LOOK_NS (NS_PER_S / 50)
/* Longest time between two looks at the terminal, while a line is shown there. */
#define LIVE_CHECK_NS (NS_PER_S / 5)
/* Time between two looks at what the command has left running, while it is being ended. */
#define ENDING_LOOK_NS (NS_PER_S / 50)

struct run {
	const struct options *options;
	const char *const *argv;
	struct rt_command *command;
	struct rt_tracker *system_tracker; /* NULL if the rows have no system columns */
	struct follow tree, system;
	struct series series;
	struct summary summary;
	struct processes processes;
	struct live live;
	struct ticker ticker;
	struct limits limits;
	struct ending ending;
	bool has_looks; /* at the processes that use most, also between two rows */
	struct top_processes top;
	const char **script; /* arguments of the shell that runs a script, or NULL */
	bool is_unended;     /* the command was given up */
	bool is_unheld;      /* the kernel does not hold its memory, as it was to */
	struct rt_outcome outcome;
	char message[MESSAGE_BYTES]; /* why the command could not be started */
};

/* Open the outputs before the command is started: if one cannot be opened, the command does not
 * run. Returns 0 or an exit code. */
static int prepare(struct run *r)
{
	struct rt_opts opts = { .size = sizeof(opts) };
	int err = 0;

	if (processes_open(&r->processes, r->options) < 0 ||
	    summary_open(&r->summary, r->options) < 0 || series_open(&r->series, r->options) < 0)
		return EXIT_BEFORE_START;
	err = outputs_check(r->options, &r->series, &r->summary, &r->processes);
	if (err != 0)
		return err;
	if (!series_wants_system(&r->series))
		return 0;
	opts.want = wanted_domains(r->options, &r->series, RT_KIND_SYSTEM);
	err = rt_system_tracker_new(&r->system_tracker, &opts);
	if (err == 0)
		err = follow_start(&r->system, r->system_tracker, r->options->interval_ns);
	r->system.wants_gpu = r->options->gpu;
	if (err < 0)
		warn("cannot follow the system: %s", error_words(err));
	return err < 0 ? EXIT_BEFORE_START : 0;
}

/* Whether the program was killed before it was executed, or never came to that. */
static bool is_start_given_up(int err)
{
	return err == -ECHILD || err == -ETIMEDOUT || err == -EINTR;
}

static void report_failed_start(struct run *r, int err)
{
	words_of_sentences(r->message);
	if (is_start_given_up(err) && *r->message)
		warn("cannot run '%s': %s", r->argv[0], r->message);
	else if (err == -EOPNOTSUPP)
		warn("accounting by %s is not available: %s",
		     accounting_name(r->options->accounting),
		     accounting_method_missing(r->options->accounting));
	else if (err == -ENOPKG || err == -EPROTO)
		warn("accounting by %s is not available: %s",
		     accounting_name(r->options->accounting), r->message);
	else
		program_report_failed_start(r->argv[0], err);
}

/* Begin to follow the command from its start, which was a moment ago. */
static void begin(struct run *r)
{
	const struct options *o = r->options;
	const struct subject subject = { .argv = r->argv, .interval_ns = o->interval_ns };
	struct rt_command_info info;
	int64_t start_ns;

	rt_command_get_info(r->command, &info, sizeof(info));
	start_ns = (int64_t)info.start_ns;
	follow_start_from_zero(&r->tree, rt_command_tracker(r->command), o->interval_ns, start_ns);
	r->tree.pid = rt_command_pid(r->command);
	r->tree.is_alone = o->no_children;
	r->tree.wants_gpu = o->gpu;
	series_begin(&r->series, &subject);
	ticker_init(&r->ticker, o, start_ns);
	limits_init(&r->limits, o, r->command, start_ns);
	ending_init(&r->ending, r->command);
	/* Rows that are as frequent as looks need none between them. */
	r->has_looks = summary_wants_top(&r->summary) && o->interval_ns > TOP_LOOK_NS;
	r->top.next_look_ns = start_ns + FIRST_LOOK_NS;
}

static bool has_limit(const struct options *o)
{
	return o->timeout_ns || o->max_memory_bytes || o->max_cpu_ns || o->max_processes;
}

/* Whether the kernel is to hold its memory, by a cgroup of its own. */
static bool holds_memory(const struct options *o)
{
	return o->hard_memory && o->max_memory_bytes && !o->no_children &&
	       (o->accounting == RT_ACCOUNTING_AUTO || o->accounting == RT_ACCOUNTING_CGROUP);
}

/* We start no other program while the command runs, unless the rows show the system: the library
 * may then ask zpool(8). A program that stops its parent must not stop us if it has a limit: a
 * supervisor is continued. RTRACK_SUPERVISOR is for tests. */
static bool may_be_supervisor(const struct run *r)
{
	const char *wish = getenv("RTRACK_SUPERVISOR");

	if (r->system_tracker || (wish && strcmp(wish, "separate") == 0))
		return false;
	return (wish && strcmp(wish, "self") == 0) ||
	       (r->options->accounting != RT_ACCOUNTING_WAIT && !has_limit(r->options));
}

static uint32_t command_flags(const struct run *r)
{
	return (processes_are_wanted(&r->processes) ? RT_COMMAND_LIST_PROCESSES : 0) |
	       (may_be_supervisor(r) ? RT_COMMAND_SUBREAPER_SELF : 0);
}

static int start(struct run *r)
{
	const struct options *o = r->options;
	const struct rt_opts tracker =
	    follow_tracker_opts(o, RT_KIND_PID, wanted_domains(o, &r->series, RT_KIND_PID));
	struct rt_command_opts opts = {
		.size = sizeof(opts),
		.flags = command_flags(r),
		.argv = r->argv,
		.tracker = &tracker,
		.accounting = o->accounting,
		.message = r->message,
		.message_size = sizeof(r->message),
		.start_timeout_ns = (uint64_t)o->timeout_ns,
	};
	int err;

	live_init(&r->live, o, &r->series, clock_now());
	if (holds_memory(o))
		opts.accounting = RT_ACCOUNTING_CGROUP;
	err = rt_command_start(&r->command, &opts);
	if (err == -ENOEXEC && (r->script = program_as_script(r->argv))) {
		opts.argv = r->script;
		err = rt_command_start(&r->command, &opts);
	}
	if (err == 0)
		begin(r);
	else
		live_clear(&r->live);
	return err;
}

/* Take one sample, and write its row. */
static void write_row(struct run *r)
{
	const struct follow *system = NULL;
	if (follow_sample(&r->tree) < 0)
		return;
	if (summary_wants_top(&r->summary))
		top_processes_look(&r->top, r->tree.tracker, &r->tree.now);
	if (r->system_tracker && follow_sample(&r->system) == 0)
		system = &r->system;
	rows_write(&r->series, &r->tree, system);
}

/* Write a row and send a signal, if they are due. */
static void run_due_actions(struct run *r)
{
	int64_t now = clock_now();

	if (now >= r->ticker.next) {
		write_row(r);
		limits_check(&r->limits, &r->tree.now);
		live_draw(&r->live, &r->tree, 1);
		if (!ticker_advance(&r->ticker, now))
			series_flush(&r->series);
	}
	if (r->has_looks)
		top_processes_sample(&r->top, r->tree.tracker);
	limits_look(&r->limits);
	if (r->limits.passed && !r->ending.has_begun)
		ending_begin(&r->ending);
	if (r->limits.is_far_above)
		ending_hurry(&r->ending);
	ending_continue(&r->ending);
}

/* Returns when the next action is due. */
static int64_t next_due(const struct run *r)
{
	int64_t due = r->ticker.next, limits_due_at = limits_due(&r->limits);

	due = limits_due_at < due ? limits_due_at : due;
	due = r->ending.next_at < due ? r->ending.next_at : due;
	return r->has_looks && r->top.next_look_ns < due ? r->top.next_look_ns : due;
}

/* Returns the time until the next action, in ns; -1: none is due. */
static int64_t time_to_wait(const struct run *r)
{
	int64_t due = next_due(r), left = -1;

	if (due != NEVER) {
		left = due - clock_now();
		left = left > 0 ? left : 0;
	}
	if (live_is_on(&r->live) && (left < 0 || left > LIVE_CHECK_NS))
		left = LIVE_CHECK_NS;
	return left;
}

/* The command has ended. What it has left running has the rest of the grace time, or until a signal
 * requests the end. */
static void end_remaining(struct run *r)
{
	while (!signals_end_requested() && ending_is_graceful(&r->ending)) {
		int64_t due = next_due(r), look_at = clock_now() + ENDING_LOOK_NS;

		signals_sleep(due < look_at ? due : look_at, NULL, 0);
		run_due_actions(r);
		live_check(&r->live);
	}
	ending_finish(&r->ending, &r->outcome);
}

static void follow_to_end(struct run *r)
{
	int err;

	do {
		err = rt_command_wait(r->command, time_to_wait(r), &r->outcome, sizeof(r->outcome));
		if (err == -ETIMEDOUT)
			run_due_actions(r);
		else if (err == -EINTR)
			ending_look(&r->ending);
		live_check(&r->live);
		r->is_unended = err == -ETIMEDOUT || err == -EINTR;
	} while (r->is_unended && !r->ending.is_given_up);
	if (r->is_unended) {
		write_row(r);
		unended_outcome(&r->outcome, r->command, &r->tree);
		return;
	}
	if (err < 0)
		warn("the exit status of the command, process %d, is lost: its supervisor was "
		     "killed",
		     (int)r->tree.pid);
	if (r->ending.has_begun)
		end_remaining(r);
	if (r->outcome.left_running > 0)
		r->tree.outcome = &r->outcome;
	write_row(r);
}

/* Rank the processes that used most: by the list of all, if there is one. A single process needs no
 * look at it. */
static void rank(struct run *r, struct usage *u)
{
	struct top_process single = {
		.pid = u->pid,
		.has_cpu = is_known(u->marks, RT_HAS_CPU),
		.has_memory = is_known(u->marks, RT_HAS_PEAK_RSS),
		.is_cpu_final = (u->marks.valid & RT_HAS_CPU) != 0,
		.is_memory_final = (u->marks.valid & RT_HAS_PEAK_RSS) != 0,
		.cpu_ns = u->cpu_ns,
		.peak_rss_bytes = u->peak_rss_bytes,
	};

	u->top = &r->top;
	if (processes_are_wanted(&r->processes) &&
	    top_processes_rank_list(&r->top, r->command) == 0)
		return;
	if (u->processes == 1 && u->processes_exact) {
		top_process_set_command(&single, r->argv);
		top_processes_set_single(&r->top, &single);
	} else {
		top_processes_rank(&r->top);
	}
}

/* Returns why no supervisor could be started, or NULL if it is not known. Another one is started to
 * find out. */
static const char *supervisor_problem(void)
{
	struct rt_outcome outcome;
	int err = accounting_method_try(RT_ACCOUNTING_WAIT, &outcome);

	if (err == -ENOPKG)
		return accounting_method_refusal(RT_ACCOUNTING_WAIT);
	return err == -EPROTO ? rt_strerror(err) : NULL;
}

static void write_results(struct run *r)
{
	struct usage usage;

	live_clear(&r->live);
	usage_of_command(&usage, &r->outcome, &r->tree);
	usage.has_ended = !r->is_unended;
	usage.argv = r->argv;
	usage.label = r->options->label;
	limits_set_usage(&r->limits, &usage);
	usage.samples_missed = r->ticker.missed;
	if (summary_wants_top(&r->summary))
		rank(r, &usage);
	if (usage.reasons & RT_REASON_NO_SUPERVISOR)
		usage.supervisor_problem = supervisor_problem();
	ending_report(&r->ending, r->outcome.left_running);
	processes_write(&r->processes, r->command);
	summary_write(&r->summary, &usage, 1);
}

static int exit_code(const struct run *r)
{
	if (r->is_unheld)
		return EXIT_BEFORE_START;
	if (r->limits.passed || (r->limits.late && r->options->strict_limits))
		return EXIT_TIMED_OUT;
	return r->is_unended ? EXIT_GIVEN_UP : exit_code_of_outcome(&r->outcome);
}

/* Returns the exit code. */
static int exit_code_of_no_start(const struct run *r, int err, int64_t took_ns)
{
	if (err == -ETIMEDOUT && r->options->timeout_ns > 0 && took_ns >= r->options->timeout_ns)
		return EXIT_TIMED_OUT;
	if (err == -EINTR)
		return EXIT_SIGNAL_BASE + signals_pending_end();
	return exit_code_of_failed_start(err);
}

/* Whether this works was tried before the command was started. */
static void hold_memory(struct run *r)
{
	int err;

	if (!holds_memory(r->options))
		return;
	err = hard_memory_set(r->command, r->options->max_memory_bytes);
	if (err == 0)
		return;
	warn("--hard-memory cannot hold the command, which is killed: %s", rt_strerror(err));
	rt_command_kill(r->command);
	r->is_unheld = true;
}

static bool can_hold_memory(const struct options *o)
{
	int err = holds_memory(o) ? hard_memory_try(o->max_memory_bytes) : 0;

	if (err == -ENOENT)
		warn("--hard-memory needs a cgroup of the command's own with an account of memory, "
		     "which cannot be made here");
	else if (err < 0)
		warn("--hard-memory cannot set the limit of a cgroup: %s", rt_strerror(err));
	return err == 0;
}

static int run(struct run *r)
{
	int64_t begun_at;
	int err;

	err = prepare(r);
	if (err != 0)
		return err;
	if (!can_hold_memory(r->options))
		return EXIT_BEFORE_START;
	signals_hold();
	begun_at = clock_now();
	err = start(r);
	if (err < 0) {
		report_failed_start(r, err);
		return exit_code_of_no_start(r, err, clock_now() - begun_at);
	}
	signals_forward(r->command);
	punctual_begin(r->options->interval_ns);
	hold_memory(r);
	follow_to_end(r);
	limits_note_end(&r->limits);
	signals_stop_forwarding();
	write_results(r);
	return exit_code(r);
}

/* Returns 0, or an exit code if limits do not go with other options. Defaults that cannot be used
 * are left alone. */
static int check_limits(const struct options *o)
{
	if (o->max_processes && o->no_children)
		return usage_error(o, "--max-processes counts descendants, too: it does not go "
		                      "with --no-children");
	if (o->max_memory_bytes && o->pss == PSS_OFF)
		return usage_error(o, "--max-memory needs to read how much memory processes "
		                      "share: it does not go with --pss off");
	if (o->strict_limits && !o->defaults.strict_limits && !has_limit(o))
		return usage_error(o, "--strict-limits needs a limit, e.g. --max-memory");
	if (!o->hard_memory || o->defaults.hard_memory || holds_memory(o))
		return 0;
	return usage_error(o, o->max_memory_bytes ? "--hard-memory needs --accounting cgroup"
	                                          : "--hard-memory needs --max-memory");
}

int command_run(const struct options *options)
{
	/* 55 KiB, of which few pages are used: on the stack all of them would be written to, and if
	 * it were initialized, the file of the program would have it. */
	static struct run r;
	int code;

	r.live.fd = -1;
	r.options = options;
	r.argv = (const char *const *)options->operands;
	if (options->operand_count == 0)
		return usage_error(options, "no command given");
	code = series_check(options);
	if (code != 0)
		return code;
	if (options->no_children && options->accounting > RT_ACCOUNTING_POLL)
		return usage_error(options, "--no-children needs --accounting poll: the other "
		                            "methods account for a whole tree");
	code = check_limits(options);
	if (code != 0)
		return code;
	code = run(&r);
	live_free(&r.live);
	rows_report(&r.series, &r.tree);
	series_close(&r.series, &r.ticker);
	processes_close(&r.processes);
	summary_close(&r.summary);
	code = outputs_exit_code(code, &r.series, &r.summary, &r.processes);
	top_processes_free(&r.top);
	free(r.script);
	limits_free(&r.limits);
	members_free(&r.tree.members);
	rt_tracker_free(r.system_tracker);
	rt_command_free(r.command);
	return code;
}
