/* SPDX-License-Identifier: MIT */
/* mapper HOW MIB [CHILDREN [FILE]]: map memory in a way that is known, say "ready", hold it until
 * standard input ends, and exit. With the environment variable MAPPER_HOLD_MS it is silent, and
 * holds for that time. HOW:
 *   nothing  only what each process has
 *   anon     private memory
 *   huge     the same in huge pages
 *   zeros    private memory that was only read: the pages of zeros, a huge one and a small one
 *   pool     children share it, and read all of it
 *   written  children share it, and each has written half of it
 *   shared   children map one block of shared memory, and each touches all of it
 *   random   the same, each touches every other page by chance
 *   parts    the same, each touches another part of it
 *   part     the same, all touch the same part of it
 *   file     children map FILE, and each reads all of it
 *   file_parts, file_part: the same, as parts and part
 *   four     one block, mapped four times by each process
 *   shm      a file in /dev/shm, mapped
 *   sysv     a System V segment
 *   unmapped a file in /dev/shm that no process maps
 *   hugetlb  pages of the pool that the administrator has set aside
 *   ksm      equal pages, which the kernel merges
 *   freed    private memory, half of it lazily freed
 *   swapped  children share private memory, of which half is swapped out
 *   vfork    a child in vfork(2), which shares all with its parent
 *   thread   a process of its own that shares all memory, by CLONE_VM
 *   churn    children share it, and map, touch and unmap 2 MiB again and again */
#include "holders.h"
#include "memory.h"
#include "work.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <unistd.h>

#define CHILDREN_MOST 128
#define CHURN_BYTES (2 * MIB)
#define CHURN_PAUSE_US 3000
#define KSM_PATIENCE_S 100

static const char *file_name;
static uint64_t size;
static int children;
static char *memory;
static volatile uint64_t sum; /* so that reads are not optimized away */

static void touch(char *at, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += 4096)
		at[i]++;
}

static void read_through(const char *at, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += 4096)
		sum += (uint64_t)at[i];
}

static char *map(int flags, int fd)
{
	int protection = flags & MAP_SHARED || fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ;
	void *at = mmap(NULL, size, protection, flags, fd, 0);

	if (at == MAP_FAILED)
		skip_with_errno("mmap");
	return at;
}

/* The file has no name, so it ends with the processes that have it open. */
static int open_tmpfs(void)
{
	int fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		skip_with_errno("/dev/shm");
	return fd;
}

static void prepare_nothing(void)
{
}

static void prepare_anon(void)
{
	memory = fill_memory(size);
}

static void prepare_huge(void)
{
	memory = fill_huge_memory(size);
}

static void prepare_zeros(void)
{
	memory = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	madvise(memory, size / 2, MADV_HUGEPAGE);
	madvise(memory + size / 2, size / 2, MADV_NOHUGEPAGE);
	memory[0] = memory[size / 2] = 1; /* so that no half is empty */
	read_through(memory, size);
}

static void prepare_shared(void)
{
	memory = map(MAP_SHARED | MAP_ANONYMOUS, -1);
}

static void prepare_unread_file(void)
{
	int fd = open(file_name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		skip_with_errno(file_name);
	memory = map(MAP_PRIVATE, fd);
}

static void prepare_file(void)
{
	prepare_unread_file();
	read_through(memory, size);
}

static void prepare_four(void)
{
	int fd = open_tmpfs();

	for (int i = 0; i < 4; i++)
		touch(map(MAP_SHARED, fd), size);
}

static void prepare_shm(void)
{
	memory = map(MAP_SHARED, open_tmpfs());
	touch(memory, size);
}

static void prepare_sysv(void)
{
	int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);

	memory = id < 0 ? (void *)-1 : shmat(id, NULL, 0);
	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	if (memory == (void *)-1)
		skip_with_errno("shmget");
	touch(memory, size);
}

static void prepare_unmapped(void)
{
	static char block[65536];
	int fd = open_tmpfs();

	memset(block, 1, sizeof(block));
	for (uint64_t i = 0; i < size / sizeof(block); i++)
		if (write(fd, block, sizeof(block)) != sizeof(block))
			skip_with_errno("/dev/shm");
}

static void prepare_hugetlb(void)
{
	memory = map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1);
	memset(memory, 1, size);
}

static uint64_t get_merged_pages(void)
{
	char text[1024];
	FILE *file = fopen("/proc/self/ksm_stat", "re");
	uint64_t found = 0;

	if (!file)
		skip_with_errno("/proc/self/ksm_stat");
	while (fgets(text, sizeof(text), file))
		if (!strncmp(text, "ksm_merging_pages ", 18))
			found = strtoull(text + 18, NULL, 10);
	fclose(file);
	return found;
}

static void prepare_ksm(void)
{
	uint64_t end = now_ns() + (uint64_t)KSM_PATIENCE_S * 1000000000;

	memory = fill_memory(size);
	if (madvise(memory, size, MADV_MERGEABLE) < 0)
		skip_with_errno("MADV_MERGEABLE");
	while (get_merged_pages() < size / 4096 * 99 / 100) {
		if (now_ns() > end)
			skip("the kernel does not merge pages");
		sleep_ms(20);
	}
}

static void prepare_freed(void)
{
	memory = fill_memory(size);
	if (madvise(memory, size / 2, MADV_FREE) < 0)
		skip_with_errno("MADV_FREE");
}

