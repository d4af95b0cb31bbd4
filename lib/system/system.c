/* SPDX-License-Identifier: MIT */
/* The whole machine: runs the collectors of its domains. */
#include "system/system.h"

#include <errno.h>
#include <stdlib.h>

uint64_t rti_machine_domains(void)
{
	uint64_t has = 0;

	for (size_t i = 0; i < rti_sys_collector_count; i++)
		has |= rti_sys_collectors[i]->provides;
	return has;
}

static int is_obstacle(int err)
{
	return err == -ENOENT || err == -EACCES || err == -EOPNOTSUPP;
}

static int open_collector(struct rti_machine *machine, const struct rti_context *ctx, size_t i)
{
	const struct rti_sys_collector *collector = rti_sys_collectors[i];
	void *state = calloc(1, collector->state_size ? collector->state_size : 1);
	int err;

	if (!state)
		return -ENOMEM;
	err = collector->open ? collector->open(state, ctx) : 0;
	if (err < 0) {
		free(state);
		machine->obstacles[i] = err;
		return is_obstacle(err) ? 0 : err;
	}
	machine->states[i] = state;
	return 0;
}

int rti_machine_init(struct rti_machine *machine, const struct rti_context *ctx, uint64_t want)
{
	int err = 0;

	machine->states = calloc(rti_sys_collector_count, sizeof(*machine->states));
	machine->obstacles = calloc(rti_sys_collector_count, sizeof(*machine->obstacles));
	if (!machine->states || !machine->obstacles)
		err = -ENOMEM;
	for (size_t i = 0; i < rti_sys_collector_count && err == 0; i++) {
		if (rti_sys_collectors[i]->provides & want)
			err = open_collector(machine, ctx, i);
	}
	if (err < 0)
		rti_machine_free(machine, ctx);
	return err;
}

void rti_machine_free(struct rti_machine *machine, const struct rti_context *ctx)
{
	for (size_t i = rti_sys_collector_count; machine->states && i-- > 0;) {
		if (machine->states[i] && rti_sys_collectors[i]->close)
			rti_sys_collectors[i]->close(machine->states[i], ctx);
		free(machine->states[i]);
	}
	free(machine->states);
	free(machine->obstacles);
	*machine = (struct rti_machine){ 0 };
}

void rti_machine_sample(struct rti_machine *machine, const struct rti_context *ctx, uint64_t want,
                        struct rti_status *status, struct rt_metrics *out)
{
	for (size_t i = 0; i < rti_sys_collector_count; i++) {
		const struct rti_sys_collector *collector = rti_sys_collectors[i];
		int err = machine->obstacles[i];

		if (!(collector->provides & want))
			continue;
		if (machine->states[i])
			err = collector->collect(machine->states[i], ctx, out);
		if (err < 0)
			rti_status_note(status, collector->provides & ~out->valid, err);
	}
	out->valid &= want;
	out->partial &= want & ~out->valid;
}

const void *rti_machine_rows(const struct rti_machine *machine, uint64_t has, size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < rti_sys_collector_count; i++) {
		const struct rti_sys_collector *collector = rti_sys_collectors[i];

		if (collector->provides & has && collector->rows && machine->states[i])
			return collector->rows(machine->states[i], count);
	}
	return NULL;
}
