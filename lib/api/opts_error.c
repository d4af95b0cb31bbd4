/* SPDX-License-Identifier: MIT */
/* Says in words why a tracker could not be made. */
#include "api/opts_error.h"

#include <errno.h>
#include <stdbool.h>

#include "api/constants.h"
#include "api/kind.h"
#include "os/procfs_path.h"
#include "parse/parse.h"

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
static void add_bits(struct rti_text *text, uint32_t group, uint64_t bits)
{
	for (uint64_t left = bits; left; left &= left - 1) {
		uint64_t bit = left & -left;
		const char *name = rti_constant_name(group, bit);

		if (left != bits)
			rti_text_add(text, ", ");
		if (name) {
			rti_text_add(text, name);
		} else {
			rti_text_add(text, "bit ");
			rti_text_add_number(text, (uint64_t)__builtin_ctzll(bit));
		}
	}
}

static void add_flags(struct rti_text *text, uint32_t flags, uint32_t kind)
{
	uint32_t other_kind = other_kind_of(kind, flags);
	uint32_t of_other = flags & rti_kind_flags(other_kind);
	uint32_t unknown = flags & ~rti_kind_flags(kind) & ~of_other;

	rti_text_add(text, "rt_opts.flags has ");
	add_bits(text, RT_CONSTANTS_OPT, unknown ? unknown : of_other);
	if (unknown) {
		rti_text_add(text,
		             ", which this library does not know: leave it out, or use a later"
		             " release.");
		return;
	}
	rti_text_add(text, ", which only ");
	rti_text_add(text, constructor_of(other_kind));
	rti_text_add(text, " takes.");
}

static void add_want(struct rti_text *text, uint64_t unknown)
{
	rti_text_add(text, "rt_opts.want has ");
	add_bits(text, RT_CONSTANTS_HAS, unknown);
	rti_text_add(text, ", which no tracker of this library measures: rt_domains() lists those"
	                   " that it measures.");
}

static void add_size(struct rti_text *text, uint32_t size)
{
	rti_text_add(text, "rt_opts has ");
	rti_text_add_number(text, size);
	rti_text_add(text, " bytes, of which this library knows ");
	rti_text_add_number(text, sizeof(struct rt_opts));
	rti_text_add(text,
	             ", and the rest is not 0: use the library of the later release that it was"
	             " compiled for.");
}

void rti_opts_error_add(struct rti_text *text, const struct rt_opts *opts, uint32_t kind, int err)
{
	uint64_t unknown = opts->want & ~rti_known_domains();

	if (err == -E2BIG)
		add_size(text, opts->size);
	else if (opts->flags & ~rti_kind_flags(kind))
		add_flags(text, opts->flags & ~rti_kind_flags(kind), kind);
	else if (opts->reserved || opts->reserved_2)
		rti_text_add(text,
		             "rt_opts.reserved is not 0: clear the struct before it is filled.");
	else if (unknown)
		add_want(text, unknown);
	else
		rti_text_add(text, "rt_opts.size is not sizeof(struct rt_opts).");
}

