/* SPDX-License-Identifier: MIT */
/* frames PID...: what processes map together, each page frame once. Prints lines "NAME BYTES":
 * anon, shmem, file, hugetlb, swap. "doubtful" has the number of frames of which pagemap and
 * kpageflags disagree; it must be 0.
 *
 * It reads /proc/PID/pagemap and /proc/kpageflags, as root, and trusts no counter of the kernel.
 * The processes must be stopped meanwhile. The page of zeros and the huge page of zeros are no
 * memory of a process, and count nowhere. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Documentation/admin-guide/mm/pagemap.rst */
#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)
#define FILE_OR_SHARED (UINT64_C(1) << 61)
#define FRAME_MASK ((UINT64_C(1) << 55) - 1)

/* include/uapi/linux/kernel-page-flags.h */
#define KPF_ANON 12
#define KPF_SWAPBACKED 14
#define KPF_HUGE 17
#define KPF_NOPAGE 20
#define KPF_ZERO_PAGE 24

/* Frames of 32 TiB with pages of 4 KiB. The bitmap is sparse. */
#define FRAMES_MOST (UINT64_C(1) << 33)
#define ENTRIES 65536

enum part { ANON, SHMEM, FILE_PAGES, HUGETLB, PARTS };

static const char *const names[PARTS] = { "anon", "shmem", "file", "hugetlb" };
static uint64_t counts[PARTS], doubtful;
static uint8_t *seen;
static uint64_t *swapped; /* entries of swapped pages, in no order */
static size_t swapped_count, swapped_room;
static int page_flags;

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t get_flags(uint64_t frame)
{
	uint64_t flags;

	if (pread(page_flags, &flags, sizeof(flags), (off_t)(frame * sizeof(flags))) !=
	    sizeof(flags))
		fail("/proc/kpageflags");
	return flags;
}

static bool has(uint64_t flags, int bit)
{
	return flags >> bit & 1;
}

/* tmpfs, memfd, shared anonymous memory and System V segments are backed by swap, and not
 * anonymous. A page that KSM has merged is anonymous. */
static void count_frame(uint64_t entry)
{
	uint64_t frame = entry & FRAME_MASK, flags;
	uint8_t bit = (uint8_t)(1 << frame % 8);

	if (frame >= FRAMES_MOST || !frame) {
		fputs("frames: no page frame numbers: not root\n", stderr);
		exit(1);
	}
	if (seen[frame / 8] & bit)
		return;
	seen[frame / 8] |= bit;
	flags = get_flags(frame);
	if (has(flags, KPF_ZERO_PAGE) || has(flags, KPF_NOPAGE))
		return;
	if (has(flags, KPF_ANON) == !!(entry & FILE_OR_SHARED))
		doubtful++;
	if (has(flags, KPF_HUGE))
		counts[HUGETLB]++;
	else if (has(flags, KPF_ANON))
		counts[ANON]++;
	else
		counts[has(flags, KPF_SWAPBACKED) ? SHMEM : FILE_PAGES]++;
}

static void keep_swapped(uint64_t entry)
{
	if (swapped_count == swapped_room) {
		swapped_room = swapped_room ? 2 * swapped_room : 4096;
		swapped = realloc(swapped, swapped_room * sizeof(*swapped));
		if (!swapped)
			fail("realloc");
	}
	swapped[swapped_count++] = entry & FRAME_MASK;
}

static void read_range(int pagemap, uint64_t begin, uint64_t end)
{
	static uint64_t entries[ENTRIES];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	ssize_t n;

	for (uint64_t at = begin / page; at < end / page; at += (uint64_t)n / 8) {
		uint64_t left = end / page - at;

		n = pread(pagemap, entries, (left < ENTRIES ? left : ENTRIES) * 8, (off_t)(at * 8));
		if (n <= 0)
			fail("pagemap");
		for (ssize_t i = 0; i < n / 8; i++)
			if (entries[i] & PRESENT)
				count_frame(entries[i]);
			else if (entries[i] & SWAPPED)
				keep_swapped(entries[i]);
	}
}

/* What the kernel maps into each process for itself. */
static bool is_of_kernel(const char *line)
{
	return strstr(line, " [vvar") || strstr(line, " [vsyscall]");
}

/* Parse smaps. Its figures only say which mappings are empty: those of a browser span terabytes. */
static void read_process(const char *pid)
{
	static const char *const keys[] = { "Rss:", "Swap:", "Shared_Hugetlb:",
		                            "Private_Hugetlb:" };
	char path[64], line[8192], name[64];
	uint64_t begin = 0, end = 0, from, to, value;
	bool is_empty = true;
	FILE *smaps;
	int pagemap;

	snprintf(path, sizeof(path), "/proc/%s/pagemap", pid);
	pagemap = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%s/smaps", pid);
	smaps = fopen(path, "re");
	if (pagemap < 0 || !smaps)
		fail(path);
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &from, &to) == 2) {
			if (!is_empty)
				read_range(pagemap, begin, end);
			begin = from;
			end = is_of_kernel(line) ? from : to;
			is_empty = true;
			continue;
		}
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (sscanf(line, "%63s %" SCNu64, name, &value) == 2 &&
			    !strcmp(name, keys[i]) && value)
				is_empty = false;
	}
	if (!is_empty)
		read_range(pagemap, begin, end);
	if (ferror(smaps))
		fail(path);
	fclose(smaps);
	close(pagemap);
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static uint64_t count_swapped(void)
{
	uint64_t distinct = 0;

	if (swapped_count)
		qsort(swapped, swapped_count, sizeof(*swapped), compare);
	for (size_t i = 0; i < swapped_count; i++)
		distinct += !i || swapped[i] != swapped[i - 1];
	return distinct;
}

int main(int argc, char **argv)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	page_flags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	if (page_flags < 0)
		fail("/proc/kpageflags");
	seen = mmap(NULL, FRAMES_MOST / 8, PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (seen == MAP_FAILED)
		fail("mmap");
	for (int i = 1; i < argc; i++)
		read_process(argv[i]);
	for (int i = 0; i < PARTS; i++)
		printf("%s %" PRIu64 "\n", names[i], counts[i] * page);
	printf("swap %" PRIu64 "\ndoubtful %" PRIu64 "\n", count_swapped() * page, doubtful);
	return 0;
}
