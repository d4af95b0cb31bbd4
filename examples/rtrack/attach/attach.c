/* SPDX-License-Identifier: MIT */
/* rtrack attach: follow running processes and their descendants until all have ended. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "follow/clock.h"
#include "follow/follow.h"
#include "options/commands.h"
#include "process/command_line.h"
#include "process/pidfd.h"
#include "process/punctual.h"
#include "process/signals.h"
#include "process/tree.h"
#include "report/live.h"
#include "report/outputs.h"
#include "report/wanted.h"
#include "series/rows.h"
#include "series/series.h"
#include "summary/summary.h"
#include "target_cgroup.h"
#include "targets.h"
#include "text/message.h"
#include "text/units.h"

#define PEAK_POLL_NS (NS_PER_S / 50) /* shortest time between two peak polls */
#define TARGET_NAP_NS 50000000       /* between two looks for one */
#define PEAK_POLL_COST_FACTOR 200    /* that time is at least so many times the CPU cost */

struct attach {
	const struct options *options;
	size_t count;
	struct follow *trees;
	/* One pidfd for each root. It becomes readable when the root exits. fd is -1 if there is
	 * none: then the next sample notices that the root has exited. Of a cgroup, cgroup.events.
	 */
	struct pollfd *pidfds;
	struct target_cgroup *cgroups;     /* one for each root */
	struct top_processes *tops;        /* likewise */
	char ***command_lines;             /* likewise; NULL: unknown */
	bool *is_finished;                 /* for each tree: its last row is written */
	struct rt_tracker *system_tracker; /* NULL if the rows have no system columns */
	struct follow system;
	struct series series;
	struct summary summary;
	struct live live;
	struct ticker ticker;
	int64_t start_ns, next_peak_poll;
	struct target target; /* what the option names that does, if any */
	struct text found;    /* all of it, each with a NUL behind it */
};

static struct rt_opts tracker_opts(const struct attach *a, uint32_t kind)
{
	return follow_tracker_opts(a->options, kind, wanted_domains(a->options, &a->series, kind));
}

static void free_arrays(struct attach *a)
{
	free(a->trees);
	free(a->pidfds);
	free(a->cgroups);
	free(a->is_finished);
	free(a->tops);
	free(a->command_lines);
}

static bool is_attached(const struct attach *a, int32_t pid)
{
	for (size_t i = 0; i < a->count; i++) {
		if (a->trees[i].pid == pid)
			return true;
	}
	return false;
}

/* Attach to the process that word names. Returns 0 or an exit code, or TARGET_MISSING for one that
 * --name has found and that is gone. */
static int attach_to(struct attach *a, const char *word)
{
	struct rt_opts opts = tracker_opts(a, RT_KIND_PID);
	char message[256] = "";
	struct follow *tree = &a->trees[a->count];
	struct rt_tracker *tracker;
	int64_t making_cpu_ns;
	uint64_t pid;
	int err;

	if (parse_count(word, INT32_MAX, &pid) < 0) {
		warn("invalid process '%s': a process id is a whole number, at least 1; --name "
		     "follows a process by its name",
		     word);
		return EXIT_USAGE;
	}
	opts.message = message;
	opts.message_size = sizeof(message);
	if (is_attached(a, (int32_t)pid)) {
		warn("process %s is named twice: it is followed once", word);
		return 0;
	}
	making_cpu_ns = clock_cpu();
	err = rt_pid_tracker_new(&tracker, (int32_t)pid, &opts);
	making_cpu_ns = clock_cpu() - making_cpu_ns;
	/* It may have ended since it was found, or have another program by now. */
	if (a->options->name &&
	    (err == -ESRCH || (err == 0 && !target_is_process(&a->target, (int32_t)pid)))) {
		rt_tracker_free(err == 0 ? tracker : NULL);
		return TARGET_MISSING;
	}
	if (err == 0) {
		a->pidfds[a->count] =
		    (struct pollfd){ .fd = pidfd_open_of((int32_t)pid), .events = POLLIN };
		target_cgroup_init(&a->cgroups[a->count], (int32_t)pid);
		a->count++;
		a->command_lines[a->count - 1] = command_line_read((int32_t)pid);
		err = follow_start(tree, tracker, a->options->interval_ns);
		top_processes_set_base(&a->tops[a->count - 1], tracker);
		target_cgroup_check(&a->cgroups[a->count - 1], tracker);
		tree->pid = (int32_t)pid;
		tree->is_alone = a->options->no_children;
		tree->wants_gpu = a->options->gpu;
		tree->making_cpu_ns = making_cpu_ns;
	}
	if (err < 0) {
		words_of_sentences(message);
		warn("cannot attach to process %s: %s", word,
		     message[0] && err != -ESRCH ? message : error_words(err));
		return EXIT_BEFORE_START;
	}
	return 0;
}

