/* SPDX-License-Identifier: MIT */
/* Many processes read in one call: finds the plug-in, and converts its rows to what the text
 * files have. */
#include "bpf/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "os/origin.h"

struct rti_batch {
	void *module, *state;
	const struct rti_batch_ops *ops;
	char path[RTI_ORIGIN_PATH_MAX]; /* too large for the stack of a small thread */
};

/* Where the plug-in may lie, relative to the library: beside it in a build tree, or in an
 * installation. */
static const char *const beside_library[] = { RTI_BATCH_FILE, "librtrack/" RTI_BATCH_FILE };
static const char installed[] = RTI_PLUGINS "/" RTI_BATCH_FILE;

/* A reference to dlopen() would make the linker warn of every program that is linked with -static,
 * although such a program does not come here. So look it up by name. */
static void *open_module(const char *path)
{
	void *found = dlsym(RTLD_DEFAULT, "dlopen");
	void *(*open)(const char *path, int flags);

	memcpy(&open, &found, sizeof(open));
	return found && *path ? open(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* Returns 0, or -ENOENT if there is none, or one of another release. */
static int open_plugin(struct rti_batch *batch, const char *path)
{
	batch->module = open_module(path);
	if (!batch->module)
		return -ENOENT;
	batch->ops = dlsym(batch->module, RTI_BATCH_ENTRY);
	if (batch->ops && batch->ops->version == RTI_BATCH_PLUGIN &&
	    batch->ops->row_size == sizeof(struct rti_batch_row))
		return 0;
	dlclose(batch->module);
	return -ENOENT;
}

static int find_plugin(struct rti_batch *batch)
{
	int err = -ENOENT;

	/* A statically linked program would get a second C library. */
	if (!getauxval(AT_BASE))
		return -ENOENT;
	for (size_t i = 0; err < 0 && i < sizeof(beside_library) / sizeof(beside_library[0]); i++) {
		rti_origin_path(beside_library[i], batch->path);
		err = open_plugin(batch, batch->path);
	}
	return err < 0 ? open_plugin(batch, installed) : 0;
}

int rti_batch_open(struct rti_batch **out)
{
	struct rti_batch *batch = calloc(1, sizeof(*batch));
	int err;

	*out = NULL;
	if (!batch)
		return -ENOMEM;
	err = find_plugin(batch);
	if (err == 0) {
		err = batch->ops->open(&batch->state);
		if (err < 0)
			dlclose(batch->module);
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
	dlclose(batch->module);
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
	if (row->has & RTI_BATCH_STATUS)
		memcpy(stat->comm, row->comm, sizeof(row->comm));
}

void rti_batch_clock(const struct rti_batch_row *row, struct rti_cpu_clock *out)
{
	*out = (struct rti_cpu_clock){
		.total_ns = row->cpu_ns,
		.user_part_ns = row->user_part_ns,
		.both_parts_ns = row->user_part_ns + row->system_part_ns,
	};
}
