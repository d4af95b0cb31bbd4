/* SPDX-License-Identifier: MIT */
/* Memory that is shared with the supervisor, with anything in it: another process of the same user
 * can write there. The list of processes that is made of it is whole. */
#include "input.h"

#include <sys/mman.h>
#include <unistd.h>

#include "command/supervisor_client.h"

#define WHOLE_BYTES (RTI_TEXT_OFFSET + RTI_TEXT_BYTES_MAX)
#define FEW_RECORDS 24
#define FEW_TEXTS 256

static struct rti_shared_stats *shared;
static int memory = -1;

static struct rti_process_record *record_at(size_t i)
{
	return (struct rti_process_record *)((char *)shared + RTI_SHARED_STATS_BYTES) + i;
}

/* The whole of it, so that no read is past its end. */
static void make_memory(void)
{
	memory = memfd_create("stats", MFD_CLOEXEC);
	require(memory >= 0 && ftruncate(memory, (off_t)WHOLE_BYTES) == 0);
	shared = mmap(NULL, WHOLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	require(shared != MAP_FAILED);
}

static struct rti_record_text take_text(struct fuzz_input *in)
{
	struct rti_record_text text = { take_below(in, FEW_TEXTS), take_below(in, FEW_TEXTS) };

	if (take_u8(in) >= 192)
		text = (struct rti_record_text){ (uint32_t)take_u64(in), (uint32_t)take_u64(in) };
	return text;
}

static void fill_record(struct fuzz_input *in, struct rti_process_record *record)
{
	*record = (struct rti_process_record){
		.pid = take_u8(in) < 240 ? (int32_t)take_below(in, 8) : (int32_t)take_u64(in),
		.ppid = (int32_t)take_u64(in),
		.status = (uint32_t)take_u64(in),
		.flags = (uint32_t)take_below(in, 65536),
		.start_ns = take_u64(in),
		.end_ns = take_u64(in),
		.cpu_user_ns = take_u64(in),
		.cpu_system_ns = take_u64(in),
		.read_bytes = take_u64(in),
		.cpu_read_ns = take_u64(in),
		.peak_rss_bytes = take_u64(in),
		.command = take_text(in),
		.cwd = take_text(in),
	};
	take_bytes(in, record->comm, sizeof(record->comm));
}

static void check_row(const struct rti_process_list *list, size_t i)
{
	const struct rt_command_process *row = &list->rows[i].shown;

	require(!(row->valid & row->partial) && !(row->valid & row->estimated) &&
	        !(row->partial & row->estimated));
	require_string(row->comm, sizeof(row->comm));
	for (uint32_t text = RT_TEXT_COMMAND_LINE; text <= RT_TEXT_CWD; text++) {
		size_t len;
		const char *at = rti_process_list_text(list, i, text, &len);

		if (!at)
			continue;
		require(at >= list->texts && len <= shared->text_bytes);
		require((size_t)(at - list->texts) <= shared->text_bytes - len);
	}
}

static void check_list(struct fuzz_input *in, const struct rti_process_records *all)
{
	const struct rti_now now = { 2000000000, 3000000000, 4000000000 };
	struct rti_process_list list = { .tick_ns = 10000000 };
	struct rti_member_row member = { 0 };

	member.process.pid = (int32_t)take_below(in, 8);
	member.process.start_ticks = take_u64(in);
	member.known = take_u64(in);
	member.cpu_user_ns = take_u64(in);
	member.is_running = take_u8(in) % 2;
	rti_process_list_add_records(&list, all, &now);
	rti_process_list_add_member(&list, &member);
	rti_process_list_finish(&list, &now);
	rti_process_list_fit_cpu(&list, take_u64(in));
	require(list.count <= all->count + 1 && list.count > 0);
	for (size_t i = 0; i < list.count; i++)
		check_row(&list, i);
	rti_process_list_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = fuzz_input(data, len);
	struct rti_process_records all;
	struct rti_supervisor s = { .socket = -1 };
	size_t few;

	if (memory < 0)
		make_memory();
	s.memory = memory;
	s.shared = shared;
	few = take_below(&in, FEW_RECORDS);
	shared->records = few;
	shared->text_bytes = take_below(&in, FEW_TEXTS);
	shared->events = (uint32_t)take_u64(&in);
	if (take_u8(&in) >= 250) /* too many */
		shared->records = RTI_RECORDS_MAX + 1 + take_u64(&in) / 2;
	if (take_u8(&in) >= 250)
		shared->text_bytes = RTI_TEXT_BYTES_MAX + 1 + take_u64(&in) / 2;
	for (size_t i = 0; i < few; i++)
		fill_record(&in, record_at(i));
	rti_supervisor_map_records(&s, &all);
	require(all.count <= RTI_RECORDS_MAX && all.text_bytes <= RTI_TEXT_BYTES_MAX);
	require(all.count == 0 || all.count == few);
	check_list(&in, &all);
	rti_supervisor_unmap_records(&all);
	return 0;
}
