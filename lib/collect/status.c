/* SPDX-License-Identifier: MIT */
/* Why figures are missing: the first obstacle of each domain in the last sample. */
#include "collect/status.h"

int rti_status_bit(uint64_t has)
{
	return has ? __builtin_ctzll(has) : 63;
}

void rti_status_note_at(struct rti_status *status, uint64_t has, int err, int32_t pid)
{
	for (uint64_t left = has & ~status->met; left; left &= left - 1) {
		int bit = rti_status_bit(left);

		status->of[bit].error = err;
		status->of[bit].pid = pid;
		status->of[bit].members = 0;
	}
	status->met |= has;
}

void rti_status_count(struct rti_status *status, uint64_t has)
{
	status->of[rti_status_bit(has)].members++;
}

int rti_status_get(const struct rti_status *status, uint64_t has)
{
	return status->met & has ? status->of[rti_status_bit(has)].error : 0;
}

void rti_status_add(struct rti_status *status, const struct rti_status *more)
{
	for (uint64_t left = more->met & ~status->met; left; left &= left - 1) {
		int bit = rti_status_bit(left);

		rti_status_note_at(status, UINT64_C(1) << bit, more->of[bit].error,
		                   more->of[bit].pid);
	}
}

void rti_status_explain(const struct rti_status *status, uint64_t has, struct rti_explanation *out)
{
	int bit = rti_status_bit(has);

	if (!(status->met & has))
		return;
	out->cause = RTI_CAUSE_READ;
	out->error = status->of[bit].error;
	out->pid = status->of[bit].pid;
	out->members = status->of[bit].members;
}
