/* SPDX-License-Identifier: MIT */
/* Stops of a seccomp filter that is the program's own.
 *
 * The kernel skips a call if the tracer has set its number to -1 (__seccomp_filter() in
 * kernel/seccomp.c). The result is then what is in its register: the tracer may write it. */
#include "tracer/foreign_stop.h"

#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "os/kernel_abi.h"

#if defined(__x86_64__)
/* Each entry of the kernel sets the result to -ENOSYS before any filter runs. E.g.:
 * PUSH_AND_CLEAR_REGS in arch/x86/entry/entry_64.S. */
void rtt_foreign_stop_refuse(int32_t tid)
{
	ptrace(PTRACE_POKEUSER, tid, offsetof(struct user_regs_struct, orig_rax), -1L);
}
#elif defined(__aarch64__)
void rtt_foreign_stop_refuse(int32_t tid)
{
	struct user_regs_struct regs;
	struct iovec all = { .iov_base = &regs, .iov_len = sizeof(regs) };
	int number = -1;
	struct iovec call = { .iov_base = &number, .iov_len = sizeof(number) };

	/* A thread of 32 bits has other sets, and its call is made. */
	if (ptrace(PTRACE_SETREGSET, tid, RTI_NT_ARM_SYSTEM_CALL, &call) < 0 ||
	    ptrace(PTRACE_GETREGSET, tid, RTI_NT_PRSTATUS, &all) < 0)
		return;
	regs.regs[0] = (unsigned long long)-ENOSYS;
	ptrace(PTRACE_SETREGSET, tid, RTI_NT_PRSTATUS, &all);
}
#else
void rtt_foreign_stop_refuse(int32_t tid)
{
	(void)tid;
}
#endif
