/* SPDX-License-Identifier: MIT */
/* Says in words why a tracker could not be made. */
#include "api/opts_error.h"

#include <errno.h>
#include <stdbool.h>

#include "api/constants.h"
#include "api/kind.h"
#include "os/procfs_path.h"
#include "parse/parse.h"
#include "util/sentence.h"

#define BITS_MAX 512 /* bytes of the names of bits */

static const char *constructor_of(uint32_t kind)
{
	switch (kind) {
	case RT_KIND_PID:
		return "rt_pid_tracker_new()";
	case RT_KIND_CGROUP:
		return "rt_cgroup_tracker_new()";
	default:
		return "rt_system_tracker_new()";
	}
}

/* Returns another kind of tracker that takes some of these flags. */
static uint32_t other_kind_of(uint32_t kind, uint32_t flags)
{
	for (uint32_t other = RT_KIND_PID; other <= RT_KIND_CGROUP; other++)
		if (other != kind && rti_kind_flags(other) & flags)
			return other;
	return kind;
}

/* E.g.: "RT_HAS_RATE, bit 57". */
static void write_bits(struct rti_text text, uint32_t group, uint64_t bits)
{
	for (uint64_t left = bits; left; left &= left - 1) {
		uint64_t bit = left & -left;
		const char *name = rti_constant_name(group, bit);

		if (left != bits)
			rti_text_add(&text, ", ");
		rti_text_add(&text, name ? name : "bit ");
		if (!name)
			rti_text_add_number(&text, (uint64_t)__builtin_ctzll(bit));
	}
}

/* A flag that no tracker takes matters more than one that another kind takes. */
static void add_flags(struct rti_text *text, uint32_t flags, uint32_t kind)
{
	uint32_t other_kind = other_kind_of(kind, flags);
	uint32_t of_other = flags & rti_kind_flags(other_kind), unknown = flags & ~of_other;
	char names[BITS_MAX];

	write_bits(rti_text(names, sizeof(names)), RT_CONSTANTS_OPT, unknown ? unknown : of_other);
	rti_say(text, unknown ? RTI_CAUSE_TRACKER_FLAGS_UNKNOWN : RTI_CAUSE_TRACKER_FLAGS_OF_OTHER,
	        0, &(struct rti_values){ .name = names, .more = constructor_of(other_kind) });
}

void rti_opts_error_add(struct rti_text *text, const struct rt_opts *opts, uint32_t kind, int err)
{
	uint64_t unknown = opts->want & ~rti_known_domains();
	char names[BITS_MAX];
	struct rti_values values = { .name = names,
		                     .value = opts->size,
		                     .other = sizeof(struct rt_opts) };

	write_bits(rti_text(names, sizeof(names)), RT_CONSTANTS_HAS, unknown);
	if (err == -E2BIG)
		rti_say(text, RTI_CAUSE_TRACKER_TOO_LONG, 0, &values);
	else if (opts->flags & ~rti_kind_flags(kind))
		add_flags(text, opts->flags & ~rti_kind_flags(kind), kind);
	else if (opts->reserved || opts->reserved_2)
		rti_say(text, RTI_CAUSE_TRACKER_RESERVED, 0, &values);
	else if (unknown)
		rti_say(text, RTI_CAUSE_TRACKER_WANT, 0, &values);
	else
		rti_say(text, RTI_CAUSE_TRACKER_SIZE, 0, &values);
}

/* Returns the process that a thread belongs to, or 0 if there is no such thread. */
static int32_t find_leader(const struct rti_procfs *procfs, int32_t tid)
{
	struct rti_pid_status status = { 0 };
	struct rti_buf buf = { 0 };
	int err = rti_procfs_read(procfs, RTI_PROC, rti_pid_path(tid, "status").text,
	                          RTI_SINGLE_RECORD, &buf);

	if (err == 0)
		err = rti_parse_pid_status(buf.data, buf.len, &status);
	rti_buf_free(&buf);
	return err == 0 && status.has & RTI_STATUS_TGID && status.tgid != tid ? status.tgid : 0;
}

