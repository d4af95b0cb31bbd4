/* SPDX-License-Identifier: MIT */
#include "one_member.h"

#include <errno.h>
#include <inttypes.h>

#include "memory_files.h"
#include "tree/state/state.h"

#define TICK_NS 10000000
#define PAGE_KIB 4
#define TEXT_BYTES 1024

enum file { STAT, STATM, STATUS, IO, ROLLUP, FILES };

void (*one_member_fill_row)(const struct rti_batch_request *request, struct rti_batch_row *row);

static const struct one_member *current;
static uint64_t now_ns;

/* --- The batch reader. --- */

int __wrap_rti_batch_read(struct rti_batch *batch, const struct rti_batch_request *requests,
                          size_t count, struct rti_batch_row *rows);
void __wrap_rti_batch_close(struct rti_batch *batch);

int __wrap_rti_batch_read(struct rti_batch *batch, const struct rti_batch_request *requests,
                          size_t count, struct rti_batch_row *rows)
{
	(void)batch;
	for (size_t i = 0; i < count; i++)
		one_member_fill_row(&requests[i], &rows[i]);
	return 0;
}

void __wrap_rti_batch_close(struct rti_batch *batch)
{
	(void)batch;
}

void one_member_row(const struct one_member *m, const struct rti_batch_request *request,
                    struct rti_batch_row *row)
{
	*row = (struct rti_batch_row){ .start_ns = m->start_ticks * TICK_NS, .cpu_ns = m->cpu_ns };
	if (request->pid != MEMBER_PID) {
		row->error = -ESRCH;
		return;
	}
	if (request->idle_ns == m->cpu_ns && request->idle_ns &&
	    (request->idle_rss_pages == RTI_BATCH_ANY_RSS ||
	     request->idle_rss_pages == m->rss_pages)) {
		row->has = RTI_BATCH_IDLE;
		return;
	}
	row->has = request->want & RTI_BATCH_ALL;
	row->user_part_ns = m->user_part_ns;
	row->system_part_ns = m->system_part_ns;
	row->reaped_user_ns = m->children_user_ticks * TICK_NS;
	row->reaped_system_ns = m->children_system_ticks * TICK_NS;
	row->ppid = 1;
	row->threads = m->threads;
	row->minflt = m->minflt;
	row->majflt = m->majflt;
	row->cminflt = m->cminflt;
	row->cmajflt = m->cmajflt;
	row->voluntary_switches = m->voluntary;
	row->involuntary_switches = m->involuntary;
	row->state = (unsigned char)m->state;
	row->has |= m->is_forked ? RTI_BATCH_FORKED : 0;
	if (row->has & RTI_BATCH_RSS) {
		row->rss_pages = m->rss_pages;
		row->shared_pages = m->shared_pages;
		row->size_pages = m->size_pages;
		row->stack = m->stack;
	}
	if (row->has & RTI_BATCH_PEAK) {
		row->peak_rss_pages = m->peak_pages;
		row->shmem_pages = m->shmem_pages;
	}
	if (row->has & RTI_BATCH_IO) {
		row->rchar = m->rchar;
		row->wchar = m->wchar;
		row->syscr = m->syscr;
		row->syscw = m->syscw;
		row->read_bytes = m->read_bytes;
		row->write_bytes = m->write_bytes;
		row->cancelled_write_bytes = m->cancelled_bytes;
	}
	if (row->has & RTI_BATCH_STATUS) {
		memcpy(row->comm, m->comm, sizeof(row->comm));
		row->uid = MEMBER_USER;
		row->pgrp = MEMBER_GROUP;
		row->session = MEMBER_SESSION;
		row->has |= m->ignores_sigchld ? RTI_BATCH_IGNORES_SIGCHLD : 0;
	}
}

/* --- The files. --- */

