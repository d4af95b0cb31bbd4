/* SPDX-License-Identifier: MIT */
/* A time series and the file that it is written to. */
#include "series.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu.h"
#include "options/commands.h"
#include "series_append.h"
#include "series_choice.h"
#include "series_meta.h"
#include "text/message.h"
#include "text/units.h"

/* Rows are written one at a time if they are at least so far apart. */
#define WRITE_PAUSE_NS (NS_PER_S / 100)

/* Missed samples are reported if there are so many, and more than one in so many. */
enum { NOTABLE_COUNT = 20, NOTABLE_SHARE = 20 };

/* Returns the name of the output file, or NULL for no series. run writes a series only with
 * --output, because standard output belongs to the command, and attach only if an option asks for
 * one. system writes to standard output, except if it is a terminal and no option asks for one. */
static const char *choose_output(const struct options *options)
{
	bool is_system = options->command->bit == FOR_SYSTEM;

	if (options->output || options->command->bit == FOR_RUN)
		return options->output;
	return options_ask_for_series(options) || (is_system && !isatty(STDOUT_FILENO)) ? "-"
	                                                                                : NULL;
}

static bool is_per_process(const struct options *options, const struct format *format)
{
	return options->command->bit != FOR_SYSTEM && options->per_process && format->choose;
}

static uint32_t kind_of(const struct options *options, const struct format *format)
{
	bool is_cgroup = options->cgroup || options->unit || options->container;

	if (options->command->bit == FOR_SYSTEM)
		return RT_KIND_SYSTEM;
	if (is_per_process(options, format))
		return is_cgroup ? KIND_CGROUP_MEMBERS : KIND_MEMBERS;
	return is_cgroup ? RT_KIND_CGROUP : RT_KIND_PID;
}

static const struct format *choose_format(const struct options *options, const char *output)
{
	return options->format ? options->format : format_by_file(output ? output : "-");
}

/* Returns which series has a field, in words, or NULL for none. */
static const char *series_with_field(const char *name, size_t len)
{
	static const struct {
		uint32_t kind;
		const char *words;
	} others[] = {
		{ RT_KIND_PID, "process trees" },
		{ KIND_MEMBERS, "--per-process" },
		{ RT_KIND_SYSTEM, "'rtrack system'" },
		{ RT_KIND_CGROUP, "cgroups" },
		{ KIND_CGROUP_MEMBERS, "--per-process of cgroups" },
	};
	char field[64];
	size_t unknown;

	if (len >= sizeof(field))
		return NULL;
	memcpy(field, name, len);
	field[len] = '\0';
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!columns_find_unknown(field, others[i].kind, &unknown))
			return others[i].words;
	}
	return NULL;
}

/* Refuse a name that is empty. E.g.: "pid,,pss_bytes". */
static int refuse_empty_field(const struct options *options, const char *name)
{
	bool is_last = *name == '\0';
	char message[240];

	snprintf(message, sizeof(message), "--fields '%.120s%s' has an empty name %s",
	         options->fields, strlen(options->fields) > 120 ? "..." : "",
	         name == options->fields ? "before the first comma"
	         : is_last               ? "after the last comma"
	                                 : "between two commas");
	return usage_error(options, message);
}

static const char *where_fields_are(const struct options *options)
{
	return options->fields == options->defaults.fields ? " in RTRACK_OPTIONS" : "";
}

static int refuse_field(const struct options *options, uint32_t kind, const char *name, size_t len)
{
	const char *other = series_with_field(name, len);
	const char *where = where_fields_are(options);
	int shown = len < 60 ? (int)len : 60;
	const char *rest = len > 60 ? "..." : "";
	struct suggestion meant;
	char message[240];

	if (len == 0)
		return refuse_empty_field(options, name);
	columns_find_closest(name, len, kind, &meant);
	if (other)
		snprintf(message, sizeof(message), "unknown field '%.*s%s'%s: it is one of %s",
		         shown, name, rest, where, other);
	else if (meant.name[0])
		snprintf(message, sizeof(message), "unknown field '%.*s%s'%s: did you mean '%s'?",
		         shown, name, rest, where, meant.name);
	else
		snprintf(message, sizeof(message),
		         "unknown field '%.*s%s'%s: 'rtrack info --fields' lists them", shown, name,
		         rest, where);
	return usage_error(options, message);
}

/* GPUs are looked at on request alone: without it, a field of them would be unknown in each row. */
static int check_gpu_fields(const struct options *options, uint32_t kind)
{
	struct columns columns;
	char message[160] = "";

	if (options->gpu || columns_choose(&columns, options->fields, kind) < 0)
		return 0;
	for (size_t i = 0; i < columns.count && !*message; i++) {
		if (columns.at[i].has & GPU_DOMAINS)
			snprintf(message, sizeof(message), "the field '%s'%s needs --gpu",
			         columns.at[i].name, where_fields_are(options));
	}
	columns_free(&columns);
	return *message ? usage_error(options, message) : 0;
}

static int check_fields(const struct options *options, uint32_t kind)
{
	size_t len;
	const char *unknown = columns_find_unknown(options->fields, kind, &len);

	return unknown ? refuse_field(options, kind, unknown, len)
	               : check_gpu_fields(options, kind);
}

