/* SPDX-License-Identifier: MIT */
/* The whole machine: runs the collectors of its domains. */
#ifndef RTI_MACHINE_H
#define RTI_MACHINE_H

#include "collect/collector.h"
#include "collect/status.h"

struct rti_machine {
	void **states; /* by collector; NULL where one is not in use */
	int *obstacles; /* why not: 0 or -errno */
};

/* Open the collectors of what is wanted. 0 or -errno. */
int rti_machine_init(struct rti_machine *machine, const struct rti_context *ctx, uint64_t want);
void rti_machine_free(struct rti_machine *machine, const struct rti_context *ctx);

/* Fill the figures of a sample. */
void rti_machine_sample(struct rti_machine *machine, const struct rti_context *ctx, uint64_t want,
                        struct rti_status *status, struct rt_metrics *out);

/* Rows of the last sample of the domain that has one: NULL when there are none. */
const void *rti_machine_rows(const struct rti_machine *machine, uint64_t has, size_t *count);

/* All that system collectors provide. */
uint64_t rti_machine_domains(void);

#endif
