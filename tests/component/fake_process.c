/* SPDX-License-Identifier: MIT */
#include "fake_process.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define PATH_SPACE 128

static void write_stat(struct fixture *f, const struct fake_process *p, const char *path)
{
	fixture_printf(f, path,
	               "%d (%s) %c %d %d %d 0 -1 %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	               " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " 20 0 1 0 %" PRIu64
	               " 1000000 %" PRIu64 " 18446744073709551615 1 1 %" PRIu64
	               " 0 0 0 0 %u 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
	               p->pid, p->comm ? p->comm : "fake",
	               p->is_zombie ? 'Z'
	               : p->state   ? p->state
	                            : 'S',
	               p->ppid, p->pgrp, p->session, p->is_forked ? 0x400040u : 0x400000u,
	               p->minflt, p->cminflt, p->majflt, p->cmajflt, p->utime, p->stime, p->cutime,
	               p->cstime, p->starttime, p->rss_pages, p->stack,
	               p->ignores_sigchld ? 0x10000u : 0u);
}

static void write_status(struct fixture *f, const struct fake_process *p, const char *path)
{
	char memory[256] = "";

	if (!p->is_zombie)
		snprintf(memory, sizeof(memory),
		         "VmHWM:\t%8" PRIu64 " kB\nRssShmem:\t%8" PRIu64 " kB\nVmSwap:\t%8" PRIu64
		         " kB\nHugetlbPages:\t%8" PRIu64 " kB\n",
		         p->hwm_kib, p->shmem_kib, p->swap_kib, p->hugetlb_kib);
	fixture_printf(f, path,
	               "Name:\t%s\nState:\tS\nTgid:\t%d\nPid:\t%d\nUid:\t%u\t0\t0\t0\nNSpid:\t%d\n"
	               "%sSigIgn:\t%016x\n"
	               "voluntary_ctxt_switches:\t%" PRIu64
	               "\nnonvoluntary_ctxt_switches:\t%" PRIu64 "\n",
	               p->comm ? p->comm : "fake", p->pid, p->pid, p->uid, p->pid, memory,
	               p->ignores_sigchld ? 0x10000 : 0, p->voluntary, p->involuntary);
}

static uint64_t kib_of(uint64_t pages)
{
	return pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

/* All fake processes map one file, each as much of it as it has of files; and one block of shared
 * memory, of which each mapping counts in shmem_kib. Each range has room for 1 GiB. */
static void write_smaps(struct fixture *f, const struct fake_process *p, const char *path)
{
	uint64_t shared_kib = kib_of(p->shared_pages), file_kib = shared_kib - p->shmem_kib,
		 anon_kib = kib_of(p->rss_pages) - shared_kib, times = p->times ? p->times : 1;
	char text[4096];
	size_t len = 0;

#define ADD(...) len += (size_t)snprintf(text + len, sizeof(text) - len, __VA_ARGS__)
	ADD("1000-40001000 r--p 00000000 08:01 %" PRIu64 " /lib/a\nRss: %" PRIu64
	    " kB\nPss: %" PRIu64 " kB\nAnonymous: 0 kB\n",
	    p->file ? p->file : 1, file_kib, p->file_pss_kib);
	ADD("40001000-80001000 rw-p 00000000 00:00 0 [heap]\nRss: %" PRIu64 " kB\nPss: 0 kB\n"
	    "Anonymous: %" PRIu64 " kB\nLazyFree: %" PRIu64 " kB\n",
	    anon_kib, anon_kib, p->lazy_kib);
	for (uint64_t i = 0; i < times && p->shmem_kib; i++)
		ADD("80001000-c0001000 rw-s 00000000 00:05 %" PRIu64
		    " /dev/shm/block\nRss: %" PRIu64 " kB\nPss: 0 kB\nAnonymous: 0 kB\n",
		    p->block ? p->block : 2, p->shmem_kib / times);
	if (p->hugetlb_kib)
		ADD("c0001000-100001000 rw-s 00000000 00:06 3 /anon_hugepage (deleted)\nRss: 0 kB\n"
		    "Shared_Hugetlb: %" PRIu64 " kB\n",
		    p->hugetlb_kib);
#undef ADD
	fixture_write(f, path, text);
}

static void write_rollup(struct fixture *f, const struct fake_process *p, const char *path)
{
	char kinds[64] = "";

	if (p->has_kinds)
		snprintf(kinds, sizeof(kinds), "Pss_Anon: %8" PRIu64 " kB\n", p->anon_kib);
	fixture_printf(f, path,
	               "55d0-7ffe ---p 00000000 00:00 0 [rollup]\nRss: %8" PRIu64
	               " kB\nPss: %8" PRIu64 " kB\n%sPrivate_Clean: %8" PRIu64
	               " kB\nPrivate_Dirty: %8" PRIu64 " kB\nLazyFree: %8" PRIu64
	               " kB\nPrivate_Hugetlb: %8" PRIu64 " kB\nSwap: %8" PRIu64
	               " kB\nSwapPss: %8" PRIu64 " kB\n",
	               kib_of(p->rss_pages), p->pss_kib, kinds, p->private_kib / 2,
	               p->private_kib - p->private_kib / 2, p->lazy_kib, p->hugetlb_kib,
	               p->swap_kib, p->swap_pss_kib);
}

static const char *format_path(const struct fake_process *p, char *path, const char *file)
{
	snprintf(path, PATH_SPACE, "proc/%d/%s", p->pid, file);
	return path;
}

static const char *format_task_path(const struct fake_process *p, char *path, const char *file)
{
	snprintf(path, PATH_SPACE, "proc/%d/task/%d/%s", p->pid, p->pid, file);
	return path;
}

void fake_process_write(struct fixture *f, const struct fake_process *p)
{
	char path[PATH_SPACE];

	write_stat(f, p, format_path(p, path, "stat"));
	write_stat(f, p, format_task_path(p, path, "stat"));
	write_status(f, p, format_path(p, path, "status"));
	write_status(f, p, format_task_path(p, path, "status"));
	fixture_printf(f, format_path(p, path, "statm"),
	               "%" PRIu64 " %" PRIu64 " %" PRIu64 " 1 0 100 0\n",
	               p->size_pages ? p->size_pages : 1000, p->is_zombie ? 0 : p->rss_pages,
	               p->is_zombie ? 0 : p->shared_pages);
	write_rollup(f, p, format_path(p, path, "smaps_rollup"));
	write_smaps(f, p, format_path(p, path, "smaps"));
	if (p->exe)
		fixture_link(f, format_path(p, path, "exe"), p->exe);
	fixture_printf(f, format_path(p, path, "io"),
	               "rchar: 11\nwchar: 22\nsyscr: 1\nsyscw: 1\nread_bytes: %" PRIu64
	               "\nwrite_bytes: %" PRIu64 "\ncancelled_write_bytes: 0\n",
	               p->read_bytes, p->write_bytes);
	fixture_printf(f, format_task_path(p, path, "io"),
	               "rchar: 11\nwchar: 22\nsyscr: 1\nsyscw: 1\nread_bytes: %" PRIu64
	               "\nwrite_bytes: %" PRIu64 "\ncancelled_write_bytes: 0\n",
	               p->read_bytes, p->write_bytes);
	if (p->children)
		fixture_write(f, format_task_path(p, path, "children"), p->children);
}

void fake_process_remove(struct fixture *f, int pid)
{
	char path[PATH_SPACE];

	snprintf(path, sizeof(path), "proc/%d", pid);
	fixture_remove(f, path);
}
