/* SPDX-License-Identifier: MIT */
/* shared_random MIB CHILDREN MS: children write to random halves of memory that all share, and
 * hold them for a while. What the tree holds is the union, which no sum of resident memory shows:
 * each page counts once, however many processes have it. */
#include "holders.h"
#include "memory.h"
#include "work.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t page_bytes, pages;
static char *memory;
static char *is_used; /* of each page, in memory that all share */

static void *share_memory(uint64_t bytes)
{
	void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		skip_with_errno("mmap");
	return shared;
}

static uint64_t next_random(uint64_t *state)
{
	/* xorshift64 */
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void write_half_and_hold(int holder)
{
	uint64_t state = 0x9e3779b97f4a7c15 * (uint64_t)(holder + 1);

	for (uint64_t i = 0; i < pages; i++) {
		if (next_random(&state) >> 63) {
			memory[i * page_bytes] = 1;
			is_used[i] = 1;
		}
	}
	hold(holder, 0);
}

static uint64_t count_used(void)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < pages; i++)
		count += is_used[i] != 0;
	return count;
}

int main(int argc, char **argv)
{
	int children = get_number(argc, argv, 2, 50);
	uint64_t base = read_resident_bytes(), begin, known;
	pid_t pids[64];

	page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	pages = (uint64_t)get_number(argc, argv, 1, 200) * MIB / page_bytes;
	if (children > 64)
		return 2;
	memory = share_memory(pages * page_bytes);
	is_used = share_memory(pages);
	prepare_holders(children);
	for (int i = 0; i < children; i++)
		pids[i] = start_child(write_half_and_hold, i);
	await_holders();
	known = count_used() * page_bytes + pages;
	begin = now_ns();
	sleep_ms(get_number(argc, argv, 3, 1000));
	report_phase(begin, known, known + sum_overhead(base));
	release_holders();
	for (int i = 0; i < children; i++)
		wait_for(pids[i]);
	report_own_peak(0, largest_holder());
	report_range("peak_footprint_bytes", known, known + sum_overhead(base));
	report_usage();
	return 0;
}
