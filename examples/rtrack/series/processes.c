/* SPDX-License-Identifier: MIT */
/* The list of all processes of a command, written when it has ended. */
#include "processes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cell.h"
#include "follow/figures.h"
#include "format.h"
#include "text/escape.h"
#include "text/json.h"
#include "text/message.h"
#include "text/units.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { DECIMALS = 6 }; /* of times: microseconds */

static const char *const columns[] = {
	"pid",
	"ppid",
	"comm",
	"start",
	"end",
	"exit_code",
	"signal",
	"cpu_user_seconds",
	"cpu_system_seconds",
	"peak_rss_bytes",
	"read_bytes",
	"write_bytes",
	"final",
	"running",
	"partial",
	"estimated",
	"own_read_bytes",
	"own_write_bytes",
	"forked_only",
	"command_line",
	"command_line_cut",
	"cwd",
};

/* One process, with its texts in the form in which they are written. */
struct listed {
	struct rt_command_process row;
	struct text command_line, cwd;
	char *bytes; /* room for a text as the library has it */
	size_t room;
};

int processes_open(struct processes *p, const struct options *options)
{
	const char *name = options->processes;

	*p = (struct processes){ .out = { .fd = -1 } };
	if (!name)
		return 0;
	p->as_json = format_by_file(name) == &format_jsonl;
	return output_open(&p->out, name, "list of processes", false);
}

bool processes_are_wanted(const struct processes *p)
{
	return p->out.fd >= 0;
}

static bool has_value(const struct rt_command_process *row, uint64_t bit)
{
	return is_known((struct marks){ row->valid, row->partial, row->estimated }, bit);
}

static bool has_flag(const struct rt_command_process *row, uint32_t flag)
{
	return (row->flags & flag) != 0;
}

static const char *line_of(const struct text *text)
{
	return text->len ? text->data : "";
}

static void csv_row(struct text *out, const struct listed *listed)
{
	const struct rt_command_process *row = &listed->row;
	bool cpu = has_value(row, RT_HAS_CPU), io = has_value(row, RT_HAS_IO);

	cell_i64(out, true, row->pid);
	cell_i64(out, row->ppid > 0, row->ppid);
	cell_string(out, row->comm);
	cell_rounded(out, row->start_realtime_ns > 0, seconds(row->start_realtime_ns), DECIMALS);
	cell_rounded(out, row->end_realtime_ns > 0, seconds(row->end_realtime_ns), DECIMALS);
	cell_i64(out, row->exit_code >= 0, row->exit_code);
	cell_i64(out, row->signal > 0, row->signal);
	cell_double(out, cpu, seconds(row->cpu_user_ns));
	cell_double(out, cpu, seconds(row->cpu_system_ns));
	cell_u64(out, has_value(row, RT_HAS_PEAK_RSS), row->peak_rss_bytes);
	cell_u64(out, io, row->read_bytes);
	cell_u64(out, io, row->write_bytes);
	cell_u64(out, true, has_flag(row, RT_PROCESS_FINAL));
	cell_u64(out, true, has_flag(row, RT_PROCESS_RUNNING));
	cell_domains(out, row->partial);
	cell_domains(out, row->estimated);
	cell_u64(out, has_flag(row, RT_PROCESS_OWN_IO), row->own_read_bytes);
	cell_u64(out, has_flag(row, RT_PROCESS_OWN_IO), row->own_write_bytes);
	cell_u64(out, true, has_flag(row, RT_PROCESS_NO_EXEC));
	cell_line(out, line_of(&listed->command_line));
	cell_u64(out, true, has_flag(row, RT_PROCESS_CUT));
	cell_line(out, line_of(&listed->cwd));
	cell_end_row(out);
}

static void json_number(struct text *out, const char *key, bool known, int64_t value)
{
	if (known)
		json_i64(out, key, value);
	else
		json_null(out, key);
}

static void json_time(struct text *out, const char *key, uint64_t ns)
{
	if (ns > 0)
		json_rounded(out, key, seconds(ns), DECIMALS);
	else
		json_null(out, key);
}

static void json_seconds(struct text *out, const char *key, bool known, uint64_t ns)
{
	if (known)
		json_double(out, key, seconds(ns));
	else
		json_null(out, key);
}

static void json_line(struct text *out, const char *key, const struct text *text)
{
	json_string(out, key, text->len ? text->data : NULL);
}

