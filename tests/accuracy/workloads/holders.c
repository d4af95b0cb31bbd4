/* SPDX-License-Identifier: MIT */
#include "holders.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"
#include "work.h"

/* What a holder has measured of itself. */
struct measured {
	uint64_t resident, overhead;
};

static struct measured *measured; /* in memory that all processes share */
static int expected;
static int ready[2], released[2];

void prepare_holders(int count)
{
	size_t size = (size_t)count * sizeof(*measured);

	expected = count;
	measured = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (measured == MAP_FAILED || pipe(ready) < 0 || pipe(released) < 0)
		skip_with_errno("pipe");
}

void hold(int holder, uint64_t own)
{
	uint64_t private = read_private_bytes();
	char byte = 0;

	measured[holder].overhead = private > own ? private - own : 0;
	measured[holder].resident = read_resident_bytes();
	/* Other holders may keep a write end open, so read one byte each instead of the end. */
	if (write(ready[1], &byte, 1) != 1 || read(released[0], &byte, 1) != 1)
		_exit(1);
}

void await_holders(void)
{
	char byte;

	close(ready[1]);
	for (int i = 0; i < expected; i++) {
		if (read(ready[0], &byte, 1) != 1)
			skip("a process that holds memory has failed");
	}
}

void release_holders(void)
{
	char byte = 0;

	for (int i = 0; i < expected; i++) {
		if (write(released[1], &byte, 1) != 1)
			skip_with_errno("write");
	}
}

uint64_t sum_overhead(uint64_t base)
{
	uint64_t sum = base + PROCESS_SLACK_BYTES;

	for (int i = 0; i < expected; i++)
		sum += measured[i].overhead + PROCESS_SLACK_BYTES;
	return sum;
}

uint64_t largest_holder(void)
{
	uint64_t largest = 0;

	for (int i = 0; i < expected; i++) {
		if (measured[i].resident > largest)
			largest = measured[i].resident;
	}
	return largest;
}