/* Returns false, having said why, if proc itself cannot be used. */
static bool open_proc(struct rti_procfs *procfs, struct rti_text *text, const struct rt_opts *opts,
                      const struct rti_procfs_ops *ops)
{
	int err = rti_procfs_open(procfs, opts->root, ops);

	if (err < 0)
		rti_say(text, opts->root ? RTI_CAUSE_PROC_OF_ROOT : RTI_CAUSE_PROC, err,
		        &(struct rti_values){ .error = rt_strerror(err), .name = opts->root });
	return err == 0;
}

/* Of a process that is missing or hidden, or of the system (pid 0). */
static void add_failure(struct rti_text *text, const struct rt_opts *opts, int32_t pid, int err,
                        const struct rti_procfs_ops *ops)
{
	struct rti_values values = { .error = rt_strerror(err), .name = opts->root, .pid = pid };
	enum rti_cause cause = pid ? RTI_CAUSE_PROCESS_FILES : RTI_CAUSE_SYSTEM_SOURCE;
	struct rti_procfs procfs;
	int32_t leader;

	if (!open_proc(&procfs, text, opts, ops))
		return;
	leader = pid && err == -ESRCH ? find_leader(&procfs, pid) : 0;
	rti_procfs_close(&procfs);
	if (leader) {
		cause = RTI_CAUSE_THREAD;
		values.value = (uint64_t)pid;
		values.pid = leader;
	} else if (pid && err == -ESRCH) {
		cause = opts->root ? RTI_CAUSE_NO_PROCESS_OF_ROOT : RTI_CAUSE_NO_PROCESS;
	} else if (pid && err == -EACCES) {
		cause = RTI_CAUSE_HIDDEN;
	}
	rti_say(text, cause, err, &values);
}

void rti_opts_error_describe(const struct rt_opts *opts, uint32_t kind, int32_t pid, int err,
                             const struct rti_procfs_ops *ops)
{
	const struct rti_values values = { .pid = pid };
	struct rti_text text;

	if (!opts->message || !opts->message_size)
		return;
	text = rti_text(opts->message, opts->message_size);
	if (rti_say(&text, RTI_CAUSE_TRACKER, err, &values))
		return;
	if (err == -EINVAL && kind == RT_KIND_PID && pid <= 0)
		rti_say(&text, RTI_CAUSE_TRACKER_PID, err, &values);
	else if (err == -EINVAL || err == -E2BIG)
		rti_opts_error_add(&text, opts, kind, err);
	else
		add_failure(&text, opts, pid, err, ops);
}

static bool are_options_wrong(const struct rt_opts *opts, int err)
{
	return err == -E2BIG || (err == -EINVAL &&
	                         (opts->flags & ~rti_kind_flags(RT_KIND_CGROUP) || opts->reserved ||
	                          opts->reserved_2 || opts->want & ~rti_known_domains()));
}

void rti_opts_error_describe_cgroup(const struct rt_opts *opts, const char *name, int err,
                                    const struct rti_procfs_ops *ops)
{
	const struct rti_values values = { .error = rt_strerror(err), .name = name };
	struct rti_procfs procfs;
	struct rti_text text;

	if (!opts->message || !opts->message_size)
		return;
	text = rti_text(opts->message, opts->message_size);
	if (!name)
		rti_say(&text, RTI_CAUSE_CGROUP_UNNAMED, err, &values);
	else if (rti_say(&text, RTI_CAUSE_TRACKER, err, &values))
		return;
	else if (are_options_wrong(opts, err))
		rti_opts_error_add(&text, opts, RT_KIND_CGROUP, err);
	else if (open_proc(&procfs, &text, opts, ops)) {
		rti_procfs_close(&procfs);
		rti_say(&text, RTI_CAUSE_CGROUP, err, &values);
	}
}
