/* SPDX-License-Identifier: MIT */
/* Says in words why a tracker could not be made. */
#include "api/opts_error.h"

#include <errno.h>
#include <stdbool.h>

#include "api/constants.h"
#include "api/kind.h"
#include "os/procfs.h"
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
	else if (rti_flags_are_opposed(opts->flags))
		rti_say(text, RTI_CAUSE_TRACKER_FLAGS_OPPOSED, 0, &values);
	else if (opts->reserved || opts->reserved_2)
		rti_say(text, RTI_CAUSE_TRACKER_RESERVED, 0, &values);
	else if (unknown)
		rti_say(text, RTI_CAUSE_TRACKER_WANT, 0, &values);
	else if (opts->flags & RT_OPT_SESSION)
		rti_say(text, RTI_CAUSE_TRACKER_SESSION, 0, &values);
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

/* Of a process that is missing or hidden, of a cgroup, or of the system. */
static void add_failure(struct rti_text *text, const struct rt_opts *opts,
                        const struct rti_subject *subject, int err,
                        const struct rti_procfs_ops *ops)
{
	struct rti_values values = { .error = rt_strerror(err),
		                     .name = subject->name ? subject->name : opts->root,
		                     .pid = subject->pid };
	bool is_missing = subject->kind == RT_KIND_PID && err == -ESRCH;
	enum rti_cause cause = RTI_CAUSE_PROCESS_FILES;
	struct rti_procfs procfs;
	int32_t leader;

	if (!open_proc(&procfs, text, opts, ops))
		return;
	leader = is_missing ? find_leader(&procfs, subject->pid) : 0;
	rti_procfs_close(&procfs);
	if (subject->kind == RT_KIND_CGROUP) {
		cause = RTI_CAUSE_CGROUP;
	} else if (subject->kind == RT_KIND_SYSTEM) {
		cause = RTI_CAUSE_SYSTEM_SOURCE;
	} else if (leader) {
		cause = RTI_CAUSE_THREAD;
		values.value = (uint64_t)subject->pid;
		values.pid = leader;
	} else if (is_missing) {
		cause = opts->root ? RTI_CAUSE_NO_PROCESS_OF_ROOT : RTI_CAUSE_NO_PROCESS;
	} else if (err == -EACCES) {
		cause = RTI_CAUSE_HIDDEN;
	}
	rti_say(text, cause, err, &values);
}

/* The name of a cgroup may be wrong instead. */
static bool are_options_wrong(const struct rt_opts *opts, uint32_t kind, int err)
{
	return err == -E2BIG ||
	       (err == -EINVAL &&
	        (kind != RT_KIND_CGROUP || opts->flags & ~rti_kind_flags(kind) || opts->reserved ||
	         opts->reserved_2 || opts->want & ~rti_known_domains()));
}

bool rti_subject_has_bad_pid(const struct rti_subject *subject)
{
	for (size_t i = 0; i < subject->count; i++)
		if (subject->pids[i] <= 0)
			return true;
	return subject->kind == RT_KIND_PID && subject->count == 0;
}

void rti_opts_error_describe(const struct rt_opts *opts, const struct rti_subject *subject, int err,
                             const struct rti_procfs_ops *ops)
{
	struct rti_text text;

	if (!opts->message || !opts->message_size)
		return;
	text = rti_text(opts->message, opts->message_size);
	if (subject->kind == RT_KIND_CGROUP && !subject->name)
		rti_say(&text, RTI_CAUSE_CGROUP_UNNAMED, err, NULL);
	else if (rti_say(&text, RTI_CAUSE_TRACKER, err, NULL))
		return;
	else if (err == -EINVAL && rti_subject_has_bad_pid(subject))
		rti_say(&text, RTI_CAUSE_TRACKER_PID, err, NULL);
	else if (are_options_wrong(opts, subject->kind, err))
		rti_opts_error_add(&text, opts, subject->kind, err);
	else
		add_failure(&text, opts, subject, err, ops);
}
