/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/io. */
#include "parse/parse.h"
#include "parse/scan.h"

#include <errno.h>

enum { RCHAR, WCHAR, READ_BYTES, WRITE_BYTES, CANCELLED_WRITE_BYTES, KEYS };

static const char *const keys[KEYS] = {
	[RCHAR] = "rchar:",
	[WCHAR] = "wchar:",
	[READ_BYTES] = "read_bytes:",
	[WRITE_BYTES] = "write_bytes:",
	[CANCELLED_WRITE_BYTES] = "cancelled_write_bytes:",
};

int rti_parse_pid_io(const char *data, size_t len, struct rti_pid_io *out)
{
	struct rti_scan s = rti_scan(data, len), line;
	uint64_t value[KEYS] = { 0 };
	unsigned has = 0;

	while (rti_scan_line(&s, &line)) {
		unsigned key = 0;

		while (key < KEYS && !rti_scan_literal(&line, keys[key]))
			key++;
		if (key < KEYS && rti_scan_u64(&line, &value[key]))
			has |= 1u << key;
	}
	if (has != (1u << KEYS) - 1)
		return -EBADMSG;
	*out = (struct rti_pid_io){
		.rchar = value[RCHAR],
		.wchar = value[WCHAR],
		.read_bytes = value[READ_BYTES],
		.write_bytes = value[WRITE_BYTES],
		.cancelled_write_bytes = value[CANCELLED_WRITE_BYTES],
	};
	return 0;
}
