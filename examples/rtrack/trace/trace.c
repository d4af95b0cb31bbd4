/* SPDX-License-Identifier: MIT */
/* rtrack trace: shows the calls of getrusage(2) that a command, a process tree or the system makes.
 *
 * One loop takes the calls that wait and writes them. With a command, it also lets the library do
 * what is due for it, and ends when the command has ended and all its calls are written. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "follow/clock.h"
#include "options/commands.h"
#include "output/output.h"
#include "output/terminal.h"
#include "process/exit_code.h"
#include "process/guard.h"
#include "process/program.h"
#include "process/signals.h"
#include "text/message.h"
#include "text/units.h"
#include "trace_format.h"
#include "trace_summary.h"

enum { EVENTS_PER_READ = 64, MESSAGE_BYTES = 512 };

/* Without a descriptor of the command, before Linux 5.3, it is looked at so often. */
enum { LOOK_MS = 10 };

#define SMALL_RING_BYTES (UINT64_C(4) << 20) /* for 14,169 calls */

/* After the end of a command: the longest wait for one more call that its processes have made. */
#define DRAIN_NS NS_PER_S

/* The longest wait for a command that was killed. */
#define KILLED_NS NS_PER_S

struct trace {
	const struct options *options;
	struct rt_trace *trace;
	struct rt_command *command; /* NULL with --pid and --all */
	bool is_over;               /* there will be no more calls */
	bool has_ended;             /* the command */
	bool is_given_up;           /* the helper process was stopped for too long */
	int64_t end_at;             /* --duration, or NEVER */
	struct output out;
	const struct trace_format *format;
	struct trace_context context;
	struct trace_summary summary;
	struct rt_outcome outcome;
	struct rt_trace_event events[EVENTS_PER_READ];
};

/* Returns the name of the output file, or NULL for standard error. Standard output belongs to the
 * command, if there is one. */
static const char *choose_output(const struct options *options)
{
	if (options->output)
		return options->output;
	return options->operand_count > 0 ? NULL : "-";
}

/* Returns 0, or reports the error and returns it as a negative errno value. */
static int open_trace_output(struct trace *t)
{
	const char *name = choose_output(t->options);
	struct terminal terminal;
	struct stat st;
	int err;

	t->format = t->options->trace_format;
	if (!t->format)
		t->format = name ? trace_format_by_file(name) : &trace_format_text;
	t->out = (struct output){ .fd = STDERR_FILENO, .name = "standard error", .what = "trace" };
	if (name && (err = output_open(&t->out, name, "trace", false)) < 0)
		return err;
	t->out.is_exclusive = fstat(t->out.fd, &st) == 0 && S_ISREG(st.st_mode) &&
	                      (t->out.fd > STDERR_FILENO || !t->options->operand_count);
	terminal_init(&terminal, t->out.fd, WHEN_NEVER);
	trace_context_init(&t->context, terminal_has_utf8(&terminal), t->options->live_children);
	return 0;
}

static int exit_code_of_failed_trace(const struct options *options, int err)
{
	if (options->operand_count == 0 || err == -EPERM || err == -ESRCH || err == -E2BIG)
		return EXIT_BEFORE_START;
	return exit_code_of_failed_start(err);
}

/* Returns true for what execve(2) returns because of the file that it is to execute. */
static bool is_of_the_program(int err)
{
	return err == -ENOENT || err == -EACCES || err == -ENOEXEC || err == -ENOTDIR ||
	       err == -ELOOP || err == -ENAMETOOLONG || err == -ETXTBSY;
}

/* What could not be begun is named here; the message of the library has the reason. If that is the
 * program, the message names it, too. */
static void report_failed_trace(const struct options *options, int err, const char *message)
{
	const char *why = *message ? message : error_words(err);

	if (options->operand_count > 0 && is_of_the_program(err))
		program_report_failed_start(options->operands[0], err);
	else if (exit_code_of_failed_trace(options, err) != EXIT_BEFORE_START)
		warn("cannot run '%s': %s", options->operands[0], why);
	else if (options->pid > 0)
		warn("cannot trace process %d: %s", (int)options->pid,
		     err == -ESRCH ? error_words(err) : why);
	else
		warn("cannot trace: %s", why);
}

/* The library takes no more than an eighth of what limits of cgroups leave. */
static void warn_of_memory(const struct trace *t)
{
	struct rt_trace_totals totals = { 0 };

	rt_trace_get_totals(t->trace, &totals, sizeof(totals));
	if (!t->options->quiet && !t->options->ring_bytes && totals.ring_bytes &&
	    totals.ring_bytes < SMALL_RING_BYTES)
		warn("a burst of calls has only %s of memory, an eighth of what the cgroup has "
		     "left; --ring-bytes sets it",
		     human_bytes(totals.ring_bytes).s);
}

