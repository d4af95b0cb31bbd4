/* SPDX-License-Identifier: MIT */
/* rtrack: what a command, a process tree or the machine has used. Finds the subcommand and hands
 * over to it. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "commands.h"
#include "message.h"
#include "signals.h"

static const struct command commands[] = {
	{ "run", FOR_RUN, "[--] COMMAND [ARGUMENT]...",
	  "Start a command, follow it and all it starts, and tell what they used.", command_run },
	{ "attach", FOR_ATTACH, "PID...",
	  "Follow running processes and their descendants until all have ended.", command_attach },
	{ "system", FOR_SYSTEM, "", "Follow the machine.", command_system },
	{ "rusage", FOR_RUSAGE, "",
	  "Show the sixteen figures of getrusage(2), for this or any process.", command_rusage },
	{ "info", FOR_INFO, "", "Show versions, and what can be measured here and why not.",
	  command_info },
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

/* A descriptor that is closed would be given to the next file that is opened, and messages would
 * end up there. One that cannot be used stands in for it, so that its use still fails. */
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
	fprintf(out, "Usage: rtrack COMMAND [OPTION]...\n\nCommands:\n");
	for (int i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].about);
	fprintf(
	    out,
	    "\n'rtrack COMMAND --help' shows the options of one. See rtrack(1) for all of it.\n");
}

int usage_error(const struct options *options, const char *what)
{
	warn("%s", what);
	fprintf(stderr, "Try 'rtrack %s --help'.\n", options->command->name);
	return EXIT_USAGE;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	struct options options;
	int exit_code;

	if (!options_parse(&options, command, argc, argv, &exit_code))
		return exit_code;
	return command->run(&options);
}

static int dispatch(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	for (int i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(name, commands[i].name) == 0)
			return run_command(&commands[i], argc - 1, argv + 1);
	}
	if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0) {
		show_commands(stdout);
		return 0;
	}
	if (strcmp(name, "-V") == 0 || strcmp(name, "--version") == 0)
		return options_show_version();
	if (argc < 2)
		show_commands(stderr);
	else if (*name == '-')
		warn("unknown option '%s': options follow the command; try 'rtrack --help'", name);
	else
		warn("unknown command '%s'; try 'rtrack --help'", name);
	return EXIT_USAGE;
}

/* Output that went through stdio and did not arrive. */
static int close_stdout(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	warn("cannot write standard output: %s", rt_strerror(-errno));
	return code == 0 ? EXIT_TROUBLE : code;
}

int main(int argc, char **argv)
{
	if (keep_standard_descriptors() < 0)
		return EXIT_BEFORE_START;
	/* The character set of the terminal, and nothing else: numbers keep their point whatever
	 * the locale is. */
	setlocale(LC_CTYPE, "");
	signals_survive_output_errors();
	/* Whoever started rtrack may have set SIGCHLD to be ignored, and exit statuses would be
	 * lost. */
	signal(SIGCHLD, SIG_DFL);
	return close_stdout(dispatch(argc, argv));
}
