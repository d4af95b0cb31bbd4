/* SPDX-License-Identifier: MIT */
/* Says in words why no BPF program can be loaded. */
#include "bpf/refusal.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "os/capability.h"
#include "os/kernel_abi.h"
#include "os/word_file.h"

static bool has_either(unsigned capability)
{
	return rti_has_capability(capability) || rti_has_capability(RTI_CAP_SYS_ADMIN);
}

bool rti_bpf_lacks_capability(void)
{
	return !has_either(RTI_CAP_BPF) || !has_either(RTI_CAP_PERFMON);
}

static void add_refusal(struct rti_text *text)
{
	bool has_bpf = has_either(RTI_CAP_BPF), has_perfmon = has_either(RTI_CAP_PERFMON);
	char lockdown[64];

	if (!has_bpf || !has_perfmon) {
		rti_text_add(text, "BPF programs need ");
		rti_text_add(text, has_bpf       ? "CAP_PERFMON"
		                   : has_perfmon ? "CAP_BPF"
		                                 : "CAP_BPF and CAP_PERFMON");
		rti_text_add(text, ", which root has and the caller lacks.");
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

static void add_kernel(struct rti_text *text, const char *release)
{
	struct rti_procfs procfs;
	bool has_btf;

	rti_procfs_use_names(&procfs, &rti_procfs_linux);
	has_btf = rti_procfs_access(&procfs, RTI_SYS, "kernel/btf/vmlinux") == 0;
	if (!has_btf) {
		rti_text_add(text, "The kernel has no BTF, which BPF programs need:"
		                   " CONFIG_DEBUG_INFO_BTF.");
		return;
	}
	rti_text_add(text, "The kernel refuses the BPF programs: they need Linux ");
	rti_text_add(text, release);
	rti_text_add(text, " or later.");
}

void rti_bpf_refusal_add(struct rti_text *text, int err, const char *release)
{
	if (err == -ENOPKG)
		rti_text_add(text, "The BPF plug-in is not installed (lib/librtrack), or the"
		                   " program is linked statically and cannot load it.");
	else if (err == -EPERM)
		add_refusal(text);
	else if (err == -EOPNOTSUPP)
		add_kernel(text, release);
}