static void add_process(struct rti_text *text, int32_t pid)
{
	rti_text_add(text, "process ");
	rti_text_add_number(text, (uint64_t)pid);
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

static void add_root(struct rti_text *text, const struct rt_opts *opts)
{
	if (!opts->root)
		return;
	rti_text_add(text, " below ");
	rti_text_add(text, opts->root);
}

static void add_missing(struct rti_text *text, const struct rt_opts *opts,
                        const struct rti_procfs *procfs, int32_t pid)
{
	int32_t leader = find_leader(procfs, pid);

	if (leader) {
		rti_text_add_number(text, (uint64_t)pid);
		rti_text_add(text, " is the id of a thread of ");
		add_process(text, leader);
		rti_text_add(text, ": follow that process.");
		return;
	}
	rti_text_add(text, "There is no ");
	add_process(text, pid);
	add_root(text, opts);
	rti_text_add(text, opts->root ? "."
	                              : " in the pid namespace of the caller. It may have"
	                                " ended.");
}

static void add_hidden(struct rti_text *text, int32_t pid)
{
	rti_text_add(text, "/proc hides ");
	add_process(text, pid);
	rti_text_add(text, ", since it is mounted with hidepid. Mount it without hidepid, join the"
	                   " group of its option gid=, or use CAP_SYS_PTRACE.");
}

/* proc itself cannot be used. */
static void add_proc(struct rti_text *text, const struct rt_opts *opts, int err)
{
	if (err == -ENOENT && !opts->root) {
		rti_text_add(text, "No proc file system is mounted at /proc: mount one there.");
		return;
	}
	rti_text_add(text, opts->root ? "rt_opts.root must name a directory with proc in it: "
	                              : "/proc cannot be opened: ");
	rti_text_add(text, opts->root ? opts->root : "");
	rti_text_add(text, opts->root ? "/proc: " : "");
	rti_text_add(text, rt_strerror(err));
	rti_text_add(text, ".");
}

/* Returns NULL if there is more to say. */
static const char *plain_text(int err)
{
	switch (err) {
	case -EFAULT:
		return "The address for the tracker is NULL.";
	case -EXDEV:
		return "/proc belongs to another pid namespace, where the pid means another"
		       " process: mount a proc file system of the caller's pid namespace.";
	case -EMFILE:
		return "The limit of open descriptors is reached: close some, or raise"
		       " RLIMIT_NOFILE.";
	case -ENFILE:
		return "The system has too many open files: close some, or raise the sysctl"
		       " fs.file-max.";
	case -ENOMEM:
		return "Memory ran out.";
	default:
		return NULL;
	}
}

static bool is_about_options(int err)
{
	return err == -EINVAL || err == -E2BIG;
}

/* Of proc itself, of a process that is missing or hidden, or of the system (pid 0). */
static void add_failure(struct rti_text *text, const struct rt_opts *opts, int32_t pid, int err,
                        const struct rti_procfs_ops *ops)
{
	struct rti_procfs procfs;
	int opened = rti_procfs_open(&procfs, opts->root, ops);

	if (opened < 0) {
		add_proc(text, opts, opened);
	} else if (!pid) {
		rti_text_add(text, "A source of figures of the system cannot be opened: ");
		rti_text_add(text, rt_strerror(err));
		rti_text_add(text, ".");
	} else if (err == -ESRCH) {
		add_missing(text, opts, &procfs, pid);
	} else if (err == -EACCES) {
		add_hidden(text, pid);
	} else {
		rti_text_add(text, "The files of ");
		add_process(text, pid);
		rti_text_add(text, " cannot be read: ");
		rti_text_add(text, rt_strerror(err));
		rti_text_add(text, ".");
	}
	if (opened == 0)
		rti_procfs_close(&procfs);
}

void rti_opts_error_describe(const struct rt_opts *opts, uint32_t kind, int32_t pid, int err,
                             const struct rti_procfs_ops *ops)
{
	const char *plain = plain_text(err);
	struct rti_text text;

	if (!opts->message || !opts->message_size)
		return;
	text = rti_text(opts->message, opts->message_size);
	if (plain)
		rti_text_add(&text, plain);
	else if (err == -EINVAL && kind == RT_KIND_PID && pid <= 0)
		rti_text_add(&text, "A pid is a number above 0.");
	else if (is_about_options(err))
		rti_opts_error_add(&text, opts, kind, err);
	else
		add_failure(&text, opts, pid, err, ops);
}

/* What is wrong with the name of a cgroup, or where it is not. */
static void add_cgroup_failure(struct rti_text *text, const char *name, int err)
{
	switch (err) {
	case -EINVAL:
		rti_text_add(text,
		             "A cgroup is a path below the mounts (/system.slice/x.service), a"
		             " directory (/sys/fs/cgroup/...) or a line of"
		             " /proc/PID/cgroup, without \"..\".");
		return;
	case -ENOENT:
		rti_text_add(text, "There is no cgroup ");
		rti_text_add(text, name);
		rti_text_add(text, " in any hierarchy that is mounted.");
		return;
	case -EOPNOTSUPP:
		rti_text_add(text, "No cgroup file system is mounted: mount cgroup v2 at"
		                   " /sys/fs/cgroup.");
		return;
	case -EACCES:
	case -EPERM:
		rti_text_add(text, "The caller may not look into the cgroup ");
		rti_text_add(text, name);
		rti_text_add(text, ": run the caller as root.");
		return;
	default:
		rti_text_add(text, "The cgroup ");
		rti_text_add(text, name);
		rti_text_add(text, " cannot be read: ");
		rti_text_add(text, rt_strerror(err));
		rti_text_add(text, ".");
	}
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
	const char *plain = name ? plain_text(err) : "The name of the cgroup is NULL.";
	struct rti_procfs procfs;
	struct rti_text text;
	int opened;

	if (!opts->message || !opts->message_size)
		return;
	text = rti_text(opts->message, opts->message_size);
	opened = rti_procfs_open(&procfs, opts->root, ops);
	if (plain)
		rti_text_add(&text, plain);
	else if (are_options_wrong(opts, err))
		rti_opts_error_add(&text, opts, RT_KIND_CGROUP, err);
	else if (opened < 0)
		add_proc(&text, opts, opened);
	else
		add_cgroup_failure(&text, name, err);
	if (opened == 0)
		rti_procfs_close(&procfs);
}
