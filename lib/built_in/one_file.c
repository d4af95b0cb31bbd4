/* SPDX-License-Identifier: MIT */
/* rtrack as one file: the program is its own helpers, and contains the BPF plug-in. The linker has
 * main() called from here (--wrap=main). */
#include "built_in/mains.h"
#include "os/built_in.h"

#ifdef RTI_HAS_BPF
#include "bpf/account/account.h"
#include "bpf/batch/batch.h"
#include "bpf/trace/trace.h"
#include "bpf/watch/watch.h"

extern const struct rti_account_ops rti_bpf_account;
extern const struct rti_batch_ops rti_bpf_batch;
extern const struct rti_trace_ops rti_bpf_trace;
extern const struct rti_watch_ops rti_bpf_watch;
#endif

static const struct rti_built_in_module modules[] = {
#ifdef RTI_HAS_BPF
	{ RTI_ACCOUNT_ENTRY, &rti_bpf_account },
	{ RTI_BATCH_ENTRY, &rti_bpf_batch },
	{ RTI_TRACE_ENTRY, &rti_bpf_trace },
	{ RTI_WATCH_ENTRY, &rti_bpf_watch },
#endif
	{ 0 },
};

const struct rti_built_in rti_built_in = { .is_helper = true, .modules = modules };

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

int __wrap_main(int argc, char **argv)
{
	int status;

	return rti_be_helper(argc, argv, &status) ? status : __real_main(argc, argv);
}
