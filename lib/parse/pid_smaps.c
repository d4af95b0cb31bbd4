/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/smaps. */
#include <errno.h>
#include <string.h>

#include "parse/parse.h"
#include "parse/scan.h"
#include "util/visit.h"

/* Returns false if there is no number, or if it does not fit. */
static bool scan_hex(struct rti_scan *s, uint64_t *out)
{
	const char *start;

	rti_scan_blanks(s);
	start = s->at;
	*out = 0;
	for (; s->at < s->end; s->at++) {
		char c = *s->at;
		unsigned digit =
		    c >= '0' && c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;

		if (digit > 15 || *out >> 60)
			break;
		*out = *out << 4 | digit;
	}
	return s->at > start && (s->at == s->end || strchr(" -:", *s->at));
}

/* The names that the kernel gives shared memory, and the place where shm_open(3) keeps it. */
static bool is_shared_memory(struct rti_scan name)
{
	rti_scan_blanks(&name);
	return rti_scan_literal(&name, "/dev/shm/") || rti_scan_literal(&name, "/dev/zero (") ||
	       rti_scan_literal(&name, "/memfd:") || rti_scan_literal(&name, "/SYSV");
}

/* E.g.: "7f81c000-7f81e000 r-xp 00002000 08:01 1234  /usr/lib/libc.so.6". */
static bool parse_header(struct rti_scan *line, struct rti_smaps_range *out)
{
	uint64_t start, end;

	*out = (struct rti_smaps_range){ 0 };
	if (!scan_hex(line, &start) || !rti_scan_literal(line, "-") || !scan_hex(line, &end) ||
	    !rti_scan_skip_words(line, 1) || !scan_hex(line, &out->offset) ||
	    !scan_hex(line, &out->major) || !rti_scan_literal(line, ":") ||
	    !scan_hex(line, &out->minor) || !rti_scan_u64(line, &out->inode))
		return false;
	out->size_kib = (end > start ? end - start : 0) / 1024;
	out->is_shmem = is_shared_memory(*line);
	return true;
}

static void parse_value(struct rti_scan *line, struct rti_smaps_range *out)
{
	static const struct {
		struct rti_scan_key key;
		size_t offset;
	} values[] = {
#define VALUE(text, field) { RTI_SCAN_KEY(text), offsetof(struct rti_smaps_range, field) }
		VALUE("Rss:", rss_kib),
		VALUE("Pss:", pss_kib),
		VALUE("Anonymous:", anon_kib),
		VALUE("LazyFree:", lazy_free_kib),
		VALUE("Shared_Hugetlb:", shared_hugetlb_kib),
		VALUE("Private_Hugetlb:", private_hugetlb_kib),
#undef VALUE
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		uint64_t *value = (uint64_t *)(void *)((char *)out + values[i].offset);

		if (rti_scan_text(line, values[i].key.text, values[i].key.len)) {
			rti_scan_u64(line, value);
			return;
		}
	}
}

int rti_parse_smaps(const char *data, size_t len,
                    int (*each)(void *arg, const struct rti_smaps_range *range), void *arg)
{
	struct rti_scan s = rti_scan(data, len), line;
	struct rti_smaps_range range;
	bool has_range = false;

	while (rti_scan_line(&s, &line)) {
		/* A value begins with a capital letter, and an address does not. */
		if (line.at < line.end && *line.at >= 'A' && *line.at <= 'Z') {
			if (!has_range)
				return -EBADMSG;
			parse_value(&line, &range);
			continue;
		}
		if (has_range && each(arg, &range) != RTI_CONTINUE)
			return 0;
		has_range = parse_header(&line, &range);
		if (!has_range)
			return -EBADMSG;
	}
	if (has_range)
		each(arg, &range);
	return 0;
}