/* Attach to a cgroup. Returns 0 or an exit code. */
static int attach_to_cgroup(struct attach *a, const char *name)
{
	struct rt_opts opts = tracker_opts(a, RT_KIND_CGROUP);
	struct follow *group = &a->trees[a->count];
	char message[256] = "";
	struct rt_tracker *tracker;
	int64_t making_cpu_ns = clock_cpu();
	int err;

	opts.message = message;
	opts.message_size = sizeof(message);
	err = rt_cgroup_tracker_new(&tracker, name, &opts);
	making_cpu_ns = clock_cpu() - making_cpu_ns;
	if (err == 0) {
		a->pidfds[a->count] =
		    (struct pollfd){ .fd = target_cgroup_open_events(name), .events = POLLPRI };
		if (a->pidfds[a->count].fd >= 0)
			target_cgroup_is_empty(a->pidfds[a->count].fd);
		a->count++;
		err = follow_start(group, tracker, a->options->interval_ns);
		top_processes_set_base(&a->tops[a->count - 1], tracker);
		group->cgroup = name;
		group->wants_gpu = a->options->gpu;
		group->making_cpu_ns = making_cpu_ns;
	}
	if (err < 0) {
		words_of_sentences(message);
		warn("cannot attach to cgroup %s: %s", name,
		     message[0] ? message : error_words(err));
		return EXIT_BEFORE_START;
	}
	return 0;
}

/* What options name. attach() takes what find() has found. */
struct target_kind {
	const char *what;
	int (*find)(const struct target *target, int watch, struct text *found);
	int (*attach)(struct attach *a, const char *path);
	void (*explain)(const struct target *target); /* that nothing is found, or NULL */
};

/* Whether to look again for a target that is not there yet: after a nap, or as soon as a cgroup is
 * made, for as long as the options allow and no signal requests the end. */
static bool waits_for_target(const struct attach *a, int64_t begin_ns, int watch)
{
	struct pollfd made = { .fd = watch, .events = POLLIN };
	char events[4096];
	const struct options *o = a->options;
	int64_t limit_ns = o->timeout_ns ? o->timeout_ns : o->wait_ns;

	if (!o->wait || (limit_ns && clock_now() - begin_ns >= limit_ns))
		return false;
	signals_sleep(clock_now() + TARGET_NAP_NS, &made, 1);
	/* More events than fit in end the next wait at once. */
	if (watch >= 0 && read(watch, events, sizeof(events)) < 0 && errno != EAGAIN)
		return false;
	return !signals_end_requested();
}

/* Make room for so many targets. Returns 0 or an exit code. */
static int reserve(struct attach *a, size_t count)
{
	free_arrays(a);
	a->trees = calloc(count, sizeof(*a->trees));
	a->pidfds = calloc(count, sizeof(*a->pidfds));
	a->is_finished = calloc(count, sizeof(*a->is_finished));
	a->cgroups = calloc(count, sizeof(*a->cgroups));
	a->tops = calloc(count, sizeof(*a->tops));
	a->command_lines = calloc(count, sizeof(*a->command_lines));
	if (a->trees && a->pidfds && a->is_finished && a->cgroups && a->tops && a->command_lines)
		return 0;
	warn("out of memory");
	return EXIT_BEFORE_START;
}

/* Attach to what was found, but for what has ended since. Returns 0, an exit code, or
 * TARGET_MISSING if all has. */
static int attach_to_found(struct attach *a, const struct target_kind *kind)
{
	const char *end = a->found.data + a->found.len;
	size_t count = 0;
	int code;

	for (const char *at = a->found.data; at < end; at += strlen(at) + 1)
		count++;
	code = reserve(a, count);
	for (const char *at = a->found.data; code <= 0 && at < end; at += strlen(at) + 1) {
		int one = kind->attach(a, at);

		code = one > 0 ? one : code;
	}
	return code == 0 && a->count == 0 ? TARGET_MISSING : code;
}

