/* SPDX-License-Identifier: MIT */
/* Says in words why nothing can be traced by BPF. */
#include "trace/bpf_error.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "os/capability.h"
#include "os/kernel_abi.h"
#include "os/word_file.h"
#include "util/text.h"

static bool has_either(unsigned capability)
{
	return rti_has_capability(capability) || rti_has_capability(RTI_CAP_SYS_ADMIN);
}

static void describe_refusal(struct rti_text *text, bool has_command)
{
	bool has_bpf = has_either(RTI_CAP_BPF), has_perfmon = has_either(RTI_CAP_PERFMON);
	char lockdown[64];

	if (!has_bpf || !has_perfmon) {
		rti_text_add(text, "BPF programs need ");
		rti_text_add(text, has_bpf       ? "CAP_PERFMON"
		                   : has_perfmon ? "CAP_BPF"
		                                 : "CAP_BPF and CAP_PERFMON");
		rti_text_add(text, ", which root has and the caller lacks.");
		if (!has_command)
			rti_text_add(text, " A command that is started can be traced by ptrace"
			                   " without them.");
		return;
	}
	rti_read_word(RTI_SYS, "kernel/security/lockdown", lockdown, sizeof(lockdown));
	if (strstr(lockdown, "[confidentiality]"))
		rti_text_add(text, "The kernel is locked down (lockdown=confidentiality), so no BPF"
		                   " program may read its memory.");
	else
		rti_text_add(text, "The caller has the capabilities that BPF needs, but may not use"
		                   " them here: in a user namespace, or because of the seccomp"
		                   " filter of a container.");
}

static void describe_kernel(struct rti_text *text)
{
	struct rti_procfs procfs;
	bool has_btf;

	rti_procfs_use_names(&procfs, &rti_procfs_linux);
	has_btf = rti_procfs_access(&procfs, RTI_SYS, "kernel/btf/vmlinux") == 0;
	rti_text_add(text, has_btf ? "The kernel refuses the BPF programs: they need Linux 5.17 or"
	                             " later."
	                           : "The kernel has no BTF, which BPF programs need:"
	                             " CONFIG_DEBUG_INFO_BTF.");
}

void rti_bpf_describe(const struct rti_trace_request *request, int err)
{
	struct rti_text text = rti_text(request->reason, request->reason_size);

	if (err == -ENOPKG)
		rti_text_add(&text, "The BPF plug-in is not installed (lib/librtrack), or the"
		                    " program is linked statically and cannot load it.");
	else if (err == -EPERM)
		describe_refusal(&text, request->command != NULL);
	else if (err == -EOPNOTSUPP)
		describe_kernel(&text);
}
