/* SPDX-License-Identifier: MIT */
/* Why figures are missing: the first obstacle of each domain in the last sample. */
#ifndef RTI_STATUS_H
#define RTI_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "util/sentence.h"

/* Invariant: an entry means something only if the bit of its domain is set in met. */
struct rti_status {
	uint64_t met; /* RT_HAS_ bits of the domains with an obstacle in this sample */
	struct {
		int error;        /* -errno of the first one */
		int32_t pid;      /* process that it was met at; 0: no single one */
		uint64_t members; /* that it was met at in this sample */
	} of[64];                 /* by bit number of RT_HAS_ */
};

/* All that is known of why one domain of the last sample is not complete. */
struct rti_explanation {
	enum rti_cause cause;
	int error;        /* -errno; 0: the domain is complete */
	int32_t pid;      /* process that it was met at; 0: no single one */
	const char *file; /* below /proc, or below /proc/PID if pid is set; "": none */
	uint64_t members, members_ever;
	uint32_t pss_share, pss_hold_us; /* of the options, with their defaults filled in */
	bool has_account;                /* BPF programs account for the tree */
	/* Why they do not: -errno, or 0 if that was not asked for. */
	int account_error;
	const char *controller; /* that has file, which is then one of a cgroup; or NULL */
};

/* Note an obstacle for every domain in has that has none yet. */
void rti_status_note_at(struct rti_status *status, uint64_t has, int err, int32_t pid);

/* The same, for an obstacle that no single process is behind. */
static inline void rti_status_note(struct rti_status *status, uint64_t has, int err)
{
	rti_status_note_at(status, has, err, 0);
}

/* Count a member that the obstacle of a domain, which must be noted, was met at. */
void rti_status_count(struct rti_status *status, uint64_t has);

/* Returns the error of one domain: 0 or -errno. */
int rti_status_get(const struct rti_status *status, uint64_t has);

/* Note the obstacles of another status, without its counts. */
void rti_status_add(struct rti_status *status, const struct rti_status *more);

/* Returns the bit number of a domain. */
int rti_status_bit(uint64_t has);

/* Fill in the error and where it was met. */
void rti_status_explain(const struct rti_status *status, uint64_t has, struct rti_explanation *out);

#endif
