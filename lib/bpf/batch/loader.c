/* SPDX-License-Identifier: MIT */
/* Many processes read in one call: opens the plug-in, and converts its rows to what the text files
 * have. */
#include "bpf/batch/loader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/module.h"

struct rti_batch {
	struct rti_module module;
	const struct rti_batch_ops *ops;
	void *state;
};

int rti_batch_open(struct rti_batch **out)
{
	const struct rti_module_version version = { RTI_BATCH_PLUGIN,
		                                    sizeof(struct rti_batch_row) };
	struct rti_batch *batch = calloc(1, sizeof(*batch));
	int err;

	*out = NULL;
	if (!batch)
		return -ENOMEM;
	err = rti_module_open(&batch->module, RTI_BATCH_ENTRY, version);
	if (err == 0) {
		batch->ops = batch->module.ops;
		err = batch->ops->open(&batch->state);
		if (err < 0)
			rti_module_close(&batch->module);
	}
	if (err < 0)
		free(batch);
	else
		*out = batch;
	return err;
}

int rti_batch_read(struct rti_batch *batch, const struct rti_batch_request *requests, size_t count,
                   struct rti_batch_row *rows)
{
	return batch->ops->read(batch->state, requests, count, rows);
}

void rti_batch_close(struct rti_batch *batch)
{
	if (!batch)
		return;
	batch->ops->close(batch->state);
	rti_module_close(&batch->module);
	free(batch);
}

void rti_batch_stat(const struct rti_batch_row *row, uint64_t tick_ns, struct rti_pid_stat *stat)
{
	stat->ppid = (int32_t)row->ppid;
	stat->state = (char)row->state;
	stat->minflt = row->minflt;
	stat->cminflt = row->cminflt;
	stat->majflt = row->majflt;
	stat->cmajflt = row->cmajflt;
	stat->cutime = row->reaped_user_ns / tick_ns;
	stat->cstime = row->reaped_system_ns / tick_ns;
	stat->num_threads = row->threads;
	stat->flags &= ~(uint64_t)RTI_PF_FORKNOEXEC;
	if (row->has & RTI_BATCH_FORKED)
		stat->flags |= RTI_PF_FORKNOEXEC;
	if (row->has & RTI_BATCH_RSS)
		stat->stack = row->stack;
	if (!(row->has & RTI_BATCH_STATUS))
		return;
	memcpy(stat->comm, row->comm, sizeof(row->comm));
	stat->pgrp = (int32_t)row->pgrp;
	stat->session = (int32_t)row->session;
}

void rti_batch_clock(const struct rti_batch_row *row, struct rti_cpu_clock *out)
{
	*out = (struct rti_cpu_clock){
		.total_ns = row->cpu_ns,
		.user_part_ns = row->user_part_ns,
		.both_parts_ns = row->user_part_ns + row->system_part_ns,
	};
}
