/* SPDX-License-Identifier: MIT */
/* /proc/PID/status of a process, which several collectors share. */
#include "collect/pid_status.h"

#include "collect/pid_mm.h"

int rti_pid_status_read(const struct rti_context *ctx, const struct rti_target *target,
                        struct rti_pid_status *out)
{
	struct rti_kept_status *kept = target->kept;
	int err;

	if (kept && kept->is_read) {
		*out = kept->status;
		return 0;
	}
	err = rti_pid_mm_read(ctx, target, "status", target->status);
	if (err == 0)
		err = rti_parse_pid_status(ctx->buf->data, ctx->buf->len, out);
	if (err == 0 && kept)
		*kept = (struct rti_kept_status){ true, *out };
	return err;
}
