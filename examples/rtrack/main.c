/* SPDX-License-Identifier: MIT */
/* rtrack: reports the resources that a command, a process tree or the system used. Finds the
 * subcommand and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "options/commands.h"
#include "options/help.h"
#include "process/program.h"
#include "process/signals.h"
#include "text/message.h"
#include "text/suggest.h"

static const struct command commands[] = {
	{ "run", FOR_RUN, "[--] COMMAND [ARGUMENT]...",
	  "Run a command, and report what it and its descendants used.",
	  "rtrack run -i 100ms -o series.csv -- make\n"
	  "  rtrack run --timeout 10m --max-memory 2G -- ./job",
	  command_run },
	{ "attach", FOR_ATTACH, "[PID...]",
	  "Follow a process by id or name, a service, a container or a cgroup.",
	  "rtrack attach -d 1min --unit cron\n"
	  "  rtrack attach --name 'postgres|postmaster' --wait -o series.csv",
	  command_attach },
	{ "system", FOR_SYSTEM, "", "Follow the whole system.",
	  "rtrack system -i 500ms --count 10 -o series.csv", command_system },
	{ "trace", FOR_TRACE, "[--] [COMMAND [ARGUMENT]...]",
	  "Show the calls of getrusage(2) that processes make.", "rtrack trace -- bash -c times",
	  command_trace },
	{ "rusage", FOR_RUSAGE, "[PID | -- COMMAND [ARGUMENT]...]",
	  "Show the sixteen getrusage(2) fields of a process, or of a command.",
	  "rtrack rusage $$\n  rtrack rusage -- make", command_rusage },
	{ "info", FOR_INFO, "", "Show what cannot be measured here, and what that costs.",
	  "rtrack info -v", command_info },
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

/* Open each of the three standard descriptors that is closed, in a mode in which its use fails.
 * Otherwise the next file that is opened would get its number, and messages would go to that file.
 * E.g.: with 2>&-, the series file would be descriptor 2. Returns 0 or a negative errno value. */
static int keep_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return -EBADF;
	}
	return 0;
}

static void show_commands(FILE *out)
{
	fprintf(out, "Usage: rtrack COMMAND [OPTION]...\n\nMeasure:\n");
	for (int i = 0; i < COMMAND_COUNT; i++) {
		if (i > 0 && commands[i - 1].bit & FOR_SERIES && !(commands[i].bit & FOR_SERIES))
			fprintf(out, "\nInspect:\n");
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].about);
	}
	fprintf(out, "  %-8s %s\n", "help", "Show the options of a command.");
	fprintf(out,
	        "\n'rtrack help COMMAND' shows the options of a command. See also rtrack(1).\n");
}

static int name_help(const struct options *options)
{
	fprintf(stderr, "Try 'rtrack %s --help'.\n", options->command->name);
	return EXIT_USAGE;
}

int usage_error(const struct options *options, const char *what)
{
	warn("%s", what);
	return name_help(options);
}

int unexpected_argument(const struct options *options, const char *hint)
{
	warn("unexpected argument '%s'%s", options->operands[0], hint);
	return name_help(options);
}

static int run_command(const struct command *command, int argc, char **argv)
{
	struct options options;
	int exit_code;

	if (!options_parse(&options, command, argc, argv, &exit_code))
		return exit_code;
	return command->run(&options);
}

static const struct command *find_command(const char *name)
{
	for (int i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	}
	return NULL;
}

/* Report an unknown command name with what may have been meant. Returns the exit code. */
static int report_unknown(const char *name)
{
	char path[PATH_MAX];

	for (int i = 0; i < COMMAND_COUNT; i++) {
		if (is_near(name, commands[i].name)) {
			warn("unknown command '%s': did you mean 'rtrack %s'?", name,
			     commands[i].name);
			return EXIT_USAGE;
		}
	}
	if (is_near(name, "--version") || is_near(name, "--help"))
		warn("unknown option '%s': did you mean 'rtrack %s'?", name,
		     is_near(name, "--help") ? "--help" : "--version");
	else if (*name == '-')
		warn(
		    "unknown option '%s': options come after the command name; try 'rtrack --help'",
		    name);
	else if (!strchr(name, '/') && program_find(name, path, sizeof(path)) == 0)
		warn("unknown command '%s': to run that program, write 'rtrack run %s'", name,
		     name);
	else
		warn("unknown command '%s'; try 'rtrack --help'", name);
	return EXIT_USAGE;
}

/* rtrack help [COMMAND] */
static int show_help(int argc, char **argv)
{
	const struct command *command = argc > 2 ? find_command(argv[2]) : NULL;

	if (argc > 2 && !command)
		return report_unknown(argv[2]);
	if (command)
		help_show(command);
	else
		show_commands(stdout);
	return 0;
}

static int dispatch(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const struct command *command = find_command(name);

	if (command)
		return run_command(command, argc - 1, argv + 1);
	if (strcmp(name, "help") == 0)
		return show_help(argc, argv);
	if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0) {
		show_commands(stdout);
		return 0;
	}
	if (strcmp(name, "-V") == 0 || strcmp(name, "--version") == 0)
		return options_show_version();
	if (argc > 1)
		return report_unknown(name);
	show_commands(stderr);
	return EXIT_USAGE;
}

/* Report stdio output that could not be written. Returns the exit code: code, or EXIT_TROUBLE if it
 * was 0. As with a series, nothing is said of a reader that has enough. E.g.: rtrack info --fields
 * | head. */
static int close_stdout(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	if (errno != EPIPE)
		warn("cannot write standard output: %s", error_words(-errno));
	return code == 0 ? EXIT_TROUBLE : code;
}

int main(int argc, char **argv)
{
	if (keep_standard_descriptors() < 0)
		return EXIT_BEFORE_START;
	signals_survive_output_errors();
	/* The parent of rtrack may have set SIGCHLD to SIG_IGN, which is inherited. Exit statuses
	 * would be lost. */
	signal(SIGCHLD, SIG_DFL);
	return close_stdout(dispatch(argc, argv));
}
