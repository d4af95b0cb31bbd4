/* SPDX-License-Identifier: MIT */
/* Parser of /proc/spl/kstat/zfs/arcstats. */
#include <errno.h>
#include <stdbool.h>

#include "parse/parse.h"
#include "parse/scan.h"

/* A line is a name, the type of the value, and the value. The two lines before them are a header,
 * and a heading without numbers. Returns false if it is no such line. */
static bool parse_value(struct rti_scan line, struct rti_scan *name, uint64_t *out)
{
	uint32_t type;

	return rti_scan_word(&line, name) && rti_scan_u32(&line, &type) &&
	       rti_scan_u64(&line, out) && line.at == line.end;
}

int rti_parse_arcstats(const char *data, size_t len, struct rti_arcstats *out)
{
	struct rti_scan s = rti_scan(data, len), line, name;
	bool has_size = false, has_min = false;
	uint64_t value;

	while (rti_scan_line(&s, &line)) {
		if (!parse_value(line, &name, &value))
			continue;
		if (rti_scan_is(&name, "size")) {
			out->size = value;
			has_size = true;
		} else if (rti_scan_is(&name, "c_min")) {
			out->min = value;
			has_min = true;
		}
	}
	return has_size && has_min ? 0 : -EBADMSG;
}