/* Find what an option names and attach to it. Returns 0 or an exit code. */
static int attach_to_target(struct attach *a, const struct target_kind *kind)
{
	int64_t begin_ns = clock_now();
	int watch = a->options->wait ? inotify_init1(IN_NONBLOCK | IN_CLOEXEC) : -1;
	int code;

	do {
		text_free(&a->found);
		code = kind->find(&a->target, watch, &a->found);
		if (code == 0)
			code = attach_to_found(a, kind);
	} while (code == TARGET_MISSING && waits_for_target(a, begin_ns, watch));
	if (watch >= 0)
		close(watch);
	if (code != TARGET_MISSING)
		return code;
	if (a->options->wait)
		warn("no %s '%s' has appeared", kind->what, a->target.word);
	else
		warn("there is no %s '%s'", kind->what, a->target.word);
	if (kind->explain && !signals_end_requested())
		kind->explain(&a->target);
	return a->options->wait && !signals_end_requested() ? EXIT_TIMED_OUT : EXIT_BEFORE_START;
}

/* Attach to what an option names. Returns 0 or an exit code. */
static int attach_to_named(struct attach *a)
{
	static const struct target_kind process = { "process", target_find_process, attach_to,
		                                    target_explain_process };
	static const struct target_kind cgroup = { "cgroup", target_find_cgroup, attach_to_cgroup,
		                                   NULL };
	static const struct target_kind unit = { "unit", target_find_unit, attach_to_cgroup,
		                                 target_explain_unit };
	static const struct target_kind container = { "container", target_find_container,
		                                      attach_to_cgroup, target_explain_container };
	const struct options *o = a->options;

	a->target = (struct target){ .is_full = o->full,
		                     .is_all = o->all && o->name,
		                     .has_others = o->no_children };
	if ((a->target.word = o->name))
		return attach_to_target(a, &process);
	if ((a->target.word = o->cgroup))
		return attach_to_target(a, &cgroup);
	if ((a->target.word = o->unit))
		return attach_to_target(a, &unit);
	a->target.word = o->container;
	return attach_to_target(a, &container);
}

/* Returns 0 or an exit code. */
static int attach_to_all(struct attach *a)
{
	int code;

	if (a->options->operand_count == 0)
		return attach_to_named(a);
	code = reserve(a, (size_t)a->options->operand_count);
	for (int i = 0; code == 0 && i < a->options->operand_count; i++)
		code = attach_to(a, a->options->operands[i]);
	return code;
}

/* Open the outputs before the wait for a target, which may be long. Returns 0 or an exit code. */
static int open_outputs(struct attach *a)
{
	if (summary_open(&a->summary, a->options) < 0 || series_open(&a->series, a->options) < 0)
		return EXIT_BEFORE_START;
	return outputs_check(a->options, &a->series, &a->summary, NULL);
}

/* Follow the system if the rows need it, and begin the series. Returns 0 or an exit code. */
static int begin(struct attach *a)
{
	const struct subject subject = { .is_cgroup = a->trees[0].cgroup != NULL,
		                         .interval_ns = a->options->interval_ns };
	struct rt_opts opts = { .size = sizeof(opts) };
	int err = 0;

	if (series_wants_system(&a->series)) {
		opts.want = wanted_domains(a->options, &a->series, RT_KIND_SYSTEM);
		err = rt_system_tracker_new(&a->system_tracker, &opts);
		if (err == 0)
			err = follow_start(&a->system, a->system_tracker, a->options->interval_ns);
		a->system.wants_gpu = a->options->gpu;
	}
	if (err < 0) {
		warn("cannot follow the system: %s", error_words(err));
		return EXIT_BEFORE_START;
	}
	series_begin(&a->series, &subject);
	rows_write_head(&a->series, &a->trees[0], NULL);
	for (size_t i = 0; i < a->count; i++)
		rows_set_base(&a->series, &a->trees[i]);
	return 0;
}

/* An exited root stays a zombie until its parent waits for it, which may never happen. So a
 * zombie counts as ended, and so does rtrack: see tree_has_ended(). */
static bool has_ended(const struct attach *a, size_t i)
{
	return a->trees[i].has_ended ||
	       (a->pidfds[i].fd < 0 && !a->trees[i].cgroup && tree_has_ended(a->trees[i].tracker));
}

