/* SPDX-License-Identifier: MIT */
/* The figures of the whole system: runs its collectors. */
#ifndef RTI_SYSTEM_H
#define RTI_SYSTEM_H

#include "collect/collector.h"
#include "collect/status.h"

/* Arrays with an entry for each of rti_sys_collectors. Invariant: open_errors[i] is 0 if states[i]
 * is not NULL. */
struct rti_system {
	void **states;            /* NULL if the collector is not in use */
	int *open_errors;         /* -errno if open() failed, or 0 */
	struct rti_status status; /* of the last sample; written by system.c only */
};

/* Open the collectors that provide what want asks for (RT_HAS_ bits). Returns 0 or -errno. On
 * failure nothing stays open. */
int rti_system_init(struct rti_system *system, const struct rti_context *ctx, uint64_t want);
void rti_system_free(struct rti_system *system, const struct rti_context *ctx);

/* Fill the figures of a sample. */
void rti_system_sample(struct rti_system *system, const struct rti_context *ctx, uint64_t want,
                       struct rt_metrics *out);

/* Say why a domain that is wanted is not complete in last, which is the last sample. */
void rti_system_explain(const struct rti_system *system, const struct rt_metrics *last,
                        uint64_t has, struct rti_explanation *out);

/* Returns the rows that the collector of these RT_HAS_ bits made in the last sample, or NULL if
 * there are none. They are owned by the system and last until the next sample. */
const void *rti_system_rows(const struct rti_system *system, uint64_t has, size_t *count);

/* Likewise its list of processes. Returns 0, or the -errno for which there is none. */
int rti_system_processes(const struct rti_system *system, uint64_t has, const void **rows,
                         size_t *count);

/* Returns all RT_HAS_ bits that system collectors provide. */
uint64_t rti_system_domains(void);

#endif