/* Begin to trace. A command is started for it. Returns 0 or a negative errno value. */
static int begin(struct trace *t)
{
	const struct options *o = t->options;
	/* Nothing is sampled but what the outcome needs, so the command causes no peak polls. */
	const struct rt_opts tracker = { .size = sizeof(tracker), .want = RT_HAS_CPU };
	const struct rt_command_opts command = { .size = sizeof(command),
		                                 .argv = (const char *const *)o->operands,
		                                 .tracker = &tracker };
	char message[MESSAGE_BYTES] = "";
	const struct rt_trace_opts opts = {
		.size = sizeof(opts),
		.flags = (o->all ? RT_TRACE_OPT_ALL : 0) |
		         (o->no_children ? RT_TRACE_OPT_NO_CHILDREN : 0) |
		         (o->live_children ? RT_TRACE_OPT_LIVE_CHILDREN : 0),
		.pid = o->pid,
		.calls = o->calls,
		.back_end = o->back_end,
		.ring_bytes = (uint32_t)o->ring_bytes,
		.command = o->operand_count > 0 ? &command : NULL,
		.message = message,
		.message_size = sizeof(message),
	};
	int err = rt_trace_new(&t->trace, &opts);

	if (err < 0) {
		words_of_sentences(message);
		report_failed_trace(o, err, message);
	} else {
		t->command = rt_trace_command(t->trace);
		warn_of_memory(t);
		output_begin(&t->out);
	}
	return err;
}

static void write_events(struct trace *t, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		trace_summary_add(&t->summary, &t->events[i]);
		if (t->out.fd >= 0)
			t->format->event(&t->out.text, &t->context, &t->events[i]);
	}
	if (t->out.fd >= 0 && t->out.text.len > 0)
		output_flush(&t->out);
}

/* Take some of the calls that wait. Returns how many there were. */
static size_t take_events(struct trace *t)
{
	size_t count = EVENTS_PER_READ;
	int err = rt_trace_read(t->trace, t->events, sizeof(t->events[0]), &count);

	if (err < 0) {
		if (err == -ECHILD)
			warn("the trace ends here: its helper process was killed");
		else if (err == -ETIMEDOUT)
			warn("the trace ends here: its helper process was stopped or frozen, and "
			     "did not go on; it and the command were killed");
		else if (err != -ESRCH)
			warn("the trace ends here: %s", error_words(err));
		t->is_over = true;
		t->summary.is_interrupted = err != -ESRCH;
		t->is_given_up = err == -ETIMEDOUT;
		return 0;
	}
	write_events(t, count);
	return count;
}

/* Sleep until there are calls, or something is due for the command. Signals end the sleep. */
static void sleep_with_command(struct trace *t)
{
	int fd = rt_command_fd(t->command);
	struct pollfd fds[] = { { .fd = rt_trace_fd(t->trace), .events = POLLIN },
		                { .fd = fd, .events = POLLIN } };

	poll(fds, 2, fd < 0 ? LOOK_MS : -1);
}

/* Returns true if calls come from processes that the command has left running, and all that were
 * made before its end have been taken. */
static bool has_only_later_calls(const struct trace *t, size_t taken, int64_t ended_at)
{
	struct rt_trace_totals totals = { 0 };

	rt_trace_get_totals(t->trace, &totals, sizeof(totals));
	return totals.threads > 0 &&
	       (taken == 0 || (int64_t)t->events[taken - 1].monotonic_ns > ended_at);
}

/* The command has ended, or all that was traced has. Take what is left. Processes that the command
 * left running may make more calls: they are not waited for, as by rtrack run. */
static void drain(struct trace *t)
{
	int64_t ended_at = clock_now(), end = ended_at + DRAIN_NS;

	while (!t->is_over && clock_now() < end) {
		struct pollfd wait = { .fd = rt_trace_fd(t->trace), .events = POLLIN };
		size_t taken = take_events(t);

		if (t->is_over || has_only_later_calls(t, taken, ended_at))
			break;
		if (taken > 0)
			end = clock_now() + DRAIN_NS;
		else
			poll(&wait, 1, LOOK_MS);
	}
}

