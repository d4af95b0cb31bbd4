/* SPDX-License-Identifier: MIT */
/* The figures of the whole system: runs its collectors. */
#include "system/system.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

uint64_t rti_system_domains(void)
{
	uint64_t has = 0;

	for (size_t i = 0; i < rti_sys_collector_count; i++)
		has |= rti_sys_collectors[i]->provides;
	return has;
}

static int open_collector(struct rti_system *system, const struct rti_context *ctx, size_t i)
{
	const struct rti_sys_collector *collector = rti_sys_collectors[i];
	void *state = calloc(1, collector->state_size ? collector->state_size : 1);
	int err;

	if (!state)
		return -ENOMEM;
	err = collector->open ? collector->open(state, ctx) : 0;
	if (err < 0) {
		free(state);
		system->open_errors[i] = err;
		/* Such an error only disables the collector. */
		return err == -ENOENT || err == -EACCES || err == -EOPNOTSUPP ? 0 : err;
	}
	system->states[i] = state;
	return 0;
}

int rti_system_init(struct rti_system *system, const struct rti_context *ctx, uint64_t want)
{
	int err = 0;

	system->states = calloc(rti_sys_collector_count, sizeof(*system->states));
	system->open_errors = calloc(rti_sys_collector_count, sizeof(*system->open_errors));
	if (!system->states || !system->open_errors)
		err = -ENOMEM;
	for (size_t i = 0; i < rti_sys_collector_count && err == 0; i++) {
		if (rti_sys_collectors[i]->provides & want)
			err = open_collector(system, ctx, i);
	}
	if (err < 0)
		rti_system_free(system, ctx);
	return err;
}

void rti_system_free(struct rti_system *system, const struct rti_context *ctx)
{
	for (size_t i = rti_sys_collector_count; system->states && i-- > 0;) {
		if (system->states[i] && rti_sys_collectors[i]->close)
			rti_sys_collectors[i]->close(system->states[i], ctx);
		free(system->states[i]);
	}
	free(system->states);
	free(system->open_errors);
	*system = (struct rti_system){ 0 };
}

static void note_error(struct rti_system *system, size_t i, uint64_t missing, int err)
{
	const struct rti_sys_collector *collector = rti_sys_collectors[i];

	if (!collector->error_of || !system->states[i]) {
		rti_status_note(&system->status, missing, err);
		return;
	}
	for (uint64_t left = missing; left; left &= left - 1) {
		uint64_t has = left & -left;
		int why = collector->error_of(system->states[i], has);

		if (why < 0)
			rti_status_note(&system->status, has, why);
	}
}

void rti_system_sample(struct rti_system *system, const struct rti_context *ctx, uint64_t want,
                       struct rt_metrics *out)
{
	system->status.met = 0;
	for (size_t i = 0; i < rti_sys_collector_count; i++) {
		const struct rti_sys_collector *collector = rti_sys_collectors[i];
		int err = system->open_errors[i];

		if (!(collector->provides & want))
			continue;
		if (system->states[i])
			err = collector->collect(system->states[i], ctx, out);
		if (err < 0)
			note_error(system, i, collector->provides & ~out->valid, err);
	}
	out->valid &= want;
	out->partial &= want & ~out->valid;
	out->estimated &= want & ~out->valid & ~out->partial;
}

static const char *file_of(uint64_t has)
{
	for (size_t i = 0; i < rti_sys_collector_count * RTI_SYS_FILES_MAX; i++) {
		const struct rti_sys_collector *collector =
		    rti_sys_collectors[i / RTI_SYS_FILES_MAX];
		const char *file = collector->files[i % RTI_SYS_FILES_MAX];
		uint64_t read_for = collector->read_for[i % RTI_SYS_FILES_MAX];

		if (file && (read_for ? read_for : collector->provides) & has)
			return file;
	}
	return "";
}

/* A list of file systems that could be read is there in part if one of them could not be asked. */
static enum rti_cause cause_of_read(uint64_t has, const struct rt_metrics *last)
{
	return has == RT_HAS_FILESYSTEM && last->partial & has ? RTI_CAUSE_NO_FILE_SYSTEM
	                                                       : RTI_CAUSE_READ;
}

/* A collector that cannot be used with another root refuses to open. A file may refuse to be read.
 * E.g.: on older kernels the files of /proc/pressure exist even if PSI is off. */
static enum rti_cause cause_of_unsupported(const struct rti_system *system, uint64_t has)
{
	for (size_t i = 0; i < rti_sys_collector_count; i++) {
		if (rti_sys_collectors[i]->provides & has && system->open_errors[i] == -EOPNOTSUPP)
			return RTI_CAUSE_OTHER_ROOT;
	}
	return RTI_CAUSE_NO_FIGURE;
}

#define GPU_DOMAINS (RT_HAS_GPU | RT_HAS_GPU_MEMORY | RT_HAS_GPU_ENERGY)

static enum rti_cause cause_of(const struct rti_system *system, uint64_t has,
                               const struct rt_metrics *last, int err)
{
	if (has & GPU_DOMAINS)
		return RTI_CAUSE_GPU;
	if (has == RT_HAS_NETWORK && last->estimated & has)
		return RTI_CAUSE_LINKS;
	switch (err) {
	case -ENOENT:
		return RTI_CAUSE_NO_FIGURE;
	case -EOPNOTSUPP:
		return cause_of_unsupported(system, has);
	case -ETIMEDOUT:
		return RTI_CAUSE_STALLED;
	case -ENODEV:
		return RTI_CAUSE_DEVICES;
	case -EACCES:
	case -EPERM:
		return has == RT_HAS_PROCESSES ? RTI_CAUSE_HIDDEN : cause_of_read(has, last);
	default:
		return cause_of_read(has, last);
	}
}

void rti_system_explain(const struct rti_system *system, const struct rt_metrics *last,
                        uint64_t has, struct rti_explanation *out)
{
	*out = (struct rti_explanation){ .file = "" };
	if (last->valid & has)
		return;
	out->error = -ENODATA;
	rti_status_explain(&system->status, has, out);
	if (out->cause == RTI_CAUSE_NONE && !(has & GPU_DOMAINS))
		return;
	out->cause = cause_of(system, has, last, out->error);
	out->file = file_of(has);
}

const void *rti_system_rows(const struct rti_system *system, uint64_t has, size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < rti_sys_collector_count; i++) {
		const struct rti_sys_collector *collector = rti_sys_collectors[i];

		if (collector->provides & has && collector->rows && system->states[i])
			return collector->rows(system->states[i], count);
	}
	return NULL;
}

int rti_system_processes(const struct rti_system *system, uint64_t has, const void **rows,
                         size_t *count)
{
	for (size_t i = 0; i < rti_sys_collector_count; i++) {
		const struct rti_sys_collector *collector = rti_sys_collectors[i];

		if (collector->provides & has && collector->processes && system->states[i])
			return collector->processes(system->states[i], rows, count);
	}
	return -ENODATA;
}
