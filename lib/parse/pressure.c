/* SPDX-License-Identifier: MIT */
/* Parser of /proc/pressure/cpu, memory and io. */
#include <errno.h>
#include <stdbool.h>

#include "parse/parse.h"
#include "parse/scan.h"

static bool parse_total(struct rti_scan *line, uint64_t *out)
{
	struct rti_scan word;

	while (rti_scan_word(line, &word))
		if (rti_scan_literal(&word, "total="))
			return rti_scan_u64(&word, out);
	return false;
}

int rti_parse_pressure(const char *data, size_t len, struct rti_pressure *out)
{
	struct rti_scan s = rti_scan(data, len), line;
	bool has_some = false;

	*out = (struct rti_pressure){ 0 };
	while (rti_scan_line(&s, &line)) {
		if (rti_scan_literal(&line, "some "))
			has_some |= parse_total(&line, &out->some_us);
		else if (rti_scan_literal(&line, "full "))
			out->has_full |= parse_total(&line, &out->full_us);
	}
	return has_some ? 0 : -EBADMSG;
}
