/* SPDX-License-Identifier: MIT */
/* Parser of /proc/meminfo. */
#include "parse/parse.h"
#include "parse/scan.h"

#include <errno.h>
#include <string.h>

#define ALL_KEYS ((UINT32_C(1) << RTI_MEM_KEYS) - 1)
#define NEEDED_KEYS (UINT32_C(1) << RTI_MEM_TOTAL | UINT32_C(1) << RTI_MEM_FREE)

struct key {
	const char *name;
	size_t len;
};

#define KEY(text) { text, sizeof(text) - 1 }

static const struct key keys[RTI_MEM_KEYS] = {
	[RTI_MEM_TOTAL] = KEY("MemTotal"),
	[RTI_MEM_FREE] = KEY("MemFree"),
	[RTI_MEM_AVAILABLE] = KEY("MemAvailable"),
	[RTI_MEM_BUFFERS] = KEY("Buffers"),
	[RTI_MEM_CACHED] = KEY("Cached"),
	[RTI_MEM_SWAP_CACHED] = KEY("SwapCached"),
	[RTI_MEM_ACTIVE] = KEY("Active"),
	[RTI_MEM_INACTIVE] = KEY("Inactive"),
	[RTI_MEM_ACTIVE_ANON] = KEY("Active(anon)"),
	[RTI_MEM_INACTIVE_ANON] = KEY("Inactive(anon)"),
	[RTI_MEM_ACTIVE_FILE] = KEY("Active(file)"),
	[RTI_MEM_INACTIVE_FILE] = KEY("Inactive(file)"),
	[RTI_MEM_SWAP_TOTAL] = KEY("SwapTotal"),
	[RTI_MEM_SWAP_FREE] = KEY("SwapFree"),
	[RTI_MEM_ANON_PAGES] = KEY("AnonPages"),
	[RTI_MEM_MAPPED] = KEY("Mapped"),
	[RTI_MEM_SHMEM] = KEY("Shmem"),
	[RTI_MEM_SLAB_RECLAIMABLE] = KEY("SReclaimable"),
	[RTI_MEM_SLAB_UNRECLAIMABLE] = KEY("SUnreclaim"),
};

/* Lengths differ more often than first letters, so most lines are told apart without touching their text. */
static unsigned find_key(const char *name, size_t len)
{
	unsigned key = 0;

	while (key < RTI_MEM_KEYS && (keys[key].len != len || memcmp(keys[key].name, name, len) != 0))
		key++;
	return key;
}

static void parse_line(struct rti_scan *line, struct rti_meminfo *out)
{
	const char *colon = memchr(line->at, ':', (size_t)(line->end - line->at));
	unsigned key = colon ? find_key(line->at, (size_t)(colon - line->at)) : RTI_MEM_KEYS;

	if (key == RTI_MEM_KEYS)
		return;
	line->at = colon + 1;
	if (rti_scan_u64(line, &out->kib[key]))
		out->has |= UINT32_C(1) << key;
}

int rti_parse_meminfo(const char *data, size_t len, struct rti_meminfo *out)
{
	struct rti_scan s = rti_scan(data, len), line;

	*out = (struct rti_meminfo){ 0 };
	while (out->has != ALL_KEYS && rti_scan_line(&s, &line))
		parse_line(&line, out);
	return (out->has & NEEDED_KEYS) == NEEDED_KEYS ? 0 : -EBADMSG;
}
