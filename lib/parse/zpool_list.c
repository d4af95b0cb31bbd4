/* SPDX-License-Identifier: MIT */
/* Parser of the output of `zpool list -Hp -o name,size,alloc,free`. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "parse/parse.h"
#include "parse/scan.h"
#include "util/visit.h"

/* Fields end at tabs only, since names may contain spaces. */
static struct rti_scan parse_field(struct rti_scan *line)
{
	const char *tab = memchr(line->at, '\t', (size_t)(line->end - line->at));
	struct rti_scan field = { line->at, tab ? tab : line->end };

	line->at = tab ? tab + 1 : line->end;
	return field;
}

/* A pool that cannot be opened has "-" for its figures. Returns false if the field is malformed. */
static bool parse_figure(struct rti_scan *line, uint64_t *out, bool *is_known)
{
	struct rti_scan field = parse_field(line);

	*out = 0;
	if (rti_scan_literal(&field, "-"))
		*is_known = false;
	else if (!rti_scan_u64(&field, out))
		return false;
	return field.at == field.end;
}

static bool parse_pool(struct rti_scan *line, struct rti_zpool_line *out)
{
	struct rti_scan name = parse_field(line);

	if (name.at == name.end)
		return false;
	rti_scan_copy(&name, out->name, sizeof(out->name));
	out->has_figures = true;
	return parse_figure(line, &out->size, &out->has_figures) &&
	       parse_figure(line, &out->allocated, &out->has_figures) &&
	       parse_figure(line, &out->free, &out->has_figures);
}

int rti_parse_zpool_list(const char *data, size_t len,
                         int (*each)(void *arg, const struct rti_zpool_line *pool), void *arg)
{
	struct rti_scan s = rti_scan(data, len), line;
	int err = RTI_CONTINUE;

	while (err == RTI_CONTINUE && rti_scan_line(&s, &line)) {
		struct rti_zpool_line pool;

		err = parse_pool(&line, &pool) ? each(arg, &pool) : -EBADMSG;
	}
	return err;
}