/* Returns what is wrong with options that nothing would come of, or NULL. */
static const char *find_vain_option(const struct options *o, const struct format *format)
{
	bool is_iso = o->has_iso_times && !o->defaults.has_iso_times;
	bool is_appended = o->append && !o->defaults.append;
	struct stat st;

	if (is_iso && !choose_output(o))
		return "--time-format needs --output: there are no rows";
	if (is_iso && !format->choose)
		return "--time-format needs the format csv or jsonl: csv-v1 and csv-v5 have times "
		       "of their own";
	if (!is_appended || o->meta || (o->output && strcmp(o->output, "-") != 0))
		return NULL;
	if (!choose_output(o))
		return "--append needs --output: there is no file";
	return fstat(STDOUT_FILENO, &st) == 0 && S_ISREG(st.st_mode)
	           ? NULL
	           : "--append needs a file: give --output";
}

int series_check(const struct options *options)
{
	const struct format *format = choose_format(options, options->output);
	const char *vain = find_vain_option(options, format);
	bool asks_for_fields;
	char message[160];

	if (vain)
		return usage_error(options, vain);
	if (!choose_output(options)) {
		if (!options_ask_for_series(options))
			return 0;
		snprintf(message, sizeof(message),
		         "%s needs --output: standard output belongs to the command",
		         options->format        ? "--format"
		         : options->fields      ? "--fields"
		         : options->per_process ? "--per-process"
		                                : "--meta");
		return usage_error(options, message);
	}
	asks_for_fields = options->fields != options->defaults.fields;
	if (!format->choose &&
	    (asks_for_fields || options->per_process != options->defaults.per_process)) {
		snprintf(message, sizeof(message),
		         "%s needs the format csv or jsonl: %s has fixed columns",
		         asks_for_fields ? "--fields" : "--per-process", format->name);
		return usage_error(options, message);
	}
	if (!options->fields || !format->choose)
		return 0;
	return check_fields(options, kind_of(options, format));
}

static bool has_column(const struct series *s, const char *name)
{
	return columns_find(&s->columns, name, strlen(name)) != NULL;
}

/* Get the columns of the series: those that --fields names, those of the file that it is appended
 * to, or the default of the format. Returns 0 or a negative errno value. */
static int choose_columns(struct series *s, const struct options *options, const char *head)
{
	uint32_t kind = kind_of(options, s->format);
	int err = 0;

	s->has_own_names = options->fields && s->format->choose;
	if (s->has_own_names)
		err = columns_choose(&s->columns, options->fields, kind);
	else if (s->format->choose && head)
		err = columns_choose(&s->columns, head, kind);
	else if (s->format->choose)
		err = s->format->choose(&s->columns, kind);
	s->columns.kind = kind;
	s->columns.has_iso_times = options->has_iso_times;
	s->is_per_process = is_per_process(options, s->format);
	s->has_children = has_column(s, "children");
	s->has_commands = has_column(s, "command_line");
	return err;
}

/* Rows of one file have timestamps of one form. */
static int check_time_format(const struct series *s)
{
	size_t place = 0;
	enum time_form form;

	while (place < s->columns.count && strcmp(s->columns.at[place].name, "timestamp") != 0)
		place++;
	form = s->format->head ? read_time_form_csv(s->out.fd, place)
	                       : read_time_form_jsonl(s->out.fd);
	if (!s->format->choose || place == s->columns.count || form == TIME_FORM_UNKNOWN ||
	    (form == TIME_FORM_ISO) == s->columns.has_iso_times)
		return 0;
	warn("cannot append to '%s': it has timestamps of --time-format %s", s->out.name,
	     form == TIME_FORM_ISO ? "iso" : "epoch");
	return -EINVAL;
}

/* Continue a file without a head. */
static int check_objects(const struct series *s)
{
	if (begins_with_object(s->out.fd))
		return check_time_format(s);
	warn("cannot append to '%s': it has no rows of the format %s", s->out.name,
	     s->format->name);
	return -EINVAL;
}

/* Continue a file that has rows: in the columns that it has. */
static int continue_file(struct series *s, const struct options *options)
{
	struct text own = { 0 };
	char head[HEAD_MAX];
	int err = read_head(s->out.fd, head);

	if (err == 0)
		err = choose_columns(s, options, head);
	if (err == 0) {
		s->format->head(&own, &s->columns);
		if (strlen(head) + 1 != own.len || strncmp(head, own.data, own.len - 1) != 0)
			err = -EINVAL;
		text_free(&own);
	}
	if (err < 0)
		warn("cannot append to '%s': %s", s->out.name,
		     err == -EINVAL ? "it has other columns than this series" : error_words(err));
	s->has_head = true;
	return err < 0 ? err : check_time_format(s);
}

