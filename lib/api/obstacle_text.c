/* SPDX-License-Identifier: MIT */
/* Says in words why a domain of a sample is not complete. */
#include "api/obstacle_text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "bpf/refusal.h"
#include "os/capability.h"
#include "os/kernel_abi.h"

#define FILE_MAX 256

/* What a kernel needs so that it has a file. Of cgroup v1, swap space is in a file that has other
 * figures, too. */
static const char *need_of(const char *file, uint64_t has)
{
	static const struct {
		const char *file, *needs;
	} needs[] = {
#define FILE_NEEDS(file, text) { file, text },
#include "util/sentences.def"
	};

	if (has == RT_HAS_CGROUP_SWAP)
		return rti_sentence(RTI_CAUSE_NEED_SWAP, 0);
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (strcmp(file, needs[i].file) == 0)
			return needs[i].needs;
	return rti_sentence(RTI_CAUSE_NEED_KERNEL, 0);
}

/* The files that only a tracer may read, as ptrace(2) has it. */
static bool is_traced_file(const char *file)
{
	return strcmp(file, "io") == 0 || strcmp(file, "smaps_rollup") == 0 ||
	       strcmp(file, "fd") == 0;
}

static enum rti_cause cause_of_refusal(const char *file)
{
	if (!is_traced_file(file))
		return RTI_CAUSE_REFUSED;
	return rti_has_capability(RTI_CAP_SYS_PTRACE) ? RTI_CAUSE_REFUSED_PRIVILEGED
	                                              : RTI_CAUSE_REFUSED_TRACER;
}

/* Returns a cause that says more, if there is one. */
static enum rti_cause narrow(const struct rti_explanation *why, uint64_t has)
{
	if (why->cause == RTI_CAUSE_READ && (why->error == -EACCES || why->error == -EPERM))
		return cause_of_refusal(why->file);
	if (why->cause == RTI_CAUSE_HIDDEN && !why->pid)
		return RTI_CAUSE_HIDDEN_OTHERS;
	if (why->cause == RTI_CAUSE_STALLED && has == RT_HAS_ZFS)
		return RTI_CAUSE_STALLED_ZPOOL;
	return why->cause;
}

/* E.g.: "memory.peak of the cgroup", "/proc/7/stat", "/proc" for the directory itself. */
static void write_file(struct rti_text text, const struct rti_explanation *why)
{
	if (!why->controller)
		rti_text_add(&text, "/proc");
	if (!why->controller && why->pid) {
		rti_text_add(&text, "/");
		rti_text_add_number(&text, (uint64_t)why->pid);
	}
	if (!why->controller && *why->file)
		rti_text_add(&text, "/");
	rti_text_add(&text, why->file);
	if (why->controller)
		rti_text_add(&text, " of the cgroup");
}

/* What BPF programs would have of it, and why they do not account for the tree. They are tried if
 * events were asked for. */
static const char *offer_of_bpf(const struct rti_explanation *why)
{
	bool has_asked =
	    why->cause == RTI_CAUSE_EVENTS_UNHEARD || why->cause == RTI_CAUSE_EVENTS_LOST;

	if (why->has_account || (!why->account_error && has_asked))
		return "";
	if (!why->account_error)
		return rti_sentence(RTI_CAUSE_BPF_UNASKED, 0);
	if (why->account_error == -EPERM && rti_bpf_lacks_capability())
		return rti_sentence(RTI_CAUSE_BPF_INCAPABLE, 0);
	return rti_sentence(RTI_CAUSE_BPF_ABSENT, why->account_error);
}

void rti_obstacle_describe(const struct rti_explanation *why, uint64_t has, char *out, size_t size)
{
	struct rti_text text = rti_text(out, size);
	char file[FILE_MAX];

	if (!why->error)
		return;
	write_file(rti_text(file, sizeof(file)), why);
	rti_say(&text, narrow(why, has), why->error,
	        &(struct rti_values){
		    .error = rt_strerror(why->error),
		    .file = file,
		    .name = why->controller,
		    .more = why->cause == RTI_CAUSE_NO_FIGURE ? need_of(why->file, has)
	                                                      : offer_of_bpf(why),
		    .pid = why->pid,
		    .value = why->pss_share,
		    .other = why->pss_hold_us,
		});
}
