/* SPDX-License-Identifier: MIT */
/* Says in words why no BPF program can be loaded. */
#include "bpf/refusal.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "os/capability.h"
#include "os/kernel_abi.h"
#include "os/origin_refusal.h"
#include "os/word_file.h"
#include "util/sentence.h"

static bool has_either(unsigned capability)
{
	return rti_has_capability(capability) || rti_has_capability(RTI_CAP_SYS_ADMIN);
}

bool rti_bpf_lacks_capability(void)
{
	return !has_either(RTI_CAP_BPF) || !has_either(RTI_CAP_PERFMON);
}

static bool is_locked_down(void)
{
	char lockdown[64];

	rti_read_word(RTI_SYS, "kernel/security/lockdown", lockdown, sizeof(lockdown));
	return strstr(lockdown, "[confidentiality]") != NULL;
}

static bool has_btf(void)
{
	struct rti_procfs procfs;

	rti_procfs_use_names(&procfs, &rti_procfs_linux);
	return rti_procfs_access(&procfs, RTI_SYS, "kernel/btf/vmlinux") == 0;
}

void rti_bpf_refusal_add(struct rti_text *text, int err, const char *release)
{
	struct rti_values values = { .name = release };
	enum rti_cause cause = RTI_CAUSE_BPF;

	if (err == -ENOPKG && rti_origin_say_refused(text, RTI_BATCH_FILE))
		return;
	if (err == -EPERM && rti_bpf_lacks_capability()) {
		cause = RTI_CAUSE_BPF_CAPABILITY;
		values.name = has_either(RTI_CAP_BPF)       ? "CAP_PERFMON"
		              : has_either(RTI_CAP_PERFMON) ? "CAP_BPF"
		                                            : "CAP_BPF and CAP_PERFMON";
	} else if (err == -EPERM && is_locked_down()) {
		cause = RTI_CAUSE_BPF_LOCKDOWN;
	} else if (err == -EOPNOTSUPP && !has_btf()) {
		cause = RTI_CAUSE_BPF_BTF;
	}
	rti_say(text, cause, err, &values);
}
