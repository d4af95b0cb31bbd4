/* SPDX-License-Identifier: MIT */
/* Parser of /proc/net/dev. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "parse/parse.h"
#include "parse/scan.h"
#include "util/visit.h"

/* The name may contain colons, and no space need follow it. E.g.: "eth0:123", "bond0:1: 5". */
static bool parse_name(struct rti_scan *line, char *out, size_t out_size)
{
	struct rti_scan name;

	rti_scan_blanks(line);
	name.at = line->at;
	name.end = memrchr(line->at, ':', (size_t)(line->end - line->at));
	if (!name.end || name.at == name.end)
		return false;
	rti_scan_copy(&name, out, out_size);
	line->at = name.end + 1;
	return true;
}

static bool parse_device(struct rti_scan *line, struct rti_netdev *out)
{
	return parse_name(line, out->name, sizeof(out->name)) &&
	       rti_scan_u64(line, &out->receive_bytes) &&
	       rti_scan_u64(line, &out->receive_packets) &&
	       rti_scan_u64(line, &out->receive_errors) &&
	       rti_scan_u64(line, &out->receive_drops) &&
	       rti_scan_skip_words(line, 4) && /* fifo, frame, compressed, multicast */
	       rti_scan_u64(line, &out->transmit_bytes) &&
	       rti_scan_u64(line, &out->transmit_packets) &&
	       rti_scan_u64(line, &out->transmit_errors) &&
	       rti_scan_u64(line, &out->transmit_drops);
}

int rti_parse_netdev(const char *data, size_t len,
                     int (*each)(void *arg, const struct rti_netdev *dev), void *arg)
{
	struct rti_scan s = rti_scan(data, len), line;
	int err = RTI_CONTINUE;

	for (int i = 0; i < 2; i++) /* the headers */
		if (!rti_scan_line(&s, &line) ||
		    !memchr(line.at, '|', (size_t)(line.end - line.at)))
			return -EBADMSG;
	while (err == RTI_CONTINUE && rti_scan_line(&s, &line)) {
		struct rti_netdev dev;

		err = parse_device(&line, &dev) ? each(arg, &dev) : -EBADMSG;
	}
	return err;
}