static void write_row(struct attach *a, size_t i, const struct follow *system)
{
	if (follow_sample(&a->trees[i]) < 0)
		return;
	if (!a->trees[i].cgroup)
		target_cgroup_check(&a->cgroups[i], a->trees[i].tracker);
	if (summary_wants_top(&a->summary))
		top_processes_look(&a->tops[i], a->trees[i].tracker, &a->trees[i].now);
	rows_write(&a->series, &a->trees[i], system);
	if (has_ended(a, i))
		a->trees[i].has_ended = a->is_finished[i] = true;
}

static void write_rows(struct attach *a)
{
	const struct follow *system = NULL;

	if (a->system_tracker && follow_sample(&a->system) == 0)
		system = &a->system;
	for (size_t i = 0; i < a->count; i++) {
		if (!a->is_finished[i])
			write_row(a, i, system);
	}
	live_draw(&a->live, a->trees, a->count);
}

static bool all_finished(const struct attach *a)
{
	for (size_t i = 0; i < a->count; i++) {
		if (!a->is_finished[i])
			return false;
	}
	return true;
}

/* Read what a cgroup has used when its last process has ended: its manager is about to remove it,
 * and its account with it. That makes no row, since a cgroup may be empty a hundred times a second.
 * Returns true if it is gone already. */
static bool is_emptied_cgroup_gone(struct attach *a, size_t i)
{
	struct pollfd *events = &a->pidfds[i];
	struct rt_metrics last;
	bool is_gone;

	if (events->fd < 0 || !(events->revents & (POLLPRI | POLLERR)))
		return false;
	events->revents = 0;
	if (!target_cgroup_is_empty(events->fd))
		return false;
	is_gone = rt_sample(a->trees[i].tracker, &last, sizeof(last)) == -ESRCH;
	if (is_gone) {
		close(events->fd);
		events->fd = -1;
	}
	return is_gone;
}

/* Returns true if a root has exited since the last call. Each exit is reported once: the pidfd,
 * which stays readable, is closed. */
static bool any_root_ended(struct attach *a)
{
	bool any = false;

	for (size_t i = 0; i < a->count; i++) {
		if (a->trees[i].cgroup) {
			any |= is_emptied_cgroup_gone(a, i);
			continue;
		}
		if (a->pidfds[i].fd < 0 || !(a->pidfds[i].revents & (POLLIN | POLLHUP | POLLERR)))
			continue;
		close(a->pidfds[i].fd);
		a->pidfds[i].fd = -1;
		any = true;
	}
	return any;
}

/* Poll memory peaks and process events between two samples. The next poll comes after
 * PEAK_POLL_COST_FACTOR times the CPU time that this one cost, and after PEAK_POLL_NS at least.
 * E.g.: a poll of 1 ms is followed by a pause of 200 ms. Returns true if a cgroup is gone: it has
 * no descriptor to wait for. */
static bool poll_peaks(struct attach *a, int64_t now)
{
	int64_t cost = clock_cpu();
	bool has_looks = summary_wants_top(&a->summary) && a->options->interval_ns > TOP_LOOK_NS;
	bool is_gone = false;

	for (size_t i = 0; i < a->count; i++) {
		if (a->is_finished[i])
			continue;
		rt_tracker_glance(a->trees[i].tracker);
		if (has_looks && top_processes_sample(&a->tops[i], a->trees[i].tracker) == -ESRCH)
			is_gone |= a->trees[i].cgroup != NULL;
	}
	cost = (clock_cpu() - cost) * PEAK_POLL_COST_FACTOR;
	a->next_peak_poll = now + (cost > PEAK_POLL_NS ? cost : PEAK_POLL_NS);
	return is_gone;
}

static void follow_to_end(struct attach *a)
{
	bool is_running = true;

	while (is_running && !signals_end_requested() && !a->series.out.failed) {
		bool is_due;
		int64_t now;

		signals_sleep(a->ticker.next < a->next_peak_poll ? a->ticker.next
		                                                 : a->next_peak_poll,
		              a->pidfds, (unsigned)a->count);
		live_check(&a->live);
		now = clock_now();
		is_due = any_root_ended(a) || now >= a->ticker.next;
		if (!is_due && now >= a->next_peak_poll)
			is_due = poll_peaks(a, now);
		if (!is_due)
			continue;
		write_rows(a);
		if (now >= a->ticker.next)
			is_running = ticker_advance(&a->ticker, now);
		is_running = is_running && !all_finished(a);
	}
	if (signals_end_requested())
		write_rows(a);
}

