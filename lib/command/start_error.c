/* SPDX-License-Identifier: MIT */
/* Says in words why a program could not be started. */
#include "command/start_error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "api/opts_error.h"
#include "api/tracker.h"
#include "bpf/refusal.h"
#include "command/bpf_account.h"
#include "command/handle.h"
#include "os/fd_map.h"
#include "util/text.h"

#define NAME_SHOWN 80 /* bytes of the name of a program */

static bool is_about_a_path(int err)
{
	return err == -ENOENT || err == -EACCES || err == -ENOTDIR || err == -ELOOP ||
	       err == -ENAMETOOLONG;
}

static bool is_unusable_directory(const char *path)
{
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ||
	       faccessat(AT_FDCWD, path, F_OK, 0) < 0;
}

/* The working directory is entered first. Returns false if it is not to blame. */
static bool describe_directory(struct rti_text *text, const struct rt_command_opts *opts, int err)
{
	if (!opts->cwd || !is_about_a_path(err) ||
	    (err != -ENOTDIR && !is_unusable_directory(opts->cwd)))
		return false;
	if (!*opts->cwd) {
		rti_text_add(text, "The working directory is empty: NULL means that of the"
		                   " caller.");
		return true;
	}
	rti_text_add(text, "The working directory ");
	rti_text_add(text, opts->cwd);
	rti_text_add(text, " cannot be entered: ");
	rti_text_add(text, rt_strerror(err));
	rti_text_add(text, ".");
	return true;
}

static const char *program_hint(const char *program, int err)
{
	bool has_slash = strchr(program, '/') != NULL;

	switch (err) {
	case -ENOENT:
		if (!has_slash)
			return " It is in none of the directories of PATH.";
		return faccessat(AT_FDCWD, program, F_OK, 0) == 0
		           ? " The file exists, but the interpreter that it names does not."
		           : " Check the path.";
	case -EACCES:
		return " The caller needs permission to execute it, and to search each directory on"
		       " the way to it.";
	case -ENOEXEC:
		return " A script needs a first line such as #!/bin/sh.";
	case -E2BIG:
		return " Pass fewer arguments or a smaller environment; one argument may have at "
		       "most"
		       " 128 KiB.";
	case -EAGAIN:
		return " A limit of processes is reached: RLIMIT_NPROC, or pids.max of a cgroup.";
	case -EMFILE:
	case -ENFILE:
		return " Close some, or raise RLIMIT_NOFILE or fs.file-max.";
	default:
		return "";
	}
}

/* A name is cut, so that the reason after it fits into the message. */
static void add_quoted(struct rti_text *text, const char *name)
{
	size_t len = strnlen(name, NAME_SHOWN);
	char shown[NAME_SHOWN + 1];

	memcpy(shown, name, len);
	shown[len] = '\0';
	rti_text_add(text, "\"");
	rti_text_add(text, shown);
	rti_text_add(text, strlen(name) > NAME_SHOWN ? "...\"" : "\"");
}

static void describe_program(struct rti_text *text, const char *program, int err)
{
	if (!*program) {
		rti_text_add(text, "The name of the program is empty.");
		return;
	}
	rti_text_add(text, "The program ");
	add_quoted(text, program);
	rti_text_add(text, " cannot be started: ");
	rti_text_add(text, rt_strerror(err));
	rti_text_add(text, ".");
	rti_text_add(text, program_hint(program, err));
}

static void describe_descriptor(struct rti_text *text, const struct rt_command_opts *opts)
{
	for (uint32_t i = 0; i < opts->fd_count; i++) {
		int source = opts->fds[i].source;

		if (source < 0 || fcntl(source, F_GETFD) >= 0)
			continue;
		rti_text_add(text, "Descriptor ");
		rti_text_add_number(text, (uint64_t)source);
		rti_text_add(text, ", the source of descriptor ");
		rti_text_add_number(text, (uint64_t)opts->fds[i].target);
		rti_text_add(text, " of the program, is not open.");
		return;
	}
	rti_text_add(text, "The number of a descriptor is above the limit: raise RLIMIT_NOFILE.");
}

static const char *method_text(uint32_t method)
{
	switch (method) {
	case RT_ACCOUNTING_CGROUP:
		return "The accounting method cgroup is not available: no cgroup can be made below"
		       " that of the caller. It needs the permission to write to the caller's"
		       " cgroup.";
	case RT_ACCOUNTING_WAIT:
		return "The accounting method wait is not available: rtrack-supervisor cannot be"
		       " started, or no memory or socket can be shared with it.";
	default:
		return "This accounting method is not available in this release.";
	}
}

/* why: the error of the call that failed; 0: it is not known. */
static void describe_method(struct rti_text *text, uint32_t method, int why)
{
	rti_text_add(text, method_text(method));
	if (why == 0 || why == -EOPNOTSUPP)
		return;
	rti_text_add(text, " A system call failed: ");
	rti_text_add(text, rt_strerror(why));
	rti_text_add(text, why == -EPERM || why == -ENOSYS
	                       ? ". A filter of system calls may be the reason (seccomp)."
	                       : ".");
}

/* The reason is lost with the handle, so ask for it once more: what is refused is so at once. */
static void describe_bpf(struct rti_text *text)
{
	struct rti_command_account account = { 0 };
	int err = rti_command_account_open(&account, false);

	rti_command_account_close(&account);
	rti_text_add(text, "The accounting method bpf is not available. ");
	rti_bpf_refusal_add(text, err, "6.2");
}

