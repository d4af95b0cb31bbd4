/* SPDX-License-Identifier: MIT */
/* What BPF programs have counted, in the outcome of a command. */
#include "command/bpf_outcome.h"

#include <string.h>
#include <sys/wait.h>

#include "command/cpu_bounds.h"
#include "os/cpu_time.h"
#include "util/arith.h"

static void set_mark(struct rt_outcome *out, uint64_t domain, bool is_valid)
{
	out->valid = is_valid ? out->valid | domain : out->valid & ~domain;
	out->partial = is_valid ? out->partial & ~domain : out->partial | domain;
}

static void set_processes(const struct rti_account_totals *totals, struct rt_outcome *out)
{
	out->processes = totals->processes;
	if (totals->running && !out->left_running)
		out->left_running = 1;
	set_mark(out, RT_HAS_PROCESSES, true);
	if (totals->rowless)
		return;
	set_mark(out, RT_HAS_PROCESSES_PEAK, true);
	out->processes_peak = totals->alive_peak;
}

void rti_bpf_outcome_set(const struct rt_command *c, struct rt_outcome *out)
{
	const struct rti_account_totals *totals = &c->account.totals;

	if (!c->account.programs)
		return;
	if (!rti_command_account_is_whole(&c->account)) {
		/* The other accounts are lower bounds, as without this one. */
		out->reasons |= RT_REASON_EVENTS_LOST;
		out->complete = 0;
		/* A process is counted at its fork, whether its threads are found later or not. */
		if (totals->processes && !totals->unmarked)
			set_processes(totals, out);
		if (out->valid & RT_HAS_CPU)
			set_mark(out, RT_HAS_CPU, false);
		return;
	}
	/* Every thread was counted, whatever the supervisor and the samples have seen. */
	set_processes(totals, out);
	out->reasons = totals->running ? RT_REASON_LEFT_RUNNING : 0;
	out->complete = out->reasons == 0;
	if ((out->valid | out->partial) & RT_HAS_CPU)
		set_mark(out, RT_HAS_CPU, out->complete);
	out->cpu_low_ns = out->cpu_user_ns + out->cpu_system_ns;
	out->cpu_high_ns = totals->running ? UINT64_MAX : out->cpu_low_ns;
	out->cpu_estimate_ns = out->cpu_low_ns;
}

static uint32_t text_flags(const struct rti_account_record *record, const struct rti_bpf_text *text)
{
	uint32_t flags = record->execs ? 0 : RT_PROCESS_NO_EXEC;

	if (text->is_cut || record->flags & RTI_ROW_LACKS_TEXT)
		flags |= RT_PROCESS_CUT;
	return flags;
}

static void add_row(struct rt_command *c, const struct rti_account_record *record)
{
	const struct rti_bpf_text text = rti_bpf_texts_find(&c->account.texts, record->text);
	bool has_ended = record->flags & RTI_ROW_ENDED;
	int status = (int)record->status;
	struct rt_command_process row = {
		.size = sizeof(row),
		.flags = RT_PROCESS_FINAL | RT_PROCESS_OWN_IO | text_flags(record, &text),
		.pid = record->pid,
		.ppid = record->ppid,
		.exit_code = has_ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		.signal = has_ended && WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		.valid = RT_HAS_CPU | (c->account.totals.has_io ? RT_HAS_IO : 0),
		.start_realtime_ns = record->start_ns, /* CLOCK_BOOTTIME, until it is converted */
		.end_realtime_ns = record->end_ns,
		.read_bytes = record->read_bytes,
		.write_bytes = record->write_bytes,
		.own_read_bytes = record->own_read_bytes,
		.own_write_bytes = record->own_write_bytes,
		.command_line_bytes = text.command.len,
		.cwd_bytes = text.cwd.len,
	};

	if (record->flags & RTI_ROW_LACKS_SUMS || !has_ended) {
		/* What its signal_struct had at its end is unknown. What it had before is a lower
		 * bound, and what its threads have used themselves is another one. */
		row.flags &= ~RT_PROCESS_FINAL;
		row.partial |= row.valid & RT_HAS_IO;
		row.valid &= ~RT_HAS_IO;
		row.read_bytes = rti_max(row.read_bytes, row.own_read_bytes);
		row.write_bytes = rti_max(row.write_bytes, row.own_write_bytes);
	}
	if (record->flags & RTI_ROW_LACKS_THREAD) { /* the totals alone have it */
		row.flags &= ~(RT_PROCESS_FINAL | RT_PROCESS_OWN_IO);
		row.valid &= ~RT_HAS_CPU;
		row.partial |= RT_HAS_CPU;
	}
	rti_split_cpu(record->cpu_ns, record->user_part_ns,
	              record->user_part_ns + record->system_part_ns, &row.cpu_user_ns,
	              &row.cpu_system_ns);
	if (record->peak_pages && has_ended && !(record->flags & RTI_ROW_LACKS_PEAK)) {
		row.valid |= RT_HAS_PEAK_RSS;
		row.peak_rss_bytes = record->peak_pages * c->tracker->platform.page_size;
	}
	memcpy(row.comm, record->comm, strnlen(record->comm, sizeof(record->comm)));
	rti_process_list_add_row(&c->process_list, &row, text.command.at, text.cwd.at);
}

/* The last sample has its figures. */
static void add_running(void *arg, const struct rti_account_record *record)
{
	struct rt_command *c = arg;
	const struct rti_bpf_text text = rti_bpf_texts_find(&c->account.texts, record->text);
	const struct rt_command_process row = {
		.size = sizeof(row),
		.flags = RT_PROCESS_RUNNING | text_flags(record, &text),
		.pid = record->pid,
		.ppid = record->ppid,
		.exit_code = -1,
		.start_realtime_ns = record->start_ns,
		.command_line_bytes = text.command.len,
		.cwd_bytes = text.cwd.len,
	};

	rti_process_list_add_row(&c->process_list, &row, text.command.at, text.cwd.at);
}

void rti_bpf_outcome_list(struct rt_command *c)
{
	struct rti_command_account *account = &c->account;
	const struct rti_account_totals *totals = &account->totals;
	const struct rti_account_taker taker = { .arg = c, .on_record = add_running };

	rti_command_account_take_all(account);
	for (size_t i = 0; i < account->count; i++)
		add_row(c, &account->records[i]);
	if (totals->running)
		rti_account_list_running(account->programs, &taker);
	rti_process_list_take_texts(&c->process_list, rti_bpf_texts_release(&account->texts));
	if (account->is_short)
		rti_process_list_mark_short(&c->process_list);
	if (!rti_account_has_each(totals) || totals->lost || totals->rowless || totals->unmarked)
		rti_process_list_mark_lossy(&c->process_list);
}