static int print_stat(const struct one_member *m, char *out)
{
	return snprintf(out, TEXT_BYTES,
	                "%d (%s) %c 1 %d %d 0 -1 %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	                " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " 20 0 %" PRIu32
	                " 0 %" PRIu64 " 1000000 %" PRIu64 " 18446744073709551615 1 1 %" PRIu64
	                " 0 0 0 0 %u 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
	                MEMBER_PID, m->comm, m->state, MEMBER_GROUP, MEMBER_SESSION,
	                m->is_forked ? 0x400040u : 0x400000u, m->minflt, m->cminflt, m->majflt,
	                m->cmajflt, m->user_part_ns / TICK_NS, m->system_part_ns / TICK_NS,
	                m->children_user_ticks, m->children_system_ticks, m->threads,
	                m->start_ticks, m->rss_pages, m->stack, m->ignores_sigchld ? 0x10000u : 0u);
}

static int print_status(const struct one_member *m, char *out)
{
	return snprintf(out, TEXT_BYTES,
	                "Name:\t%s\nState:\t%c\nTgid:\t%d\nPid:\t%d\nNSpid:\t%d\nUid:\t%"
	                "d\t0\t0\t0\nVmHWM:\t%8" PRIu64 " kB\nRssShmem:\t%8" PRIu64
	                " kB\nSigIgn:\t%016x\nvoluntary_ctxt_switches:\t%" PRIu64
	                "\nnonvoluntary_ctxt_switches:\t%" PRIu64 "\n",
	                m->comm, m->state, MEMBER_PID, MEMBER_PID, MEMBER_PID, MEMBER_USER,
	                m->peak_pages * PAGE_KIB, m->shmem_pages * PAGE_KIB,
	                m->ignores_sigchld ? 0x10000u : 0u, m->voluntary, m->involuntary);
}

static int print_io(const struct one_member *m, char *out)
{
	return snprintf(out, TEXT_BYTES,
	                "rchar: %" PRIu64 "\nwchar: %" PRIu64 "\nsyscr: %" PRIu64
	                "\nsyscw: %" PRIu64 "\nread_bytes: %" PRIu64 "\nwrite_bytes: %" PRIu64
	                "\ncancelled_write_bytes: %" PRIu64 "\n",
	                m->rchar, m->wchar, m->syscr, m->syscw, m->read_bytes, m->write_bytes,
	                m->cancelled_bytes);
}

static int print_rollup(const struct one_member *m, char *out)
{
	return snprintf(out, TEXT_BYTES,
	                "55d0-7ffe ---p 00000000 00:00 0 [rollup]\nRss: %8" PRIu64
	                " kB\nPss: %8" PRIu64 " kB\nPss_Anon: %8d kB\n",
	                m->rss_pages * PAGE_KIB, m->rss_pages * PAGE_KIB / 2, 0);
}

void one_member_set(const struct one_member *m)
{
	static const char *const names[FILES][2] = {
		[STAT] = { "/proc/100/stat", "/proc/100/task/100/stat" },
		[STATM] = { "/proc/100/statm", "/proc/100/task/100/statm" },
		[STATUS] = { "/proc/100/status", "/proc/100/task/100/status" },
		[IO] = { "/proc/100/io", "/proc/100/task/100/io" },
		[ROLLUP] = { "/proc/100/smaps_rollup", "/proc/100/task/100/smaps_rollup" },
	};
	static char texts[FILES][TEXT_BYTES];
	const int lens[FILES] = {
		[STAT] = print_stat(m, texts[STAT]),
		[STATM] = snprintf(texts[STATM], TEXT_BYTES,
		                   "%" PRIu64 " %" PRIu64 " %" PRIu64 " 1 0 100 0\n", m->size_pages,
		                   m->rss_pages, m->shared_pages),
		[STATUS] = print_status(m, texts[STATUS]),
		[IO] = print_io(m, texts[IO]),
		[ROLLUP] = print_rollup(m, texts[ROLLUP]),
	};

	current = m;
	for (int i = 0; i < FILES; i++) {
		memory_files_set(names[i][0], texts[i], (size_t)lens[i]);
		memory_files_set(names[i][1], texts[i], (size_t)lens[i]);
	}
	memory_files_set("/proc/100/task/100/children", "", 0);
}

/* --- The clocks. --- */

