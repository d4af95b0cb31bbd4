/* SPDX-License-Identifier: MIT */
/* Names of calls, of their arguments and of their errors. */
#include "trace_names.h"

#include <errno.h>
#include <string.h>

#include <rtrack/rtrack.h>

struct name {
	int64_t value;
	const char *name;
};

static const struct name calls[] = {
	{ RT_TRACE_CALL_GETRUSAGE, "getrusage" },
	{ RT_TRACE_CALL_WAIT4, "wait4" },
	{ RT_TRACE_CALL_WAITID, "waitid" },
	{ 0, NULL },
};

static const struct name scopes[] = {
	{ RT_RUSAGE_SELF, "RUSAGE_SELF" },
	{ RT_RUSAGE_CHILDREN, "RUSAGE_CHILDREN" },
	{ RT_RUSAGE_THREAD, "RUSAGE_THREAD" },
	{ 0, NULL },
};

static const struct name idtypes[] = {
	{ 0, "P_ALL" }, { 1, "P_PID" }, { 2, "P_PGID" }, { 3, "P_PIDFD" }, { 0, NULL },
};

/* Some are for waitid(2) alone. A program may pass them all the same, and get EINVAL. */
static const struct name wait4_options[] = {
	{ 0x00000001, "WNOHANG" },    { 0x00000002, "WUNTRACED" }, { 0x00000004, "WEXITED" },
	{ 0x00000008, "WCONTINUED" }, { 0x01000000, "WNOWAIT" },   { 0x20000000, "__WNOTHREAD" },
	{ 0x40000000, "__WALL" },     { 0x80000000, "__WCLONE" },  { 0, NULL },
};

static const struct name waitid_options[] = {
	{ 0x00000001, "WNOHANG" },    { 0x00000002, "WSTOPPED" }, { 0x00000004, "WEXITED" },
	{ 0x00000008, "WCONTINUED" }, { 0x01000000, "WNOWAIT" },  { 0x20000000, "__WNOTHREAD" },
	{ 0x40000000, "__WALL" },     { 0x80000000, "__WCLONE" }, { 0, NULL },
};

/* strerrorname_np(3) is newer than some C libraries. These are the errors of the three calls. A
 * security module may refuse to wait with EACCES. */
static const struct name errors[] = {
	{ EPERM, "EPERM" },   { ESRCH, "ESRCH" },   { EINTR, "EINTR" },   { EBADF, "EBADF" },
	{ ECHILD, "ECHILD" }, { EAGAIN, "EAGAIN" }, { EACCES, "EACCES" }, { EFAULT, "EFAULT" },
	{ EINVAL, "EINVAL" }, { ENOSYS, "ENOSYS" }, { 0, NULL },
};

static const char *find(const struct name *names, int64_t value)
{
	while (names->name && names->value != value)
		names++;
	return names->name;
}

static void add_name_or_number(struct text *out, const struct name *names, int32_t value)
{
	const char *name = find(names, value);

	if (name)
		text_add(out, name);
	else
		text_i64(out, value);
}

const char *trace_call_name(uint32_t call)
{
	const char *name = find(calls, call);

	return name ? name : "call";
}

uint32_t trace_call_by_name(const char *name, size_t len)
{
	for (const struct name *call = calls; call->name; call++) {
		if (strlen(call->name) == len && memcmp(call->name, name, len) == 0)
			return (uint32_t)call->value;
	}
	return 0;
}

void trace_add_scope(struct text *out, int32_t scope)
{
	add_name_or_number(out, scopes, scope);
}

void trace_add_idtype(struct text *out, int32_t idtype)
{
	add_name_or_number(out, idtypes, idtype);
}

void trace_add_wait_options(struct text *out, uint32_t call, uint32_t options)
{
	const struct name *option = call == RT_TRACE_CALL_WAIT4 ? wait4_options : waitid_options;
	const char *gap = "";

	for (; option->name; option++) {
		if (!(options & (uint32_t)option->value))
			continue;
		text_printf(out, "%s%s", gap, option->name);
		options &= ~(uint32_t)option->value;
		gap = "|";
	}
	if (options)
		text_printf(out, "%s0x%x", gap, (unsigned)options);
	else if (!*gap)
		text_add(out, "0");
}

void trace_add_error(struct text *out, int64_t error)
{
	const char *name = find(errors, error);

	if (name)
		text_add(out, name);
	else
		text_printf(out, "error %lld", (long long)error);
	text_printf(out, " (%s)", strerror((int)error));
}
