/* SPDX-License-Identifier: MIT */
/* Says in words why nothing can be traced by BPF. */
#include "trace/bpf_error.h"

#include <errno.h>

#include "bpf/refusal.h"
#include "util/sentence.h"

void rti_bpf_describe(const struct rti_trace_request *request, int err)
{
	struct rti_text text = rti_text(request->reason, request->reason_size);

	rti_bpf_refusal_add(&text, err, "5.17");
	if (err == -EPERM && !request->command && rti_bpf_lacks_capability())
		rti_say(&text, RTI_CAUSE_BPF_BUT_PTRACE, err, NULL);
}
