/* SPDX-License-Identifier: MIT */
/* rtrack rusage: shows the sixteen getrusage(2) fields of any process, or of a command. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "options/commands.h"
#include "output/output.h"
#include "process/exit_code.h"
#include "process/program.h"
#include "text/json.h"
#include "text/message.h"
#include "text/units.h"

/* The library's field table has the names, units and offsets. */
static double real_at(const struct rt_rusage *usage, const struct rt_field *field)
{
	double value;

	memcpy(&value, (const char *)usage + field->offset, sizeof(value));
	return value;
}

static int64_t whole_at(const struct rt_rusage *usage, const struct rt_field *field)
{
	int64_t value;

	memcpy(&value, (const char *)usage + field->offset, sizeof(value));
	return value;
}

static const char *unit_in_words(const struct rt_field *field)
{
	if (strcmp(field->unit, "KiBy") == 0)
		return "KiB";
	if (strcmp(field->unit, "512By") == 0)
		return "x 512 B";
	return strcmp(field->unit, "1") == 0 ? "" : field->unit;
}

static void add_line(struct text *out, const struct rt_rusage *usage, const struct rt_field *field,
                     bool known)
{
	text_printf(out, "%-11s ", field->name);
	if (!known)
		text_printf(out, "%16s", "-");
	else if (field->type == RT_TYPE_DOUBLE)
		text_printf(out, "%16.6f", real_at(usage, field));
	else
		text_printf(out, "%16" PRId64, whole_at(usage, field));
	text_printf(out, " %-7s  %s\n", unit_in_words(field), field->text);
}

static void add_member(struct text *out, const struct rt_rusage *usage,
                       const struct rt_field *field, bool known)
{
	if (!known)
		json_null(out, field->name);
	else if (field->type == RT_TYPE_DOUBLE)
		json_double(out, field->name, real_at(usage, field));
	else
		json_i64(out, field->name, whole_at(usage, field));
}

static void add_all(struct text *out, const struct rt_rusage *usage, uint32_t valid, bool as_json)
{
	struct rt_field field;

	if (as_json)
		json_begin(out, NULL, '{');
	for (uint32_t i = 0; rt_field_get(RT_STRUCT_RUSAGE, i, &field, sizeof(field)) == 0; i++)
		(as_json ? add_member : add_line)(out, usage, &field, (valid >> i & 1) != 0);
	if (as_json) {
		json_end(out, '}');
		text_add(out, "\n");
	}
}

static int own_scope(const struct options *options)
{
	if (options->of_children)
		return RT_RUSAGE_CHILDREN;
	return options->of_thread ? RT_RUSAGE_THREAD : RT_RUSAGE_SELF;
}

/* --- A process. --- */

/* Get what a process has used, or rtrack itself if no pid is given. Returns 0 or an exit code. */
static int read_process(const struct options *options, int32_t pid, struct rt_rusage *usage,
                        uint32_t *valid)
{
	int err =
	    pid > 0 ? rt_pid_getrusage(pid, usage, valid) : rt_getrusage(own_scope(options), usage);

	if (err == 0)
		return 0;
	if (pid > 0)
		warn("cannot read process %d: %s", (int)pid, error_words(err));
	else
		warn("cannot read the figures: %s", error_words(err));
	return EXIT_BEFORE_START;
}

/* --- A command. --- */

static struct rt_rusage from_kernel(const struct rusage *u)
{
	return (struct rt_rusage){
		.ru_utime = (double)u->ru_utime.tv_sec + (double)u->ru_utime.tv_usec / 1e6,
		.ru_stime = (double)u->ru_stime.tv_sec + (double)u->ru_stime.tv_usec / 1e6,
		.ru_maxrss = u->ru_maxrss,
		.ru_ixrss = u->ru_ixrss,
		.ru_idrss = u->ru_idrss,
		.ru_isrss = u->ru_isrss,
		.ru_minflt = u->ru_minflt,
		.ru_majflt = u->ru_majflt,
		.ru_nswap = u->ru_nswap,
		.ru_inblock = u->ru_inblock,
		.ru_oublock = u->ru_oublock,
		.ru_msgsnd = u->ru_msgsnd,
		.ru_msgrcv = u->ru_msgrcv,
		.ru_nsignals = u->ru_nsignals,
		.ru_nvcsw = u->ru_nvcsw,
		.ru_nivcsw = u->ru_nivcsw,
	};
}

