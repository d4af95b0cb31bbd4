/* SPDX-License-Identifier: MIT */
/* The same process read from its files and from rows of the batch reader: both give the same
 * figures. */
#include "one_member.h"

#include <inttypes.h>

#include "memory_files.h"

#define SAMPLES 3

static const struct one_member *shown;

static void fill_row(const struct rti_batch_request *request, struct rti_batch_row *row)
{
	one_member_row(shown, request, row);
}

/* What depends on the tracker, on how it reads, or on PSS, which no row has. */
static void clear_differences(struct rt_metrics *m)
{
	m->tracker_id = m->self_cpu_ns = 0;
	m->source = 0;
}

static uint64_t take_bits(uint64_t to, uint64_t from, uint64_t bits)
{
	return (to & ~bits) | (from & bits);
}

/* A row has the CPU time of what was reaped in nanoseconds, and stat has it in ticks: a lower
 * bound, if they may hide much of all. */
static void clear_ticks(struct rt_metrics *text, const struct rt_metrics *row)
{
	require(!(row->reasons & RT_REASON_CLOCK_TICKS));
	if (text->cpu_resolution_ns == row->cpu_resolution_ns)
		return;
	require(text->cpu_resolution_ns > row->cpu_resolution_ns);
	text->cpu_resolution_ns = row->cpu_resolution_ns;
	require(text->cpu_late_ns > row->cpu_late_ns);
	text->cpu_late_ns = row->cpu_late_ns;
	if (!(text->reasons & RT_REASON_CLOCK_TICKS))
		return;
	require(!(text->valid & RT_HAS_CPU) && text->partial & RT_HAS_CPU);
	text->reasons &= ~RT_REASON_CLOCK_TICKS;
	text->valid = take_bits(text->valid, row->valid, RT_HAS_CPU);
	text->partial = take_bits(text->partial, row->partial, RT_HAS_CPU);
}

static void clear_row_differences(struct rt_process *row)
{
	(void)row;
}

static uint64_t value_at(const void *at, const struct rt_field *field)
{
	uint64_t value = 0;

	memcpy(&value, (const char *)at + field->offset,
	       field->length < sizeof(value) ? field->length : sizeof(value));
	return value;
}

/* Says where two structs differ. */
static void require_same(const void *text, const void *row, uint32_t struct_id)
{
	struct rt_field field;
	bool is_same = true;

	for (uint32_t i = 0; i < rt_field_count(struct_id); i++) {
		require(rt_field_get(struct_id, i, &field, sizeof(field)) == 0);
		if (memcmp((const char *)text + field.offset, (const char *)row + field.offset,
		           field.length) == 0)
			continue;
		fprintf(stderr, "# %s: %" PRIx64 " by text, %" PRIx64 " by row\n", field.name,
		        value_at(text, &field), value_at(row, &field));
		is_same = false;
	}
	require(is_same);
}

static void compare(struct rt_tracker *by_text, struct rt_tracker *by_row)
{
	struct rt_metrics text, row;
	struct rt_process text_process, row_process;
	size_t text_count = 1, row_count = 1;

	one_member_sample(by_text, &text);
	one_member_sample(by_row, &row);
	row.monotonic_ns = text.monotonic_ns;
	row.boottime_ns = text.boottime_ns;
	row.realtime_ns = text.realtime_ns;
	require(text.source == RT_SOURCE_PROC && row.source == RT_SOURCE_BPF);
	clear_differences(&text);
	clear_differences(&row);
	clear_ticks(&text, &row);
	if (memcmp(&text, &row, sizeof(text)) != 0)
		require_same(&text, &row, RT_STRUCT_METRICS);
	require(rt_tracker_processes(by_text, &text_process, sizeof(text_process), &text_count) ==
	        0);
	require(rt_tracker_processes(by_row, &row_process, sizeof(row_process), &row_count) == 0);
	require(text_count == 1 && row_count == 1);
	clear_row_differences(&text_process);
	clear_row_differences(&row_process);
	require_same(&text_process, &row_process, RT_STRUCT_PROCESS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct one_member member;
	struct fuzz_input in = fuzz_input(data, len);
	struct rt_tracker *by_text, *by_row;

	memory_files_begin();
	one_member_fill_row = fill_row;
	shown = &member;
	one_member_take(&in, &member);
	one_member_set(&member);
	by_text = one_member_track(false);
	by_row = one_member_track(true);
	for (int i = 0; i < SAMPLES; i++) {
		compare(by_text, by_row);
		one_member_grow(&in, &member);
		one_member_set(&member);
	}
	rt_tracker_free(by_text);
	rt_tracker_free(by_row);
	require(memory_files_open() == 0);
	return 0;
}