static void follow_command(struct trace *t)
{
	int64_t wait_ns = -1;
	int err;

	while (!t->is_over && !t->has_ended) {
		size_t count = take_events(t);

		t->has_ended = rt_command_wait(t->command, 0, NULL, 0) != -ETIMEDOUT;
		if (count == 0 && !t->is_over && !t->has_ended)
			sleep_with_command(t);
	}
	/* The command ends with its tracer, but not while that is frozen. */
	if (t->is_given_up) {
		rt_command_kill(t->command);
		wait_ns = KILLED_NS;
	}
	do {
		err = rt_command_wait(t->command, wait_ns, &t->outcome, sizeof(t->outcome));
	} while (err == -EINTR);
	if (err < 0 && !t->is_given_up)
		warn("the exit status of the command, process %d, is lost: its supervisor was "
		     "killed",
		     (int)rt_command_pid(t->command));
	drain(t);
}

static void follow_others(struct trace *t)
{
	while (!t->is_over && !signals_end_requested() && !t->out.failed &&
	       clock_now() < t->end_at) {
		struct pollfd wait = { .fd = rt_trace_fd(t->trace), .events = POLLIN };

		if (take_events(t) == 0 && !t->is_over)
			signals_sleep(t->end_at, &wait, 1);
	}
}

/* The rows say what was lost before each. The last one has what was lost after it, too. */
static void write_totals(struct trace *t)
{
	struct rt_trace_totals totals = { 0 };

	rt_trace_get_totals(t->trace, &totals, sizeof(totals));
	if (t->out.fd < 0 || !t->format->totals)
		return;
	t->format->totals(&t->out.text, &totals);
	output_flush(&t->out);
}

static void write_summary(struct trace *t)
{
	struct rt_trace_totals totals = { 0 };
	struct terminal terminal;
	struct text text = { 0 };
	size_t written;

	rt_trace_get_totals(t->trace, &totals, sizeof(totals));
	if (!t->options->quiet) {
		terminal_init(&terminal, STDERR_FILENO, WHEN_NEVER);
		trace_summary_write(&t->summary, &totals, terminal_has_utf8(&terminal), &text);
		write_all(STDERR_FILENO, text.data, text.len, &written);
		text_free(&text);
	}
	if (t->options->quiet && totals.lost > 0)
		warn("%s calls were lost: their memory was full; a larger --ring-bytes may help",
		     human_count(totals.lost).s);
}

/* Returns the exit code. */
static int trace_command(struct trace *t)
{
	int32_t guard;
	int code, err;

	signals_hold();
	err = begin(t);
	if (err == -EINTR)
		return EXIT_SIGNAL_BASE + signals_pending_end();
	if (err < 0)
		return exit_code_of_failed_trace(t->options, err);
	guard = guard_tracer_of(rt_command_pid(t->command));
	signals_forward(t->command);
	follow_command(t);
	signals_stop_forwarding();
	guard_end(guard);
	write_totals(t);
	write_summary(t);
	if (t->is_given_up)
		return EXIT_BEFORE_START;
	code = exit_code_of_outcome(&t->outcome);
	return code == 0 && t->out.is_torn ? EXIT_TROUBLE : code;
}

/* Returns the exit code. */
static int trace_others(struct trace *t)
{
	int64_t duration = t->options->duration_ns, now;

	if (begin(t) < 0)
		return EXIT_BEFORE_START;
	signals_catch_end();
	now = clock_now();
	t->end_at = duration > 0 && duration < NEVER - now ? now + duration : NEVER;
	follow_others(t);
	write_totals(t);
	output_close(&t->out);
	write_summary(t);
	return t->out.failed ? EXIT_TROUBLE : 0;
}

/* Returns what is wrong with the options, or NULL. */
static const char *find_problem(const struct options *o)
{
	bool has_command = o->operand_count > 0;

	if (has_command + (o->pid > 0) + o->all != 1)
		return "exactly one of a command, --pid and --all is needed";
	if (o->back_end == RT_TRACE_BACK_END_PTRACE && !has_command)
		return "--back-end ptrace needs a command: it traces what it starts";
	if (o->all && o->no_children)
		return "--no-children cannot be combined with --all";
	if (has_command && o->duration_ns > 0)
		return "--duration needs --pid or --all: a command is traced to its end";
	if (has_command && !o->output && o->trace_format && o->trace_format != &trace_format_text)
		return "this --format needs --output: standard error has other messages too";
	return NULL;
}

int command_trace(const struct options *options)
{
	struct trace t = { .options = options, .out = { .fd = -1, .what = "trace" } };
	const char *problem = find_problem(options);
	int code = EXIT_BEFORE_START;

	if (problem)
		return usage_error(options, problem);
	if (open_trace_output(&t) == 0)
		code = options->operand_count > 0 ? trace_command(&t) : trace_others(&t);
	output_close(&t.out);
	trace_summary_free(&t.summary);
	rt_trace_free(t.trace);
	return code;
}