static int read_cpu_clock(int32_t pid, struct rti_cpu_clock *out)
{
	if (pid != MEMBER_PID)
		return -ESRCH;
	*out = (struct rti_cpu_clock){ .total_ns = current->cpu_ns,
		                       .user_part_ns = current->user_part_ns,
		                       .both_parts_ns =
		                           current->user_part_ns + current->system_part_ns };
	return 0;
}

static bool is_process(int32_t pid)
{
	return pid == MEMBER_PID;
}

static void read_clocks(struct rti_now *out)
{
	*out = (struct rti_now){ now_ns, now_ns, now_ns };
}

static uint64_t read_monotonic_ns(void)
{
	return now_ns;
}

static uint64_t read_thread_cpu_ns(void)
{
	return 0;
}

struct rt_tracker *one_member_track(bool by_row)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .flags = RT_OPT_NO_PROCESS_EVENTS,
		                      .max_fds = 32,
		                      .pss_share = 1000 };
	struct rt_tracker *tracker;

	now_ns = UINT64_C(1000000000000);
	require(rti_tracker_new(&tracker, MEMBER_PID, &opts, &memory_files) == 0);
	tracker->platform.cpu_clock = read_cpu_clock;
	tracker->platform.is_process = is_process;
	tracker->platform.now = read_clocks;
	tracker->platform.monotonic_ns = read_monotonic_ns;
	tracker->platform.thread_cpu_ns = read_thread_cpu_ns;
	tracker->platform.tick_ns = TICK_NS;
	tracker->platform.page_size = PAGE_KIB * 1024;
	tracker->tree->is_of_command = true; /* it has no past to be read at another time */
	tracker->tree->batch_reader.is_unavailable = !by_row;
	if (by_row)
		tracker->tree->batch_reader.batch = (void *)&now_ns; /* anything but NULL */
	return tracker;
}

void one_member_sample(struct rt_tracker *tracker, struct rt_metrics *out)
{
	int err;

	now_ns += 1000000000;
	err = rt_sample(tracker, out, sizeof(*out));
	require(err == 0 || err == -ESRCH); /* a zombie has ended */
}

/* --- What the input says. --- */

static uint64_t take_count(struct fuzz_input *in)
{
	return take_u64(in) % (UINT64_C(1) << 50);
}

/* Such a number of pages that a process can have. */
static uint64_t take_pages(struct fuzz_input *in)
{
	return take_u64(in) % (UINT64_C(1) << 36);
}

void one_member_take(struct fuzz_input *in, struct one_member *out)
{
	*out = (struct one_member){ .start_ticks = 5, .stack = take_u64(in) };
	one_member_grow(in, out);
	out->threads = 1;
	out->ignores_sigchld = take_u8(in) >= 192;
	out->is_forked = take_u8(in) >= 192;
	memcpy(out->comm, "a) R b", 7);
}

void one_member_grow(struct fuzz_input *in, struct one_member *m)
{
	uint64_t *const counters[] = {
		&m->minflt,
		&m->majflt,
		&m->cminflt,
		&m->cmajflt,
		&m->voluntary,
		&m->involuntary,
		&m->rchar,
		&m->wchar,
		&m->syscr,
		&m->syscw,
		&m->read_bytes,
		&m->write_bytes,
		&m->cancelled_bytes,
		&m->children_user_ticks,
		&m->children_system_ticks,
	};

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		*counters[i] += take_u8(in) % 2 ? take_count(in) : 0;
	/* It has run, or nothing would be read. Whole ticks, as the files have them. */
	m->user_part_ns += (take_u64(in) % 1000000 + 1) * TICK_NS;
	m->system_part_ns += take_u64(in) % 1000000 * TICK_NS;
	m->cpu_ns = m->user_part_ns + m->system_part_ns + 1;
	m->rss_pages = take_pages(in);
	m->shared_pages = take_pages(in) % (m->rss_pages + 1);
	m->shmem_pages = take_pages(in) % (m->shared_pages + 1);
	m->size_pages = m->rss_pages + take_pages(in);
	if (m->peak_pages < m->rss_pages)
		m->peak_pages = m->rss_pages;
	m->peak_pages += take_pages(in);
	m->state = "SRDTZ"[take_below(in, 4)];
}
