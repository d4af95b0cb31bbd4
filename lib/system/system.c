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

/* Returns true if an error of open() only disables the collector. */
static bool is_tolerated(int err)
{
	return err == -ENOENT || err == -EACCES || err == -EOPNOTSUPP;
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
		return is_tolerated(err) ? 0 : err;
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

void rti_system_sample(struct rti_system *system, const struct rti_context *ctx, uint64_t want,
                       struct rti_status *status, struct rt_metrics *out)
{
	for (size_t i = 0; i < rti_sys_collector_count; i++) {
		const struct rti_sys_collector *collector = rti_sys_collectors[i];
		int err = system->open_errors[i];

		if (!(collector->provides & want))
			continue;
		if (system->states[i])
			err = collector->collect(system->states[i], ctx, out);
		if (err < 0)
			rti_status_note(status, collector->provides & ~out->valid, err);
	}
	out->valid &= want;
	out->partial &= want & ~out->valid;
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