static bool is_swapped_out(const char *at)
{
	uint64_t entry = 0;
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (pagemap < 0 || pread(pagemap, &entry, 8, (off_t)((uintptr_t)at / 4096 * 8)) != 8)
		skip_with_errno("/proc/self/pagemap");
	close(pagemap);
	return entry >> 62 & 1;
}

static void prepare_swapped(void)
{
	memory = fill_memory(size);
	for (uint64_t at = 0; at < size / 2; at += 4096)
		while (!is_swapped_out(memory + at))
			if (madvise(memory, size / 2, MADV_PAGEOUT) < 0)
				skip_with_errno("MADV_PAGEOUT");
}

static void do_nothing(int child)
{
	(void)child;
}

static void do_write(int child)
{
	(void)child;
	touch(memory, size / 2);
}

static void do_touch(int child)
{
	(void)child;
	touch(memory, size);
}

static void do_touch_random(int child)
{
	uint64_t state = (uint64_t)(child + 1) * 0x9e3779b97f4a7c15;

	for (uint64_t i = 0; i < size; i += 4096) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		if (state >> 63)
			memory[i]++;
	}
}

static void do_touch_part(int child)
{
	uint64_t part = size / (uint64_t)children;

	touch(memory + (uint64_t)child * part, part);
}

static void do_touch_first_part(int child)
{
	(void)child;
	do_touch_part(0);
}

static void do_read_part(int child)
{
	uint64_t part = size / (uint64_t)children;

	read_through(memory + (uint64_t)child * part, part);
}

static void do_read_first_part(int child)
{
	(void)child;
	do_read_part(0);
}

static void do_read(int child)
{
	(void)child;
	read_through(memory, size);
}

/* Until the parent ends this process. */
static void do_churn(int child)
{
	hold(child, 0);
	for (;;) {
		char *at = mmap(NULL, CHURN_BYTES, PROT_READ | PROT_WRITE,
		                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED)
			_exit(1);
		madvise(at, CHURN_BYTES, MADV_NOHUGEPAGE);
		touch(at, CHURN_BYTES);
		munmap(at, CHURN_BYTES);
		usleep(CHURN_PAUSE_US);
	}
}

static const struct way {
	const char *name;
	void (*prepare)(void); /* by the parent, before it forks */
	void (*work)(int child);
} ways[] = {
	{ "nothing", prepare_nothing, do_nothing },
	{ "anon", prepare_anon, do_nothing },
	{ "huge", prepare_huge, do_nothing },
	{ "zeros", prepare_zeros, do_nothing },
	{ "pool", prepare_anon, do_read },
	{ "written", prepare_anon, do_write },
	{ "shared", prepare_shared, do_touch },
	{ "random", prepare_shared, do_touch_random },
	{ "parts", prepare_shared, do_touch_part },
	{ "part", prepare_shared, do_touch_first_part },
	{ "file", prepare_file, do_read },
	{ "file_parts", prepare_unread_file, do_read_part },
	{ "file_part", prepare_unread_file, do_read_first_part },
	{ "four", prepare_four, do_nothing },
	{ "shm", prepare_shm, do_touch },
	{ "sysv", prepare_sysv, do_touch },
	{ "unmapped", prepare_unmapped, do_nothing },
	{ "hugetlb", prepare_hugetlb, do_nothing },
	{ "ksm", prepare_ksm, do_nothing },
	{ "freed", prepare_freed, do_nothing },
	{ "swapped", prepare_swapped, do_nothing },
	{ "vfork", prepare_anon, do_nothing },
	{ "thread", prepare_anon, do_nothing },
	{ "churn", prepare_anon, do_churn },
};

static const struct way *way;

static void run_child(int child)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	way->work(child);
	hold(child, 0);
}

/* Say that all is mapped, and wait for the end of the input. No memory is used for that: a child in
 * vfork(2) calls it. */
static void hold_all(void)
{
	const char *ms = getenv("MAPPER_HOLD_MS");
	char byte;

	if (ms) {
		sleep_ms(atoi(ms));
		return;
	}
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		_exit(1);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

static int run_thread(void *unused)
{
	(void)unused;
	hold_all();
	_exit(0);
}

static void hold_in_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		hold_all();
		_exit(0);
	}
	if (pid < 0)
		skip_with_errno("vfork");
	wait_for(pid);
}

static void hold_beside_thread(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	pid_t pid = clone(run_thread, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	if (pid < 0)
		skip_with_errno("clone");
	wait_for(pid);
}

static void find_way(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(ways[i].name, name))
			way = &ways[i];
	if (!way)
		exit(2);
}

int main(int argc, char **argv)
{
	pid_t pids[CHILDREN_MOST];

	find_way(argc > 1 ? argv[1] : "");
	size = (uint64_t)get_number(argc, argv, 2, 100) * MIB;
	children = get_number(argc, argv, 3, 0);
	file_name = argc > 4 ? argv[4] : "";
	if (children > CHILDREN_MOST)
		return 2;
	if (children)
		prepare_holders(children);
	way->prepare();
	for (int i = 0; i < children; i++)
		pids[i] = start_child(run_child, i);
	if (children)
		await_holders();
	if (way->work == do_churn)
		release_holders();
	if (!strcmp(way->name, "vfork"))
		hold_in_vfork();
	else if (!strcmp(way->name, "thread"))
		hold_beside_thread();
	else
		hold_all();
	for (int i = 0; i < children; i++) {
		kill(pids[i], SIGKILL);
		wait_for(pids[i]);
	}
	return 0;
}