/* Prepare the output, which is open. */
static int prepare(struct series *s, const struct options *options)
{
	struct output *out = &s->out;
	struct stat st;
	bool is_file = fstat(out->fd, &st) == 0 && S_ISREG(st.st_mode);
	bool is_continued = options->append && is_file && st.st_size > 0;
	int err;

	/* With run, the command may write to the same standard output at any time. */
	out->is_exclusive =
	    is_file && (out->fd != STDOUT_FILENO || options->command->bit != FOR_RUN);
	if (is_continued && ends_in_torn_row(out->fd, st.st_size))
		text_add(&out->text, "\n");
	if (is_continued && s->format->head)
		return continue_file(s, options);
	err = choose_columns(s, options, NULL);
	if (err < 0)
		warn("cannot write '%s': %s", out->name, error_words(err));
	else if (is_continued)
		err = check_objects(s);
	s->has_head = !s->format->head;
	return err;
}

int series_open(struct series *s, const struct options *options)
{
	const char *name = choose_output(options);
	int err;

	*s = (struct series){ .out = { .fd = -1, .what = "series" },
		              .meta = { .fd = -1, .what = "description of the series" },
		              .is_quiet = options->quiet,
		              .interval_ns = options->interval_ns };
	if (!name)
		return 0;
	s->format = choose_format(options, name);
	err = output_open(&s->out, name, "series", options->append);
	if (err < 0)
		return err;
	err = prepare(s, options);
	return err < 0 ? err : meta_open(&s->meta, options);
}

void series_begin(struct series *s, const struct subject *subject)
{
	if (s->out.fd < 0)
		return;
	s->has_begun = true;
	output_begin(&s->out);
	meta_write(&s->meta, subject, s->format, s->is_per_process);
}

static void add_head(struct series *s, const struct row *first)
{
	if (s->has_head)
		return;
	s->has_head = true;
	columns_leave_out(&s->columns, first);
	s->format->head(&s->out.text, &s->columns);
}

void series_flush(struct series *s)
{
	if (s->out.fd >= 0 && s->out.text.len > 0)
		output_flush(&s->out);
}

void series_write_head(struct series *s, const struct row *first)
{
	if (s->out.fd < 0)
		return;
	add_head(s, first);
	series_flush(s);
}

/* Count the rows with a mark that is not in the row. */
static void note_marks(struct series *s, const struct row *row)
{
	bool has_partial = has_column(s, "partial"), has_estimated = has_column(s, "estimated");

	for (size_t i = 0; i < s->columns.count; i++) {
		const struct column *column = &s->columns.at[i];

		if ((!has_partial && column_is_marked(column, row, VALUE_PARTIAL)) ||
		    (!has_estimated && column_is_marked(column, row, VALUE_ESTIMATED))) {
			s->marked_rows++;
			return;
		}
	}
}

void series_add(struct series *s, const struct row *row)
{
	if (s->out.fd < 0)
		return;
	add_head(s, row);
	s->format->row(&s->out.text, &s->columns, row);
	s->rows++;
	if (s->has_own_names)
		note_marks(s, row);
}

void series_end_sample(struct series *s, uint64_t now_ns)
{
	if (s->interval_ns >= WRITE_PAUSE_NS || now_ns >= s->flushed_ns + WRITE_PAUSE_NS) {
		s->flushed_ns = now_ns;
		series_flush(s);
	}
}

void series_write(struct series *s, const struct row *row)
{
	series_add(s, row);
	series_end_sample(s, row_sample(row)->monotonic_ns);
}

static void report_marks(const struct series *s)
{
	if (!s->is_quiet && s->marked_rows > 0)
		warn("%" PRIu64 " of %" PRIu64 " rows have lower bounds or estimates: the fields "
		     "'partial' and 'estimated' name them",
		     s->marked_rows, s->rows);
}

static void report_missed(const struct series *s, const struct ticker *ticker)
{
	uint64_t due = ticker->met + ticker->missed;

	if (s->is_quiet || ticker->missed < NOTABLE_COUNT || ticker->missed < due / NOTABLE_SHARE)
		return;
	warn("%" PRIu64 " of %" PRIu64 " samples were missed: see interval_seconds; a longer "
	     "--interval can be kept",
	     ticker->missed, due);
}

void series_close(struct series *s, const struct ticker *ticker)
{
	if (!s->format)
		return;
	if (s->has_begun && s->out.fd >= 0) {
		add_head(s, NULL);
		series_flush(s);
	}
	output_close(&s->out);
	output_close(&s->meta);
	columns_free(&s->columns);
	if (!s->out.failed && s->rows > 0) {
		report_missed(s, ticker);
		report_marks(s);
	}
}

/* The formats with fixed columns show a little of nearly everything. */
uint64_t series_domains(const struct series *s, uint32_t kind)
{
	uint64_t domains = 0;

	if (s->out.fd < 0)
		return 0;
	if (!s->format->choose)
		return rt_default_domains(kind) | GPU_DOMAINS;
	for (size_t i = 0; i < s->columns.count; i++)
		domains |= s->columns.at[i].has;
	return domains;
}

bool series_has_children(const struct series *s)
{
	return s->out.fd >= 0 && (!s->format->choose || s->has_children);
}

bool series_wants_system(const struct series *s)
{
	return s->out.fd >= 0 && s->format->wants_system;
}
