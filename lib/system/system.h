/* SPDX-License-Identifier: MIT */
/* The whole machine: runs the collectors of its domains. */
#ifndef RTI_SYSTEM_H
#define RTI_SYSTEM_H

#include "collect/collector.h"
#include "collect/status.h"

struct rti_system {
	void **states;    /* by collector; NULL where one is not in use */
	int *open_errors; /* why not: 0 or -errno */
};

/* Open the collectors of what is wanted. 0 or -errno. */
int rti_system_init(struct rti_system *system, const struct rti_context *ctx, uint64_t want);
void rti_system_free(struct rti_system *system, const struct rti_context *ctx);

/* Fill the figures of a sample. */
void rti_system_sample(struct rti_system *system, const struct rti_context *ctx, uint64_t want,
                       struct rti_status *status, struct rt_metrics *out);

/* Rows of the last sample of the domain that has one: NULL when there are none. */
const void *rti_system_rows(const struct rti_system *system, uint64_t has, size_t *count);

/* All that system collectors provide. */
uint64_t rti_system_domains(void);

#endif
