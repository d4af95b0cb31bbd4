/* SPDX-License-Identifier: MIT */
/* Parser of /proc/meminfo. */
#include <errno.h>

#include "parse/parse.h"
#include "parse/scan.h"

#define ALL_KEYS ((UINT32_C(1) << RTI_MEM_KEYS) - 1)
#define NEEDED_KEYS (UINT32_C(1) << RTI_MEM_TOTAL | UINT32_C(1) << RTI_MEM_FREE)

static const struct rti_scan_key keys[RTI_MEM_KEYS] = {
	[RTI_MEM_TOTAL] = RTI_SCAN_KEY("MemTotal:"),
	[RTI_MEM_FREE] = RTI_SCAN_KEY("MemFree:"),
	[RTI_MEM_AVAILABLE] = RTI_SCAN_KEY("MemAvailable:"),
	[RTI_MEM_BUFFERS] = RTI_SCAN_KEY("Buffers:"),
	[RTI_MEM_CACHED] = RTI_SCAN_KEY("Cached:"),
	[RTI_MEM_SWAP_CACHED] = RTI_SCAN_KEY("SwapCached:"),
	[RTI_MEM_ACTIVE] = RTI_SCAN_KEY("Active:"),
	[RTI_MEM_INACTIVE] = RTI_SCAN_KEY("Inactive:"),
	[RTI_MEM_ACTIVE_ANON] = RTI_SCAN_KEY("Active(anon):"),
	[RTI_MEM_INACTIVE_ANON] = RTI_SCAN_KEY("Inactive(anon):"),
	[RTI_MEM_ACTIVE_FILE] = RTI_SCAN_KEY("Active(file):"),
	[RTI_MEM_INACTIVE_FILE] = RTI_SCAN_KEY("Inactive(file):"),
	[RTI_MEM_SWAP_TOTAL] = RTI_SCAN_KEY("SwapTotal:"),
	[RTI_MEM_SWAP_FREE] = RTI_SCAN_KEY("SwapFree:"),
	[RTI_MEM_ANON_PAGES] = RTI_SCAN_KEY("AnonPages:"),
	[RTI_MEM_MAPPED] = RTI_SCAN_KEY("Mapped:"),
	[RTI_MEM_SHMEM] = RTI_SCAN_KEY("Shmem:"),
	[RTI_MEM_SLAB_RECLAIMABLE] = RTI_SCAN_KEY("SReclaimable:"),
	[RTI_MEM_SLAB_UNRECLAIMABLE] = RTI_SCAN_KEY("SUnreclaim:"),
	[RTI_MEM_HUGE_PAGES] = RTI_SCAN_KEY("HugePages_Total:"),
	[RTI_MEM_HUGE_PAGES_FREE] = RTI_SCAN_KEY("HugePages_Free:"),
	[RTI_MEM_HUGE_PAGE_SIZE] = RTI_SCAN_KEY("Hugepagesize:"),
	[RTI_MEM_HUGETLB] = RTI_SCAN_KEY("Hugetlb:"),
};

int rti_parse_meminfo(const char *data, size_t len, struct rti_meminfo *out)
{
	struct rti_scan s = rti_scan(data, len);
	struct rti_scan_numbers numbers = { .keys = keys,
		                            .count = RTI_MEM_KEYS,
		                            .value = out->value };

	*out = (struct rti_meminfo){ 0 };
	while (numbers.has != ALL_KEYS && rti_scan_keyed_line(&s, &numbers))
		;
	out->has = numbers.has;
	return (out->has & NEEDED_KEYS) == NEEDED_KEYS ? 0 : -EBADMSG;
}
