/* SPDX-License-Identifier: MIT */
/* Parsers of the cgroup v2 files cpu.stat and io.stat, and of /proc/PID/cgroup. */
#include <errno.h>

#include "parse/parse.h"

enum { USAGE, USER, SYSTEM, KEYS };

static const struct rti_scan_key keys[KEYS] = {
	[USAGE] = RTI_SCAN_KEY("usage_usec "),
	[USER] = RTI_SCAN_KEY("user_usec "),
	[SYSTEM] = RTI_SCAN_KEY("system_usec "),
};

int rti_parse_cgroup_cpu(const char *data, size_t len, struct rti_cgroup_cpu *out)
{
	struct rti_scan s = rti_scan(data, len);
	uint64_t value[KEYS];
	struct rti_scan_numbers numbers = { .keys = keys, .count = KEYS, .value = value };

	if (!rti_scan_all_keys(&s, &numbers))
		return -EBADMSG;
	*out = (struct rti_cgroup_cpu){ value[USAGE], value[USER], value[SYSTEM] };
	return 0;
}

/* There is one line per device, e.g. "8:0 rbytes=1 wbytes=2 rios=3 ...". A cgroup without I/O has
 * no lines, and a line may have no figures. */
int rti_parse_cgroup_io(const char *data, size_t len, struct rti_cgroup_io *out)
{
	struct rti_scan s = rti_scan(data, len), line, word;
	uint64_t bytes;

	*out = (struct rti_cgroup_io){ 0 };
	while (rti_scan_line(&s, &line)) {
		while (rti_scan_word(&line, &word)) {
			uint64_t *sum = rti_scan_literal(&word, "rbytes=")   ? &out->read_bytes
			                : rti_scan_literal(&word, "wbytes=") ? &out->write_bytes
			                                                     : NULL;

			if (sum && !rti_scan_u64(&word, &bytes))
				return -EBADMSG;
			if (sum)
				*sum += bytes;
		}
	}
	return 0;
}

int rti_parse_pid_cgroup(const char *data, size_t len, struct rti_scan *path)
{
	struct rti_scan s = rti_scan(data, len);

	while (rti_scan_line(&s, path)) {
		if (rti_scan_literal(path, "0::"))
			return path->at < path->end && *path->at == '/' ? 0 : -EBADMSG;
	}
	return -EBADMSG;
}
