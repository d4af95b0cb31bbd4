/* SPDX-License-Identifier: MIT */
/* What the user asked for on the command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Bits: which subcommands know an option. */
enum {
	FOR_RUN = 1,
	FOR_ATTACH = 2,
	FOR_SYSTEM = 4,
	FOR_RUSAGE = 8,
	FOR_INFO = 16,
	FOR_SERIES = FOR_RUN | FOR_ATTACH | FOR_SYSTEM,
	FOR_ALL = FOR_SERIES | FOR_RUSAGE | FOR_INFO
};

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };
enum summary_form { SUMMARY_TEXT, SUMMARY_JSON, SUMMARY_NONE };

struct format;
struct options;

/* One subcommand: main.c has the table of them. */
struct command {
	const char *name;
	unsigned bit;
	const char *operands;                      /* for the usage line */
	const char *about;                         /* one sentence */
	int (*run)(const struct options *options); /* returns the exit code */
};

struct options {
	const struct command *command;
	int64_t interval_ns;
	int64_t duration_ns; /* 0: no end */
	uint64_t count;      /* 0: no end */
	int64_t timeout_ns;  /* 0: none */
	const char *output;  /* NULL: not given */
	bool append;
	const char *processes;       /* NULL: no list of them is wanted */
	const struct format *format; /* NULL: not given */
	enum summary_form summary;
	const char *summary_file; /* NULL: standard error */
	bool no_children;
	uint32_t accounting; /* RT_ACCOUNTING_ value */
	bool verbose, quiet;
	enum when color, live;
	int who;         /* rusage: RT_RUSAGE_ value */
	int32_t pid;     /* rusage: 0 when not given */
	bool as_json;    /* rusage, info */
	char **operands; /* what follows the options, ended by NULL */
	int operand_count;
};

/* Fill options from the arguments after the subcommand's name. Returns -1 to go on, or the exit
 * code when all is said already: help was asked for, or something is wrong. */
bool options_parse(struct options *options, const struct command *command, int argc, char **argv,
                   int *exit_code);

/* Print the versions. Returns the exit code. */
int options_show_version(void);

#endif
