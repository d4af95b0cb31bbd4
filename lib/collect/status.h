/* SPDX-License-Identifier: MIT */
/* Why figures are missing: the first error of each domain in the last sample. */
#ifndef RTI_STATUS_H
#define RTI_STATUS_H

#include <stdint.h>

struct rti_status {
	int err[64]; /* by bit number of RT_HAS_; 0 or -errno */
};

/* Note an error for every domain in has that has none yet. */
static inline void rti_status_note(struct rti_status *status, uint64_t has, int err)
{
	for (int bit = 0; bit < 64; bit++) {
		if (has >> bit & 1 && status->err[bit] == 0)
			status->err[bit] = err;
	}
}

/* Returns the error of one domain: 0 or -errno. */
static inline int rti_status_get(const struct rti_status *status, uint64_t has)
{
	int bit = 0;

	while (bit < 63 && !(has >> bit & 1))
		bit++;
	return status->err[bit];
}

/* Note the errors of another status. */
static inline void rti_status_add(struct rti_status *status, const struct rti_status *more)
{
	for (int bit = 0; bit < 64; bit++) {
		if (status->err[bit] == 0)
			status->err[bit] = more->err[bit];
	}
}

#endif
