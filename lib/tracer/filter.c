/* SPDX-License-Identifier: MIT */
/* The seccomp filter that stops a program in the calls that are traced, and in no others.
 *
 * The calls that change an identity are among them: so the tracer reads user id and namespaces of a
 * thread once, and again only after such a call. They cost one stop more. The kernel notes for each
 * number of a call that the filter always allows it (Linux 5.11), so the others cost next to
 * nothing. */
#include "tracer/filter.h"

#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/kernel_abi.h"
#include "os/protocol/trace_record.h"

#define DATA 0x5200u /* in data of ours; the meaning is in the lowest byte */

struct meaning {
	uint32_t arch, number, bit;
};

/* By architecture. The numbers are for ever: arch/x86/entry/syscalls/, arch/arm/tools/syscall.tbl,
 * include/uapi/asm-generic/unistd.h. i386 and arm have a set of calls for user ids of 16 bits. */
static const struct meaning meanings[] = {
	{ RTI_ARCH_X86_64, 98, RTI_TRACE_GETRUSAGE },
	{ RTI_ARCH_X86_64, 61, RTI_TRACE_WAIT4 },
	{ RTI_ARCH_X86_64, 247, RTI_TRACE_WAITID },
	{ RTI_ARCH_X86_64, 105, RTT_CHANGES_IDENTITY }, /* setuid */
	{ RTI_ARCH_X86_64, 113, RTT_CHANGES_IDENTITY }, /* setreuid */
	{ RTI_ARCH_X86_64, 117, RTT_CHANGES_IDENTITY }, /* setresuid */
	{ RTI_ARCH_X86_64, 272, RTT_CHANGES_IDENTITY }, /* unshare */
	{ RTI_ARCH_X86_64, 308, RTT_CHANGES_IDENTITY }, /* setns */
	{ RTI_ARCH_X86_64, RTI_X32_BIT | 98, RTI_TRACE_GETRUSAGE },
	{ RTI_ARCH_X86_64, RTI_X32_BIT | 61, RTI_TRACE_WAIT4 },
	{ RTI_ARCH_X86_64, RTI_X32_BIT | 529, RTI_TRACE_WAITID },
	{ RTI_ARCH_X86_64, RTI_X32_BIT | 105, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_X86_64, RTI_X32_BIT | 113, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_X86_64, RTI_X32_BIT | 117, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_X86_64, RTI_X32_BIT | 272, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_X86_64, RTI_X32_BIT | 308, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_I386, 77, RTI_TRACE_GETRUSAGE },
	{ RTI_ARCH_I386, 114, RTI_TRACE_WAIT4 },
	{ RTI_ARCH_I386, 284, RTI_TRACE_WAITID },
	{ RTI_ARCH_I386, 23, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_I386, 70, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_I386, 164, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_I386, 203, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_I386, 208, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_I386, 213, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_I386, 310, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_I386, 346, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_AARCH64, 165, RTI_TRACE_GETRUSAGE },
	{ RTI_ARCH_AARCH64, 260, RTI_TRACE_WAIT4 },
	{ RTI_ARCH_AARCH64, 95, RTI_TRACE_WAITID },
	{ RTI_ARCH_AARCH64, 146, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_AARCH64, 145, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_AARCH64, 147, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_AARCH64, 97, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_AARCH64, 268, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_ARM, 77, RTI_TRACE_GETRUSAGE },
	{ RTI_ARCH_ARM, 114, RTI_TRACE_WAIT4 },
	{ RTI_ARCH_ARM, 280, RTI_TRACE_WAITID },
	{ RTI_ARCH_ARM, 23, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_ARM, 70, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_ARM, 164, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_ARM, 203, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_ARM, 208, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_ARM, 213, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_ARM, 337, RTT_CHANGES_IDENTITY },
	{ RTI_ARCH_ARM, 375, RTT_CHANGES_IDENTITY },
};

#define MEANINGS (sizeof(meanings) / sizeof(meanings[0]))

/* Two for each call, three for each architecture (there are no more of these than calls), and the
 * first and the last one. */
#define INSTRUCTIONS_MAX (2 + 5 * MEANINGS)

_Static_assert(INSTRUCTIONS_MAX <= UINT8_MAX + 1, "a jump skips at most 255 instructions");

struct program {
	struct rti_sock_filter code[INSTRUCTIONS_MAX];
	uint16_t count;
};

uint32_t rtt_filter_meaning(uint32_t arch, uint64_t number)
{
	for (size_t i = 0; i < MEANINGS; i++)
		if (meanings[i].arch == arch && meanings[i].number == number)
			return meanings[i].bit;
	return 0;
}

uint32_t rtt_filter_data(uint32_t meaning)
{
	return DATA | meaning;
}

static void add(struct program *p, uint16_t code, uint32_t k, unsigned skipped_if_not)
{
	p->code[p->count++] =
	    (struct rti_sock_filter){ .code = code, .jf = (uint8_t)skipped_if_not, .k = k };
}

/* Add the calls of one architecture, which begin at first. Returns where the next one begins. */
static size_t add_architecture(struct program *p, size_t first, uint32_t calls)
{
	uint16_t test = p->count;
	size_t i = first;

	add(p, RTI_BPF_IF_EQUAL, meanings[first].arch, 0);
	add(p, RTI_BPF_LOAD, RTI_SECCOMP_NR, 0);
	for (; i < MEANINGS && meanings[i].arch == meanings[first].arch; i++) {
		if (!(meanings[i].bit & (calls | RTT_CHANGES_IDENTITY)))
			continue;
		add(p, RTI_BPF_IF_EQUAL, meanings[i].number, 1);
		add(p, RTI_BPF_RETURN, RTI_SECCOMP_RET_TRACE | rtt_filter_data(meanings[i].bit), 0);
	}
	add(p, RTI_BPF_RETURN, RTI_SECCOMP_RET_ALLOW, 0);
	p->code[test].jf = (uint8_t)(p->count - test - 1);
	return i;
}

/* Without the flag, kernels before 5.16 slow the program down as if it were not trusted
 * (spec_store_bypass_disable=seccomp). The flag is known since 4.17. */
static int install(const struct rti_sock_fprog *program)
{
	if (syscall(SYS_seccomp, RTI_SECCOMP_SET_MODE_FILTER, RTI_SECCOMP_FILTER_FLAG_SPEC_ALLOW,
	            program) == 0)
		return 0;
	if (errno == EINVAL && syscall(SYS_seccomp, RTI_SECCOMP_SET_MODE_FILTER, 0, program) == 0)
		return 0;
	return errno;
}

int rtt_filter_install(uint32_t calls)
{
	struct program p = { .count = 0 };
	struct rti_sock_fprog program = { .filter = p.code };
	int error;

	add(&p, RTI_BPF_LOAD, RTI_SECCOMP_ARCH, 0);
	for (size_t i = 0; i < MEANINGS;)
		i = add_architecture(&p, i, calls);
	add(&p, RTI_BPF_RETURN, RTI_SECCOMP_RET_ALLOW, 0);
	program.len = p.count;
	error = install(&program);
	/* Only CAP_SYS_ADMIN can do without: then a set-user-ID program still gets its rights. */
	if (error == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		error = install(&program);
	return error;
}