static void json_row(struct text *out, const struct listed *listed)
{
	const struct rt_command_process *row = &listed->row;
	bool own_io = has_flag(row, RT_PROCESS_OWN_IO);
	bool cpu = has_value(row, RT_HAS_CPU), io = has_value(row, RT_HAS_IO);

	json_begin(out, NULL, '{');
	json_string(out, "type", "process");
	json_i64(out, "pid", row->pid);
	json_number(out, "ppid", row->ppid > 0, row->ppid);
	json_string(out, "comm", *row->comm ? row->comm : NULL);
	json_time(out, "start", row->start_realtime_ns);
	json_time(out, "end", row->end_realtime_ns);
	json_number(out, "exit_code", row->exit_code >= 0, row->exit_code);
	json_number(out, "signal", row->signal > 0, row->signal);
	json_seconds(out, "cpu_user_seconds", cpu, row->cpu_user_ns);
	json_seconds(out, "cpu_system_seconds", cpu, row->cpu_system_ns);
	json_number(out, "peak_rss_bytes", has_value(row, RT_HAS_PEAK_RSS),
	            (int64_t)row->peak_rss_bytes);
	json_number(out, "read_bytes", io, (int64_t)row->read_bytes);
	json_number(out, "write_bytes", io, (int64_t)row->write_bytes);
	json_bool(out, "final", has_flag(row, RT_PROCESS_FINAL));
	json_bool(out, "running", has_flag(row, RT_PROCESS_RUNNING));
	json_bits(out, RT_CONSTANTS_HAS, "partial", row->partial);
	json_bits(out, RT_CONSTANTS_HAS, "estimated", row->estimated);
	json_number(out, "own_read_bytes", own_io, (int64_t)row->own_read_bytes);
	json_number(out, "own_write_bytes", own_io, (int64_t)row->own_write_bytes);
	json_bool(out, "forked_only", has_flag(row, RT_PROCESS_NO_EXEC));
	json_line(out, "command_line", &listed->command_line);
	json_bool(out, "command_line_cut", has_flag(row, RT_PROCESS_CUT));
	json_line(out, "cwd", &listed->cwd);
	json_end(out, '}');
	text_add(out, "\n");
}

/* Get all rows, or NULL if there are none. The caller frees them, also on failure. Returns 0 or a
 * negative errno value: with rows, why there are no more of them. */
static int list_processes(struct rt_command *command, struct rt_command_process **rows,
                          size_t *count)
{
	int err;

	*rows = NULL;
	*count = 0;
	err = rt_command_processes(command, NULL, sizeof(**rows), count);
	if (*count == 0)
		return err;
	*rows = calloc(*count, sizeof(**rows));
	if (!*rows) {
		*count = 0;
		return -ENOMEM;
	}
	return rt_command_processes(command, *rows, sizeof(**rows), count);
}

static void warn_of_lack(int err, size_t count)
{
	const char *why = err == -ENOBUFS
	                      ? "more ran at the same time than the kernel's account has room for, "
	                        "or it has missed the end of some"
	                      : error_words(err);

	if (count > 0)
		warn("the list of processes is not complete: %s", why);
	else
		warn("cannot list the processes: %s", why);
}

/* Get a text of one process. Without memory for it, it is empty. */
static void read_text(struct listed *listed, struct rt_command *command, size_t row, uint32_t which,
                      struct text *out)
{
	size_t len = 0;
	char *bytes;

	text_clear(out);
	if (rt_command_process_text(command, row, which, NULL, &len) < 0 || len == 0)
		return;
	bytes = len < listed->room ? listed->bytes : realloc(listed->bytes, len + 1);
	if (!bytes)
		return;
	listed->bytes = bytes;
	listed->room = len < listed->room ? listed->room : len + 1;
	if (rt_command_process_text(command, row, which, bytes, &len) < 0)
		return;
	bytes[len] = '\0';
	(which == RT_TEXT_CWD ? escape_path : escape_arguments)(out, bytes, len);
}

static void free_listed(struct listed *listed)
{
	text_free(&listed->command_line);
	text_free(&listed->cwd);
	free(listed->bytes);
}

void processes_write(struct processes *p, struct rt_command *command)
{
	struct listed listed = { 0 };
	struct rt_command_process *rows;
	size_t count;
	int err;

	if (p->out.fd < 0)
		return;
	output_begin(&p->out);
	err = list_processes(command, &rows, &count);
	if (err < 0)
		warn_of_lack(err, count);
	if (!p->as_json) {
		cell_names(&p->out.text, columns, COUNT(columns));
		output_flush(&p->out);
	}
	for (size_t i = 0; i < count && p->out.fd >= 0; i++) {
		listed.row = rows[i];
		read_text(&listed, command, i, RT_TEXT_COMMAND_LINE, &listed.command_line);
		read_text(&listed, command, i, RT_TEXT_CWD, &listed.cwd);
		(p->as_json ? json_row : csv_row)(&p->out.text, &listed);
		output_flush(&p->out);
	}
	free_listed(&listed);
	free(rows);
}

void processes_close(struct processes *p)
{
	output_close(&p->out);
}
