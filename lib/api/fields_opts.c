/* SPDX-License-Identifier: MIT */
/* Fields of the structs that the caller fills in. */
#include "api/field_tables.h"

static const struct rt_field opts_fields[] = {
	FIELD(opts, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(opts, flags, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(opts, root, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
	FIELD(opts, want, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(opts, max_fds, RT_TYPE_U32, RT_FIELD_META, 0, "1"),
	FIELD(opts, reserved, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(opts, pss_share, RT_TYPE_U32, RT_FIELD_META, 0, "10*-3"),
	FIELD(opts, pss_hold_us, RT_TYPE_U32, RT_FIELD_META, 0, "us"),
	FIELD(opts, message_size, RT_TYPE_U32, RT_FIELD_META, 0, "By"),
	FIELD(opts, reserved_2, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(opts, message, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
};

FIELD_TABLE(opts);

static const struct rt_field command_opts_fields[] = {
	FIELD(command_opts, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(command_opts, flags, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(command_opts, argv, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
	FIELD(command_opts, envp, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
	FIELD(command_opts, cwd, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
	FIELD(command_opts, tracker, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
	FIELD(command_opts, accounting, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(command_opts, reserved, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(command_opts, fds, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
	FIELD(command_opts, fd_count, RT_TYPE_U32, RT_FIELD_META, 0, "1"),
	FIELD(command_opts, message_size, RT_TYPE_U32, RT_FIELD_META, 0, "By"),
	FIELD(command_opts, message, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
};

FIELD_TABLE(command_opts);

static const struct rt_field trace_opts_fields[] = {
	FIELD(trace_opts, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_opts, flags, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_opts, pid, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(trace_opts, calls, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_opts, back_end, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_opts, ring_bytes, RT_TYPE_U32, RT_FIELD_META, 0, "By"),
	FIELD(trace_opts, command, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
	FIELD(trace_opts, message, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
	FIELD(trace_opts, message_size, RT_TYPE_U32, RT_FIELD_META, 0, "By"),
	FIELD(trace_opts, reserved, RT_TYPE_U32, RT_FIELD_META, 0, ""),
};

FIELD_TABLE(trace_opts);
