/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

/* A huge page, so that a mapping begins with a whole one. */
#define HUGE_BYTES (2 * MIB)

static char *map_memory(uint64_t bytes)
{
	void *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		skip_with_errno("mmap");
	return memory;
}

char *fill_memory(uint64_t bytes)
{
	char *memory = map_memory(bytes);

	/* Otherwise a write to one byte may make 2 MiB resident. */
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	memset(memory, 1, bytes);
	return memory;
}

char *fill_huge_memory(uint64_t bytes)
{
	char *memory = map_memory(bytes + HUGE_BYTES);

	memory += HUGE_BYTES - (uintptr_t)memory % HUGE_BYTES;
	if (madvise(memory, bytes, MADV_HUGEPAGE) < 0)
		skip_with_errno("huge pages");
	memset(memory, 1, bytes);
	return memory;
}

/* Read without stdio, which would allocate memory itself. */
static void read_rollup(char *text, size_t size)
{
	int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (n < 0)
		skip_with_errno("/proc/self/smaps_rollup");
	text[n] = '\0';
	close(fd);
}

static uint64_t get_bytes(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) * 1024 : 0;
}

uint64_t read_resident_bytes(void)
{
	char text[4096];

	read_rollup(text, sizeof(text));
	return get_bytes(text, "\nRss:");
}

uint64_t read_private_bytes(void)
{
	char text[4096];

	read_rollup(text, sizeof(text));
	return get_bytes(text, "\nPrivate_Clean:") + get_bytes(text, "\nPrivate_Dirty:");
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void report_phase(uint64_t begin_ns, uint64_t low, uint64_t high)
{
	char line[128];

	snprintf(line, sizeof(line), "phase %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, begin_ns,
	         now_ns(), low, high);
	report_line(line);
}

void report_own_peak(uint64_t held, uint64_t resident)
{
	report_range("peak_rss_bytes", resident > held ? resident : held,
	             resident + PROCESS_SLACK_BYTES);
}
