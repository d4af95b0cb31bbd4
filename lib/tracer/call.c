/* SPDX-License-Identifier: MIT */
/* The arguments of a traced call, and what the kernel wrote for it. */
#include "tracer/call.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum figures { NO_FIGURES, HAS_FIGURES, UNKNOWN_FIGURES };

void rtt_call_decode(const struct rti_syscall_info *info, uint32_t meaning, struct rtt_call *out)
{
	const uint64_t *args = info->seccomp.args;
	bool is_32bit = !(info->arch & RTI_ARCH_64BIT);

	*out = (struct rtt_call){
		.call = meaning,
		.flags = is_32bit ? RTI_TRACE_32BIT : 0,
		.who = (int32_t)args[0],
		.usage_bytes = is_32bit ? RTI_TRACE_USAGE_BYTES_32 : RTI_TRACE_USAGE_BYTES,
	};
	if (meaning == RTI_TRACE_GETRUSAGE) {
		out->usage_address = args[1];
	} else if (meaning == RTI_TRACE_WAIT4) {
		out->status_address = args[1];
		out->wait_options = (uint32_t)args[2];
		out->usage_address = args[3];
	} else {
		out->wait_id = (int32_t)args[1];
		out->status_address = args[2];
		out->wait_options = (uint32_t)args[3];
		out->usage_address = args[4];
	}
	/* The upper half of a 32-bit argument is undefined. */
	if (is_32bit) {
		out->usage_address = (uint32_t)out->usage_address;
		out->status_address = (uint32_t)out->status_address;
	}
}

/* Word by word: the last one may reach beyond what is asked for. */
static bool peek_memory(int32_t tid, uint64_t address, char *out, size_t size)
{
	for (size_t at = 0; at < size; at += sizeof(long)) {
		size_t part = size - at < sizeof(long) ? size - at : sizeof(long);
		long word;

		errno = 0;
		word = ptrace(PTRACE_PEEKDATA, tid, (void *)(uintptr_t)(address + at), 0L);
		if (errno)
			return false;
		memcpy(out + at, &word, part);
	}
	return true;
}

/* Some seccomp filters of containers refuse process_vm_readv(2), and not ptrace(2). */
static bool read_memory(int32_t tid, uint64_t address, void *out, size_t size)
{
	const struct iovec local = { .iov_base = out, .iov_len = size };
	const struct iovec remote = { .iov_base = (void *)(uintptr_t)address, .iov_len = size };

	if (process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)size)
		return true;
	return (errno == ENOSYS || errno == EPERM || errno == EACCES) &&
	       peek_memory(tid, address, out, size);
}

/* Whether a call has written figures. waitid(2) returns 0 also if no child was found (WNOHANG).
 * Then it sets si_signo to 0, and writes no figures. */
static enum figures find_figures(const struct rtt_call *call, int32_t tid, int64_t result)
{
	int signal;

	if (!call->usage_address || result < 0)
		return NO_FIGURES;
	if (call->call == RTI_TRACE_WAIT4)
		return result > 0 ? HAS_FIGURES : NO_FIGURES;
	if (call->call != RTI_TRACE_WAITID || !(call->wait_options & WNOHANG))
		return HAS_FIGURES;
	if (!call->status_address ||
	    !read_memory(tid, call->status_address, &signal, sizeof(signal)))
		return UNKNOWN_FIGURES;
	return signal == SIGCHLD ? HAS_FIGURES : NO_FIGURES;
}

void rtt_call_fill(const struct rtt_call *call, int32_t tid, int64_t result,
                   struct rti_trace_record *out)
{
	enum figures figures = find_figures(call, tid, result);
	uint64_t whole[RTI_TRACE_USAGE_WORDS] = { 0 };

	out->call = (uint16_t)call->call;
	out->flags = call->flags;
	out->entry_ns = call->entry_ns;
	out->result = result;
	out->usage_address = call->usage_address;
	out->status_address = call->status_address;
	out->who = call->who;
	out->wait_id = call->wait_id;
	out->wait_options = call->wait_options;
	if (figures == HAS_FIGURES &&
	    read_memory(tid, call->usage_address, whole, call->usage_bytes)) {
		out->usage_bytes = (uint16_t)call->usage_bytes;
		if (call->usage_bytes == RTI_TRACE_USAGE_BYTES)
			rti_trace_pack_usage(out->usage, whole);
		else
			memcpy(out->usage, whole, call->usage_bytes);
	} else if (figures != NO_FIGURES)
		out->flags |= RTI_TRACE_UNREAD;
}
