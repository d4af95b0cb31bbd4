/* SPDX-License-Identifier: MIT */
/* A tracker of one process, of which the kernel says what the input says: in files, or in the rows
 * of a batch reader. The program has to be linked with -Wl,--wrap=rti_batch_read and
 * -Wl,--wrap=rti_batch_close. */
#ifndef FUZZ_ONE_MEMBER_H
#define FUZZ_ONE_MEMBER_H

#include "input.h"

#include "api/tracker.h"
#include "bpf/batch/batch.h"

#define MEMBER_PID 100
#define MEMBER_USER 1000
#define MEMBER_GROUP 99
#define MEMBER_SESSION 98

/* A process of one thread, as the kernel has it. */
struct one_member {
	uint64_t cpu_ns, user_part_ns, system_part_ns; /* the parts are those of cpu_ns */
	uint64_t children_user_ticks, children_system_ticks;
	uint64_t minflt, majflt, cminflt, cmajflt;
	uint64_t voluntary, involuntary;
	uint64_t rss_pages, shared_pages, shmem_pages, size_pages, peak_pages;
	uint64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_bytes;
	uint64_t start_ticks, stack;
	uint32_t threads;
	bool ignores_sigchld, is_forked;
	char state;
	char comm[16];
};

/* Called for each request of a batch read. */
extern void (*one_member_fill_row)(const struct rti_batch_request *request,
                                   struct rti_batch_row *row);

void one_member_take(struct fuzz_input *in, struct one_member *out);

/* The same process, later: its counters have grown. */
void one_member_grow(struct fuzz_input *in, struct one_member *member);

/* What the kernel says of it from now on. It is not copied. */
void one_member_set(const struct one_member *member);

/* What a row says of it. */
void one_member_row(const struct one_member *member, const struct rti_batch_request *request,
                    struct rti_batch_row *row);

/* A tracker of it. by_row: it is read by rows. */
struct rt_tracker *one_member_track(bool by_row);

/* Let a second pass, and sample. */
void one_member_sample(struct rt_tracker *tracker, struct rt_metrics *out);

#endif
