/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/io. */
#include <errno.h>

#include "parse/parse.h"
#include "parse/scan.h"

/* In the order of the file. */
enum { RCHAR, WCHAR, SYSCR, SYSCW, READ_BYTES, WRITE_BYTES, CANCELLED_WRITE_BYTES, KEYS };

#define CALLS (1u << SYSCR | 1u << SYSCW)
#define BYTES (((1u << KEYS) - 1) & ~CALLS)

static const struct rti_scan_key keys[KEYS] = {
	[RCHAR] = RTI_SCAN_KEY("rchar:"),
	[WCHAR] = RTI_SCAN_KEY("wchar:"),
	[SYSCR] = RTI_SCAN_KEY("syscr:"),
	[SYSCW] = RTI_SCAN_KEY("syscw:"),
	[READ_BYTES] = RTI_SCAN_KEY("read_bytes:"),
	[WRITE_BYTES] = RTI_SCAN_KEY("write_bytes:"),
	[CANCELLED_WRITE_BYTES] = RTI_SCAN_KEY("cancelled_write_bytes:"),
};

int rti_parse_pid_io(const char *data, size_t len, struct rti_pid_io *out)
{
	struct rti_scan s = rti_scan(data, len);
	uint64_t value[KEYS];
	struct rti_scan_numbers numbers = { .keys = keys, .count = KEYS, .value = value };

	rti_scan_all_keys(&s, &numbers);
	if ((numbers.has & BYTES) != BYTES)
		return -EBADMSG;
	*out = (struct rti_pid_io){
		.rchar = value[RCHAR],
		.wchar = value[WCHAR],
		.read_bytes = value[READ_BYTES],
		.write_bytes = value[WRITE_BYTES],
		.cancelled_write_bytes = value[CANCELLED_WRITE_BYTES],
		.has_calls = (numbers.has & CALLS) == CALLS,
	};
	if (out->has_calls) {
		out->syscr = value[SYSCR];
		out->syscw = value[SYSCW];
	}
	return 0;
}