static void write_summary(struct attach *a)
{
	struct usage *usages = calloc(a->count, sizeof(*usages));

	live_clear(&a->live);
	if (!usages) {
		warn("out of memory: cannot write the summary");
		a->summary.out.failed = true;
		return;
	}
	for (size_t i = 0; i < a->count; i++) {
		a->trees[i].cgroup_growth_ns = target_cgroup_growth(&a->cgroups[i]);
		usage_of_attached(&usages[i], &a->trees[i]);
		usages[i].argv = (const char *const *)a->command_lines[i];
		usages[i].label = a->options->label;
		usages[i].samples_missed = a->ticker.missed;
		usage_add_io_problem(&usages[i], a->trees[i].tracker);
		usages[i].top = &a->tops[i];
		top_processes_rank(&a->tops[i]);
		if (a->trees[i].cgroup)
			usage_raise_cpu(&usages[i], top_processes_seen_cpu(&a->tops[i]));
	}
	summary_write(&a->summary, usages, a->count);
	free(usages);
}

/* A process that runs rtrack in a pipe waits for its end, as "rtrack attach $$ | tee" does, and
 * rtrack for that of the process. */
static void report_own_tree(const struct attach *a)
{
	const struct options *o = a->options;

	for (size_t i = 0; i < a->count; i++) {
		if (o->quiet || o->duration_ns || o->count || o->no_children ||
		    a->trees[i].pid <= 1 || !tree_is_ours(a->trees[i].pid))
			continue;
		warn("rtrack itself runs in the tree of process %d: if that waits for rtrack, end "
		     "it by --duration, --count or a signal",
		     (int)a->trees[i].pid);
	}
}

static int attach(struct attach *a)
{
	int code = open_outputs(a);

	signals_catch_end();
	if (code == 0)
		code = attach_to_all(a);
	if (code == 0)
		code = begin(a);
	if (code != 0)
		return code;
	report_own_tree(a);
	a->start_ns = clock_now();
	a->next_peak_poll = a->start_ns + PEAK_POLL_NS;
	ticker_init(&a->ticker, a->options, a->start_ns);
	live_init(&a->live, a->options, &a->series, a->start_ns);
	punctual_begin(a->options->interval_ns);
	follow_to_end(a);
	write_summary(a);
	return 0;
}

/* Returns what is wrong with the options, or NULL. */
static const char *find_problem(const struct options *o)
{
	int named =
	    (o->cgroup != NULL) + (o->unit != NULL) + (o->container != NULL) + (o->name != NULL);
	bool is_cgroup = o->cgroup || o->unit || o->container;

	if (named + (o->operand_count > 0) == 0)
		return "nothing to follow: give a process id, --name, --unit, --container or "
		       "--cgroup";
	if (named + (o->operand_count > 0) > 1)
		return "only one of process ids, --name, --unit, --container and --cgroup can be "
		       "followed";
	if (o->timeout_ns && !o->wait)
		return "--timeout needs --wait";
	if (o->wait && !o->defaults.wait && named == 0)
		return "--wait needs --name, --unit, --container or --cgroup: a process id "
		       "either exists or does not";
	if (!o->name && ((o->full && !o->defaults.full) || (o->all && !o->defaults.all)))
		return o->full && !o->defaults.full ? "--full needs --name" : "--all needs --name";
	if (is_cgroup && o->no_children && !o->defaults.no_children)
		return "--no-children needs a process: a cgroup is followed with all that is in it";
	return NULL;
}

int command_attach(const struct options *options)
{
	struct attach a = {
		.options = options, .series.out.fd = -1, .summary.out.fd = -1, .live.fd = -1
	};
	const char *problem = find_problem(options);
	int code;

	if (problem)
		return usage_error(options, problem);
	code = series_check(options);
	if (code != 0)
		return code;
	code = attach(&a);
	for (size_t i = 0; i < a.count; i++)
		rows_report(&a.series, &a.trees[i]);
	series_close(&a.series, &a.ticker);
	summary_close(&a.summary);
	code = outputs_exit_code(code, &a.series, &a.summary, NULL);
	for (size_t i = 0; i < a.count; i++) {
		top_processes_free(&a.tops[i]);
		free(a.command_lines[i]);
		members_free(&a.trees[i].members);
		rt_tracker_free(a.trees[i].tracker);
		if (a.pidfds[i].fd >= 0)
			close(a.pidfds[i].fd);
	}
	rt_tracker_free(a.system_tracker);
	live_free(&a.live);
	free_arrays(&a);
	text_free(&a.found);
	return code;
}
