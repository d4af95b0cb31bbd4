/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/mountinfo. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "parse/parse.h"
#include "parse/scan.h"
#include "util/visit.h"

/* Skip the optional fields. There may be any number of them; a lone "-" ends them. */
static bool skip_to_type(struct rti_scan *line)
{
	struct rti_scan word;

	while (rti_scan_word(line, &word))
		if (rti_scan_literal(&word, "-") && word.at == word.end)
			return true;
	return false;
}

/* One space precedes the source. The source may be empty, so do not skip more than that space. The
 * options of the file system follow, if there are any. */
static bool parse_source(struct rti_scan *line, struct rti_scan *source, struct rti_scan *options)
{
	const char *space;

	if (!rti_scan_literal(line, " "))
		return false;
	space = memchr(line->at, ' ', (size_t)(line->end - line->at));
	source->at = line->at;
	source->end = space ? space : line->end;
	line->at = source->end;
	if (!rti_scan_word(line, options))
		*options = (struct rti_scan){ line->end, line->end };
	return true;
}

static bool parse_mount(struct rti_scan *line, struct rti_mount *out)
{
	struct rti_scan mount_point, type, source;

	/* Skip the id of the parent. */
	if (!rti_scan_u32(line, &out->id) || !rti_scan_skip_words(line, 1) ||
	    !rti_scan_u32(line, &out->major) || !rti_scan_literal(line, ":") ||
	    !rti_scan_u32(line, &out->minor))
		return false;
	if (!rti_scan_word(line, &out->root) || !rti_scan_word(line, &mount_point) ||
	    !rti_scan_word(line, &out->options))
		return false;
	if (!skip_to_type(line) || !rti_scan_word(line, &type) ||
	    !parse_source(line, &source, &out->super_options))
		return false;
	out->is_cut =
	    !rti_scan_copy_unescaped(&mount_point, out->mount_point, sizeof(out->mount_point));
	rti_scan_copy_unescaped(&type, out->type, sizeof(out->type));
	rti_scan_copy_unescaped(&source, out->source, sizeof(out->source));
	return true;
}

int rti_parse_mountinfo(const char *data, size_t len, struct rti_mount *mount,
                        int (*each)(void *arg, const struct rti_mount *mount), void *arg)
{
	struct rti_scan s = rti_scan(data, len), line;
	int err = RTI_CONTINUE;

	while (err == RTI_CONTINUE && rti_scan_line(&s, &line))
		err = parse_mount(&line, mount) ? each(arg, mount) : -EBADMSG;
	return err;
}
