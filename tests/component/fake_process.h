/* SPDX-License-Identifier: MIT */
/* Processes below a fixture root. */
#ifndef FAKE_PROCESS_H
#define FAKE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "fixture.h"

struct fake_process {
	int pid, ppid;
	unsigned uid;
	int pgrp, session;
	const char *comm;
	char state;
	uint64_t utime, stime, cutime, cstime; /* ticks */
	uint64_t minflt, cminflt, majflt, cmajflt;
	uint64_t starttime, rss_pages, pss_kib, hwm_kib;
	uint64_t shared_pages; /* of rss_pages: of files and shared memory */
	uint64_t size_pages;   /* 0: 1000 */
	uint64_t shmem_kib;    /* of shared_pages: no file */
	uint64_t file, block;  /* inodes: of its one file, and of its shared memory; 0: 1 and 2 */
	uint64_t file_pss_kib; /* in smaps: its part of its file; smaps_rollup has pss_kib */
	uint64_t times;        /* as often the block is mapped in full; 0: once */
	uint64_t lazy_kib;     /* of its anonymous pages: freed lazily */
	uint64_t swap_kib, hugetlb_kib;
	uint64_t swap_pss_kib; /* its part of what it shares in swap */
	uint64_t stack;        /* address */
	uint64_t anon_kib;     /* of pss_kib; with has_kinds */
	uint64_t private_kib;  /* of rss_pages: that no other process maps */
	bool has_kinds;        /* smaps_rollup has the kinds that PSS consists of: Linux 5.4 */
	bool is_forked;        /* it has not executed a program */
	const char *exe;       /* target of the link; NULL: there is none */
	uint64_t read_bytes, write_bytes;
	uint64_t voluntary, involuntary;
	bool is_zombie, ignores_sigchld;
	const char *children; /* of the leader thread; NULL: the kernel has no children files */
};

/* Write or rewrite all the files of a process of one thread. */
void fake_process_write(struct fixture *f, const struct fake_process *p);

/* Remove all files of a process, as when it is reaped. */
void fake_process_remove(struct fixture *f, int pid);

#endif
