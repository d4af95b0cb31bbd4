/* SPDX-License-Identifier: MIT */
/* What BPF programs put into their rings, with anything in it: traced calls, processes that have
 * ended, and totals. */
#include "input.h"

#include "command/bpf_account.h"
#include "command/bpf_outcome.h"
#include "os/process/program_file.h"
#include "trace/event.h"

#define RECORDS_MAX 24
#define TEXTS_MAX 16

static struct fuzz_input input, *const in = &input;
static unsigned records_left;

int __wrap_rti_program_file(int32_t pid, uint64_t *device, uint64_t *inode, char *path,
                            size_t size);
int __wrap_rti_account_take(struct rti_tree_account *account,
                            const struct rti_account_taker *taker);
int __wrap_rti_account_list_running(struct rti_tree_account *account,
                                    const struct rti_account_taker *taker);

/* --- What takes the place of the kernel. --- */

int __wrap_rti_program_file(int32_t pid, uint64_t *device, uint64_t *inode, char *path, size_t size)
{
	uint8_t how = take_u8(in);

	require(pid > 0);
	*device = take_u64(in);
	*inode = take_below(in, 8);
	memset(path, 'p', size);
	path[how % 2 ? size - 1 : 3] = '\0';
	return how < 192 ? 0 : -ENOENT;
}

/* The tree has checked none of them. */
static void take_totals(struct rti_account_totals *out)
{
	*out = (struct rti_account_totals){
		.use = { .cpu_ns = take_u64(in),
		         .user_part_ns = take_u64(in),
		         .system_part_ns = take_u64(in),
		         .read_bytes = take_u64(in) },
		.is_whole = has_ended(in) || take_u8(in) >= 192,
		.running = take_u8(in) % 2 ? take_u64(in) : 0,
		.begun = take_below(in, 4),
		.freed = take_below(in, 4),
		.found = take_below(in, 4),
		.missed = take_below(in, 4),
		.processes = take_u64(in),
		.alive_peak = take_u64(in),
		.peak_pages = take_u64(in),
		.unmarked = take_u8(in) % 2,
		.rowless = take_u8(in) % 2,
		.lost = take_u8(in) % 2,
	};
}

static void send_record(const struct rti_account_taker *taker)
{
	struct rti_account_record record = {
		.pid = (int32_t)take_u64(in),
		.status = (uint32_t)take_u64(in),
		.flags = take_u8(in),
		.start_ns = take_u64(in),
		.end_ns = take_u64(in),
		.cpu_ns = take_u64(in),
		.user_part_ns = take_u64(in),
		.system_part_ns = take_u64(in),
		.peak_pages = take_u64(in),
		.execs = take_u8(in),
		.text = take_below(in, TEXTS_MAX),
	};

	take_bytes(in, record.comm, sizeof(record.comm));
	taker->on_record(taker->arg, &record);
}

/* The lengths are those of the plug-in, which checks them. */
static void send_text(const struct rti_account_taker *taker)
{
	static struct rti_account_text text;

	text.number = 1 + take_below(in, TEXTS_MAX - 1);
	text.flags = take_u8(in);
	text.command_bytes = take_below(in, 64);
	text.cwd_bytes = take_below(in, 64);
	take_bytes(in, text.bytes, text.command_bytes + text.cwd_bytes);
	taker->on_text(taker->arg, &text);
}

int __wrap_rti_account_take(struct rti_tree_account *account, const struct rti_account_taker *taker)
{
	unsigned count = take_below(in, 8);

	(void)account;
	if (take_u8(in) >= 240)
		return -ESTALE;
	count = count < records_left ? count : records_left;
	records_left -= count;
	for (unsigned i = 0; i < count; i++) {
		if (take_u8(in) % 2)
			send_record(taker);
		else
			send_text(taker);
	}
	return 0;
}

int __wrap_rti_account_list_running(struct rti_tree_account *account,
                                    const struct rti_account_taker *taker)
{
	(void)account;
	for (unsigned count = take_below(in, 4); count > 0; count--)
		send_record(taker);
	return take_u8(in) < 240 ? 0 : -ESTALE;
}

/* --- What the library makes of it. --- */

static void check_outcome(struct rt_command *c)
{
	struct rt_outcome out = { .valid = RT_HAS_CPU, .cpu_user_ns = take_u64(in) / 4 };

	rti_bpf_outcome_set(c, &out);
	require(!(out.valid & out.partial));
	require(!out.complete || out.reasons == 0);
	require(out.cpu_low_ns <= out.cpu_estimate_ns && out.cpu_estimate_ns <= out.cpu_high_ns);
}

static void try_account(void)
{
	static struct rt_tracker tracker;
	static struct rt_command c;
	const struct rti_now now = { 2000000000, 3000000000, 4000000000 };

	tracker.platform.page_size = 4096;
	c = (struct rt_command){ .tracker = &tracker };
	c.account.programs = (void *)&c; /* anything but NULL */
	records_left = RECORDS_MAX;
	take_totals(&c.account.totals);
	check_outcome(&c);
	rti_bpf_outcome_list(&c);
	rti_process_list_finish(&c.process_list, &now);
	for (size_t i = 0; i < c.process_list.count; i++)
		require_string(c.process_list.rows[i].shown.comm,
		               sizeof(c.process_list.rows[i].shown.comm));
	rti_process_list_free(&c.process_list);
	rti_bpf_texts_free(&c.account.texts);
	free(c.account.records);
}

static void take_record(struct rti_trace_record *record)
{
	*record = (struct rti_trace_record){
		.call = (uint16_t)(take_u8(in) % 8 ? 1u << take_below(in, 3) : take_u64(in)),
		.flags = (uint32_t)take_u64(in),
		.lost = take_u64(in),
		.entry_ns = take_u64(in),
		.return_ns = take_u64(in),
		.result = (int64_t)take_u64(in),
		.who = (int32_t)take_u64(in),
		.pid = (int32_t)take_u64(in),
		.exe_device = take_u64(in),
		.exe_inode = take_below(in, 8),
	};
	record->usage_bytes = take_u8(in) % 2   ? RTI_TRACE_USAGE_BYTES
	                      : take_u8(in) % 2 ? RTI_TRACE_USAGE_BYTES_32
	                                        : (uint16_t)take_u64(in);
	take_bytes(in, record->comm, sizeof(record->comm));
	memcpy(record->host_name, record->comm, sizeof(record->comm));
	take_bytes(in, record->usage, sizeof(record->usage));
}

static void try_trace(void)
{
	struct rti_event_maker maker;
	struct rti_trace_record record;
	struct rt_trace_event event;

	require(rti_event_maker_init(&maker, false) == 0);
	maker.realtime_offset = (int64_t)take_u64(in);
	for (int i = 0; i < RECORDS_MAX && !has_ended(in); i++) {
		take_record(&record);
		rti_event_make(&maker, &record, &event);
		require_string(event.comm, sizeof(event.comm));
		require_string(event.host_name, sizeof(event.host_name));
		require_string(event.exe, sizeof(event.exe));
		require(event.duration_ns == 0 || record.return_ns > record.entry_ns);
		require(event.rusage_valid == 0 || record.usage_bytes == RTI_TRACE_USAGE_BYTES ||
		        record.usage_bytes == RTI_TRACE_USAGE_BYTES_32);
	}
	rti_event_maker_fini(&maker);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	input = fuzz_input(data, len);
	if (take_u8(in) % 2)
		try_account();
	else
		try_trace();
	return 0;
}
