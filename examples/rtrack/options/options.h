/* SPDX-License-Identifier: MIT */
/* Options and operands of the command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Bits: which subcommands have an option. */
enum {
	FOR_RUN = 1,
	FOR_ATTACH = 2,
	FOR_SYSTEM = 4,
	FOR_RUSAGE = 8,
	FOR_INFO = 16,
	FOR_TRACE = 32,
	FOR_SERIES = FOR_RUN | FOR_ATTACH | FOR_SYSTEM,
	FOR_ALL = FOR_SERIES | FOR_RUSAGE | FOR_INFO | FOR_TRACE
};

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };
enum pss_reads { PSS_BUDGET, PSS_EXACT, PSS_OFF };
enum summary_form { SUMMARY_TEXT, SUMMARY_JSON, SUMMARY_MARKDOWN, SUMMARY_NONE, SUMMARY_TEMPLATE };

struct format;
struct options;
struct trace_format;

/* One subcommand. The table of subcommands is in main.c. */
struct command {
	const char *name;
	unsigned bit;
	const char *operands;                      /* for the usage line */
	const char *about;                         /* one sentence */
	const char *example;                       /* a command line */
	int (*run)(const struct options *options); /* returns the exit code */
};

struct options {
	const struct command *command;
	int64_t interval_ns;
	int64_t duration_ns; /* 0: no limit */
	uint64_t count;      /* 0: no limit */
	int64_t timeout_ns;  /* 0: none */
	int64_t wait_ns;     /* attach; 0: no limit */
	const char *output;  /* NULL: not given */
	bool append;
	const char *processes;       /* file for the list of processes; NULL: not given */
	const struct format *format; /* NULL: not given */
	const char *fields;          /* of the series, separated by commas; NULL: not given */
	const char *meta;            /* file that says what the series is of; NULL: not given */
	bool has_iso_times;
	enum summary_form summary;
	bool has_summary_form;    /* it was given */
	bool no_summary;          /* --quiet; a form that is given after it undoes that */
	const char *template;     /* of SUMMARY_TEMPLATE */
	bool raw;                 /* its texts, unless to a terminal */
	const char *summary_file; /* NULL: standard error */
	const char *label;        /* NULL: not given */
	bool no_children;
	bool per_process;
	bool gpu;
	enum pss_reads pss;
	uint32_t accounting; /* RT_ACCOUNTING_ value */
	bool verbose, quiet;
	enum when color, live;
	bool of_children, of_thread;                  /* rusage */
	int32_t pid;                                  /* rusage, trace; 0: not given */
	bool as_json;                                 /* rusage, info */
	bool has_rusage_form;                         /* it was given */
	bool list_fields;                             /* info */
	const struct trace_format *trace_format;      /* NULL: not given */
	uint32_t calls;                               /* RT_TRACE_CALL_ bits; 0: not given */
	uint32_t back_end;                            /* RT_TRACE_BACK_END_ value */
	uint64_t ring_bytes;                          /* 0: not given */
	bool all;                                     /* trace, attach */
	bool live_children;                           /* trace */
	bool wait, full;                              /* attach */
	const char *cgroup, *unit, *container, *name; /* attach; NULL: not given */
	const char *root, *netns;                     /* system; NULL: not given */
	/* run: limits besides timeout_ns; 0: none. Then how all of them were given. */
	uint64_t max_memory_bytes, max_processes;
	int64_t max_cpu_ns;
	bool strict_limits, hard_memory;
	struct {
		const char *timeout, *memory, *cpu_time, *processes;
	} limit_words;
	/* What RTRACK_OPTIONS alone has given. A default that cannot be used is left alone, while
	 * an option that cannot be used is an error. */
	struct {
		const struct format *format;
		const char *fields, *meta, *template;
		bool per_process, append, has_iso_times, wait, full, all, no_children, raw;
		bool strict_limits, hard_memory;
		enum when live;
	} defaults;
	char **operands; /* arguments after the options; NULL ends them */
	int operand_count;
};

/* Parse the arguments of a subcommand, after those of RTRACK_OPTIONS; argv[0] is its name. Returns
 * true if the subcommand must run. Otherwise help was shown or an error was reported: returns false
 * and sets the exit code. */
bool options_parse(struct options *options, const struct command *command, int argc, char **argv,
                   int *exit_code);

/* Returns true if the command line has an option of a series, apart from --output. */
bool options_ask_for_series(const struct options *options);

/* Print the versions. Returns the exit code. */
int options_show_version(void);

#endif
