/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which traced call a system call is, and its arguments, by the registers that the kernel saved.
 *
 * For BPF programs. At the return of a call the registers still have its arguments. */
#ifndef RTI_TRACE_CALL_H
#define RTI_TRACE_CALL_H

#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>

#include "trace.h"

/* A pointer that a tracepoint passes: the verifier knows its type, except with raw tracepoints. */
#ifdef RTI_TRACE_RAW
#define READ(object, member) BPF_CORE_READ(object, member)
#else
#define READ(object, member) ((object)->member)
#endif

struct call {
	__u32 kind;  /* one RTI_TRACE_ bit of the calls; 0: none of them */
	__u32 flags; /* RTI_TRACE_32BIT or 0 */
	int32_t who;
	__s32 wait_id;
	__u32 wait_options;
	__u64 status; /* address of the status of wait4(2), of the siginfo_t of waitid(2) */
	__u64 usage;
};

#ifdef RTI_X86
#define TS_COMPAT 2u /* arch/x86/include/asm/thread_info.h */
#define X32_BIT 0x40000000u

#define SYSCALL_NUMBER(regs) ((__u32)READ(regs, orig_ax))

/* Numbers of a 64-bit and of a 32-bit call. x32 has the former with a bit, but for waitid(2). */
enum {
	GETRUSAGE = 98,
	WAIT4 = 61,
	WAITID = 247,
	WAITID_X32 = 529,
	GETRUSAGE_32 = 77,
	WAIT4_32 = 114,
	WAITID_32 = 284
};

static bool is_32bit(const struct task_struct *task)
{
	return task->thread_info.status & TS_COMPAT;
}

/* In the order of the arguments of a call. */
static __u64 argument(const struct pt_regs *regs, int index, bool is_32)
{
	switch (index) {
	case 0:
		return is_32 ? (__u32)READ(regs, bx) : READ(regs, di);
	case 1:
		return is_32 ? (__u32)READ(regs, cx) : READ(regs, si);
	case 2:
		return is_32 ? (__u32)READ(regs, dx) : READ(regs, dx);
	case 3:
		return is_32 ? (__u32)READ(regs, si) : READ(regs, r10);
	default:
		return is_32 ? (__u32)READ(regs, di) : READ(regs, r8);
	}
}
#else
#define X32_BIT 0u
#define TIF_32BIT (1u << 22) /* arch/arm64/include/asm/thread_info.h */

#define SYSCALL_NUMBER(regs) ((__u32)READ(regs, syscallno))

enum {
	GETRUSAGE = 165,
	WAIT4 = 260,
	WAITID = 95,
	GETRUSAGE_32 = 77,
	WAIT4_32 = 114,
	WAITID_32 = 280
};

static bool is_32bit(const struct task_struct *task)
{
	return task->thread_info.flags & TIF_32BIT;
}

/* The result is in the register of the first argument, which the kernel keeps apart. */
static __u64 argument(const struct pt_regs *regs, int index, bool is_32)
{
	__u64 value = 0;

	switch (index) {
	case 0:
		value = READ(regs, orig_x0);
		break;
	case 1:
		value = READ(regs, regs[1]);
		break;
	case 2:
		value = READ(regs, regs[2]);
		break;
	case 3:
		value = READ(regs, regs[3]);
		break;
	default:
		value = READ(regs, regs[4]);
	}
	return is_32 ? (__u32)value : value;
}
#endif

/* Whether a call with this number may be a traced one: a first look, at every system call. */
static __always_inline bool may_be_traced(__u32 number)
{
	switch (number & ~X32_BIT) {
	case GETRUSAGE:
	case WAIT4:
	case WAITID:
	case GETRUSAGE_32:
	case WAIT4_32:
	case WAITID_32:
#ifdef RTI_X86
	case WAITID_X32:
#endif
		return true;
	default:
		return false;
	}
}

static __u32 kind_of_64bit_call(__u32 number)
{
	switch (number & ~X32_BIT) {
	case GETRUSAGE:
		return RTI_TRACE_GETRUSAGE;
	case WAIT4:
		return RTI_TRACE_WAIT4;
	case WAITID:
#ifdef RTI_X86
	case WAITID_X32:
#endif
		return RTI_TRACE_WAITID;
	default:
		return 0;
	}
}

static __u32 kind_of_32bit_call(__u32 number)
{
	switch (number) {
	case GETRUSAGE_32:
		return RTI_TRACE_GETRUSAGE;
	case WAIT4_32:
		return RTI_TRACE_WAIT4;
	case WAITID_32:
		return RTI_TRACE_WAITID;
	default:
		return 0;
	}
}

static __u32 kind_of_call(__u32 number, bool is_32)
{
	return is_32 ? kind_of_32bit_call(number) : kind_of_64bit_call(number);
}

static void read_arguments(struct call *call, const struct pt_regs *regs, bool is_32)
{
	call->who = (__s32)argument(regs, 0, is_32);
	switch (call->kind) {
	case RTI_TRACE_GETRUSAGE:
		call->usage = argument(regs, 1, is_32);
		break;
	case RTI_TRACE_WAIT4:
		call->status = argument(regs, 1, is_32);
		call->wait_options = (__u32)argument(regs, 2, is_32);
		call->usage = argument(regs, 3, is_32);
		break;
	default:
		call->wait_id = (__s32)argument(regs, 1, is_32);
		call->status = argument(regs, 2, is_32);
		call->wait_options = (__u32)argument(regs, 3, is_32);
		call->usage = argument(regs, 4, is_32);
	}
}

#endif