/* Of errors that are not about the program. Returns NULL if there is none. */
static const char *system_text(const struct rt_command_opts *opts, int err)
{
	switch (err) {
	case -EFAULT:
		return opts->argv ? "rt_command_opts.fds is NULL, and fd_count is not 0."
		                  : "rt_command_opts.argv is NULL.";
	case -ENOPKG:
		return "rtrack-supervisor is not installed: install libexec/librtrack with the"
		       " library.";
	case -EMFILE:
		return "The limit of open descriptors is reached: close some, or raise"
		       " RLIMIT_NOFILE. A start needs about 20.";
	case -EPROTO:
		return "rtrack-supervisor is of another release: install that of this library.";
	case -ETIMEDOUT:
		return "rtrack-supervisor did not begin in time: it may be in a frozen cgroup."
		       " Nothing was started.";
	case -ENOSYS:
		return "No proc file system is mounted, or it may not be read: mount one at /proc.";
	case -EXDEV:
		return "/proc belongs to another pid namespace: mount a proc file system of the "
		       "caller's pid namespace.";
	case -ECHILD:
		return opts->accounting == RT_ACCOUNTING_POLL
		           ? "The program has run, and is reaped already: do not ignore SIGCHLD or"
		             " use SA_NOCLDWAIT, and do not wait for children of others. Or use"
		             " another accounting method."
		           : "The supervisor ended before it reported that the program runs: it "
		             "was killed,"
		             " or could not be loaded. The program may run.";
	default:
		return NULL;
	}
}

/* Returns false if the options of the tracker are not to blame. */
static bool describe_tracker_opts(struct rti_text *text, const struct rt_command_opts *opts,
                                  int err)
{
	struct rt_opts known;
	int refused = rti_tracker_check_opts(opts->tracker, &known);

	if (err != -EINVAL && err != -E2BIG)
		return false;
	if (refused < 0)
		rti_opts_error_add(text, &known, RT_KIND_PID, refused);
	else if (known.root)
		rti_text_add(text, "rt_opts.root must be NULL in rt_command_opts.tracker: a command"
		                   " runs on this system.");
	else if (known.flags & RT_OPT_NO_CHILDREN && opts->accounting > RT_ACCOUNTING_POLL)
		rti_text_add(text,
		             "RT_OPT_NO_CHILDREN works only with RT_ACCOUNTING_POLL, since the"
		             " other methods account for the whole tree.");
	else
		return false;
	return true;
}

/* Two entries have this target, or one of them is out of range. Returns whether there is any. */
static bool describe_bad_descriptor(struct rti_text *text, const struct rt_command_opts *opts)
{
	if (opts->fd_count > RTI_FD_MAP_MAX) {
		rti_text_add(text, "rt_command_opts.fd_count is above 65536.");
		return true;
	}
	for (uint32_t i = 0; i < opts->fd_count; i++) {
		if (rti_fd_map_check(opts->fds, i + 1) == 0)
			continue;
		rti_text_add(text, "rt_command_opts.fds, entry ");
		rti_text_add_number(text, i);
		if (opts->fds[i].target < 0)
			rti_text_add(text, ": the target is below 0.");
		else if (opts->fds[i].source < -2)
			rti_text_add(text, ": the source is below -2.");
		else
			rti_text_add(text, ": an entry before it has the same target.");
		return true;
	}
	return false;
}

/* In the order in which the options are checked. */
static void describe_bad_option(struct rti_text *text, const struct rt_command_opts *opts)
{
	if (!opts->argv[0])
		rti_text_add(text, "rt_command_opts.argv is empty: it needs a program.");
	else if (opts->flags & ~RTI_COMMAND_FLAGS)
		rti_text_add(text, "rt_command_opts.flags has bits that this library does not"
		                   " know.");
	else if (opts->reserved)
		rti_text_add(text, "rt_command_opts.reserved is not 0: clear the struct before it"
		                   " is filled.");
	else if (opts->accounting > RT_ACCOUNTING_BPF)
		rti_text_add(text, "rt_command_opts.accounting is no RT_ACCOUNTING_ value of this"
		                   " library.");
	else if (!describe_bad_descriptor(text, opts))
		rti_text_add(text, "The program file is damaged, or its interpreter is an ELF"
		                   " file of another kind.");
}

void rti_start_error_describe(const struct rt_command_opts *opts, int err, int why)
{
	const char *known = system_text(opts, err);
	struct rti_text text;

	if (!opts->message || !opts->message_size)
		return;
	text = rti_text(opts->message, opts->message_size);
	if (describe_tracker_opts(&text, opts, err))
		return;
	if (err == -EOPNOTSUPP && opts->accounting == RT_ACCOUNTING_BPF)
		describe_bpf(&text);
	else if (err == -EOPNOTSUPP)
		describe_method(&text, opts->accounting, why);
	else if (known)
		rti_text_add(&text, known);
	else if (err == -EINVAL)
		describe_bad_option(&text, opts);
	else if (err == -EBADF)
		describe_descriptor(&text, opts);
	else if (!describe_directory(&text, opts, err))
		describe_program(&text, opts->argv[0], err);
}
