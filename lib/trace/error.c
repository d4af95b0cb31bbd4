/* SPDX-License-Identifier: MIT */
/* Says in words why a trace could not begin. */
#include "trace/error.h"

#include "util/sentence.h"

void rti_trace_error_describe(const struct rt_trace_opts *opts, int err)
{
	struct rti_text text;

	if (!opts->message || !opts->message_size)
		return;
	text = rti_text(opts->message, opts->message_size);
	rti_say(&text, RTI_CAUSE_TRACE, err, &(struct rti_values){ .error = rt_strerror(err) });
}
