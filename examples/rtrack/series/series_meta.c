/* SPDX-License-Identifier: MIT */
/* What a series is of, in a file of its own: rows of a series are then all alike. */
#include "series_meta.h"

#include <stdio.h>
#include <sys/stat.h>

#include <rtrack/rtrack.h>

#include "series_append.h"
#include "text/json.h"

enum { SCHEMA = 3 };

static void add_command(struct text *out, const struct subject *subject)
{
	if (!subject->argv) {
		json_null(out, "command");
		return;
	}
	json_begin(out, "command", '[');
	for (int i = 0; subject->argv[i]; i++)
		json_string(out, NULL, subject->argv[i]);
	json_end(out, ']');
}

static const char *kind_of(const struct subject *subject)
{
	if (subject->is_system)
		return "system";
	return subject->is_cgroup ? "cgroup" : "process";
}

static void add_meta(struct text *out, const struct subject *subject, const struct format *format,
                     bool is_per_process)
{
	uint32_t loaded = rt_version();
	char version[32];

	snprintf(version, sizeof(version), "%u.%u.%u", loaded >> 16, loaded >> 8 & 0xff,
	         loaded & 0xff);
	json_begin(out, NULL, '{');
	json_string(out, "type", "meta");
	json_i64(out, "schema", SCHEMA);
	json_string(out, "version", version);
	json_string(out, "format", format->name);
	json_string(out, "kind", is_per_process ? "member" : kind_of(subject));
	add_command(out, subject);
	json_exact_seconds(out, "interval_seconds", (uint64_t)subject->interval_ns);
	json_end(out, '}');
	text_add(out, "\n");
}

int meta_open(struct output *out, const struct options *options)
{
	struct stat st;
	int err;

	if (!options->meta)
		return 0;
	err = output_open(out, options->meta, "description of the series", options->append);
	/* A crash can leave an incomplete line. */
	if (err == 0 && options->append && fstat(out->fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size > 0 && ends_in_torn_row(out->fd, st.st_size))
		text_add(&out->text, "\n");
	return err;
}

void meta_write(struct output *out, const struct subject *subject, const struct format *format,
                bool is_per_process)
{
	if (out->fd < 0)
		return;
	output_begin(out);
	add_meta(&out->text, subject, format, is_per_process);
	output_flush(out);
}
