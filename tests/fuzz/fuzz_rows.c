/* SPDX-License-Identifier: MIT */
/* Rows of the batch reader with anything in them. Totals never fall, and no figure is in two
 * masks. */
#include "one_member.h"

#include "memory_files.h"

#define SAMPLES 4

static struct fuzz_input input, *const in = &input;
static const struct one_member *shown;

static void fill_any(struct rti_batch_row *row)
{
	uint64_t *const values[] = {
		&row->start_ns,
		&row->cpu_ns,
		&row->user_part_ns,
		&row->system_part_ns,
		&row->reaped_user_ns,
		&row->reaped_system_ns,
		&row->minflt,
		&row->majflt,
		&row->cminflt,
		&row->cmajflt,
		&row->rss_pages,
		&row->peak_rss_pages,
		&row->shared_pages,
		&row->size_pages,
		&row->shmem_pages,
		&row->read_bytes,
		&row->write_bytes,
		&row->cancelled_write_bytes,
		&row->voluntary_switches,
		&row->state,
	};

	for (uint8_t changes = take_u8(in) % 8; changes > 0; changes--)
		*values[take_below(in, sizeof(values) / sizeof(values[0]))] = take_u64(in);
	if (take_u8(in) >= 192)
		row->has = take_u8(in);
	if (take_u8(in) >= 224)
		row->threads = (uint32_t)take_u64(in);
	if (take_u8(in) >= 224)
		row->ppid = (uint32_t)take_u64(in);
	if (take_u8(in) >= 224)
		take_bytes(in, row->comm, sizeof(row->comm));
}

static void fill_row(const struct rti_batch_request *request, struct rti_batch_row *row)
{
	static const int errors[] = { -ESRCH, -EAGAIN, -E2BIG, -EOPNOTSUPP, 5 };
	uint8_t how = take_u8(in);

	one_member_row(shown, request, row);
	if (how >= 240)
		row->error = errors[how % 5];
	else if (how >= 128)
		fill_any(row);
}

static void check(const struct rt_metrics *before, const struct rt_metrics *now)
{
	require(!(now->valid & now->partial) && !(now->valid & now->estimated) &&
	        !(now->partial & now->estimated));
	require(now->cpu_user_ns >= before->cpu_user_ns);
	require(now->cpu_system_ns >= before->cpu_system_ns);
	require(now->minor_faults >= before->minor_faults);
	require(now->read_bytes >= before->read_bytes);
	require(now->voluntary_switches >= before->voluntary_switches);
	require(now->peak_rss_bytes >= before->peak_rss_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct one_member member;
	struct rt_metrics before = { 0 }, now;
	struct rt_process rows[4];
	struct rt_tracker *tracker;

	input = fuzz_input(data, len);
	memory_files_begin();
	one_member_fill_row = fill_row;
	shown = &member;
	one_member_take(in, &member);
	one_member_set(&member);
	tracker = one_member_track(true);
	for (int i = 0; i < SAMPLES; i++) {
		size_t count = 4;

		one_member_sample(tracker, &now);
		check(&before, &now);
		rt_tracker_processes(tracker, rows, sizeof(rows[0]), &count);
		require(count <= 4);
		before = now;
		one_member_grow(in, &member);
		one_member_set(&member);
	}
	rt_tracker_free(tracker);
	require(memory_files_open() == 0);
	return 0;
}