static const int of_terminal[] = { SIGINT, SIGQUIT };

enum { OF_TERMINAL = sizeof(of_terminal) / sizeof(of_terminal[0]) };

/* Signals of the terminal are for the command: ignore them, but not in the command, unless they
 * were ignored before. Returns 0 or an errno value. */
static int leave_signals(posix_spawnattr_t *attributes)
{
	struct sigaction before;
	sigset_t back;

	sigemptyset(&back);
	for (int i = 0; i < OF_TERMINAL; i++) {
		sigaction(of_terminal[i], NULL, &before);
		if (before.sa_handler != SIG_IGN)
			sigaddset(&back, of_terminal[i]);
		signal(of_terminal[i], SIG_IGN);
	}
	posix_spawnattr_setsigdefault(attributes, &back);
	return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF);
}

/* Start a command, which is a script if the kernel cannot run it. Returns 0 or an errno value. */
static int start_command(pid_t *pid, char **argv, const posix_spawnattr_t *attributes)
{
	const char **script = NULL;
	int err = posix_spawnp(pid, argv[0], NULL, attributes, argv, environ);

	if (err == ENOEXEC && (script = program_as_script((const char *const *)argv)))
		err = posix_spawn(pid, script[0], NULL, attributes, (char **)script, environ);
	free(script);
	return err;
}

/* As time(1) does: what the kernel has of the command and of what that has waited for. Returns 0 or
 * a negative errno value. */
static int run_command(char **argv, struct rt_rusage *usage, int *status)
{
	posix_spawnattr_t attributes;
	struct rusage of_kernel;
	pid_t pid;
	int err = posix_spawnattr_init(&attributes);

	if (err)
		return -err;
	err = leave_signals(&attributes);
	if (err == 0)
		err = start_command(&pid, argv, &attributes);
	posix_spawnattr_destroy(&attributes);
	if (err)
		return -err;
	while (wait4(pid, status, 0, &of_kernel) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	*usage = from_kernel(&of_kernel);
	return 0;
}

/* --- The subcommand. --- */

static int print(struct output *out)
{
	int code;

	if (out->fd != STDOUT_FILENO)
		return output_flush(out) < 0 ? EXIT_TROUBLE : 0;
	code = text_print(&out->text);
	text_free(&out->text);
	return code;
}

static int show(const struct options *options, bool is_command, struct output *out)
{
	struct rt_rusage usage;
	uint32_t valid = UINT32_MAX;
	int status = 0, code = 0, err = 0;

	if (is_command)
		err = run_command(options->operands, &usage, &status);
	else
		code = read_process(options, options->pid, &usage, &valid);
	if (err < 0) {
		program_report_failed_start(options->operands[0], err);
		return exit_code_of_failed_start(err);
	}
	if (code != 0)
		return code;
	output_begin(out);
	add_all(&out->text, &usage, valid, options->as_json);
	code = print(out);
	if (!is_command)
		return code;
	return WIFSIGNALED(status) ? EXIT_SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
}

int command_rusage(const struct options *options)
{
	bool is_command = options->operand_count > 0;
	struct output out = { .fd = is_command ? STDERR_FILENO : STDOUT_FILENO,
		              .name = is_command ? "standard error" : "standard output",
		              .what = "figures" };
	int code;

	if (options->of_children + options->of_thread + (options->pid > 0) + is_command > 1)
		return usage_error(options, "only one of a process, a command, --children and "
		                            "--thread can be shown");
	if (options->output && output_open(&out, options->output, "figures", false) < 0)
		return EXIT_BEFORE_START;
	code = show(options, is_command, &out);
	output_close(&out);
	return code;
}
