/* SPDX-License-Identifier: MIT */
/* The figures of a call where process_vm_readv(2) is refused, or reads a part: the test takes the
 * place of the calls that read the memory of a thread. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "suite.h"
#include "tracer/call.h"

#define TID 4711
#define WORDS (RTI_TRACE_USAGE_BYTES / sizeof(long))

static unsigned char usage[RTI_TRACE_USAGE_BYTES];

static struct {
	int read_error;     /* of process_vm_readv(2); 0: it reads */
	ssize_t read_bytes; /* that it reads then */
	size_t words;       /* that can be peeked; the next one cannot */
	size_t peeks;
} kernel;

/* The linker calls these instead of the functions in their names. */
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *to, unsigned long to_count,
                                const struct iovec *from, unsigned long from_count,
                                unsigned long flags);
long __wrap_ptrace(enum __ptrace_request request, ...);

ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *to, unsigned long to_count,
                                const struct iovec *from, unsigned long from_count,
                                unsigned long flags)
{
	ck_assert_int_eq(pid, TID);
	ck_assert_uint_eq(to_count, 1);
	ck_assert_uint_eq(from_count, 1);
	ck_assert_uint_eq(flags, 0);
	if (kernel.read_error) {
		errno = kernel.read_error;
		return -1;
	}
	memcpy(to->iov_base, from->iov_base, (size_t)kernel.read_bytes);
	return kernel.read_bytes;
}

/* A word may be -1, which is no error. */
long __wrap_ptrace(enum __ptrace_request request, ...)
{
	va_list arguments;
	const void *address;
	long word;

	va_start(arguments, request);
	ck_assert_int_eq(va_arg(arguments, int32_t), TID);
	address = va_arg(arguments, void *);
	va_end(arguments);
	ck_assert_int_eq((int)request, PTRACE_PEEKDATA);
	if (kernel.peeks++ == kernel.words) {
		errno = EIO;
		return -1;
	}
	memcpy(&word, address, sizeof(word));
	return word;
}

static const struct {
	int read_error;
	ssize_t read_bytes;
	size_t words;
	bool has_figures;
	size_t peeks;
} memories[] = {
	{ 0, RTI_TRACE_USAGE_BYTES, 0, true, 0 },
	/* Some seccomp filters of containers refuse one of the two. */
	{ ENOSYS, 0, WORDS, true, WORDS },
	{ EPERM, 0, WORDS, true, WORDS },
	{ EACCES, 0, WORDS, true, WORDS },
	/* Another thread has unmapped it, or the thread is killed. */
	{ EFAULT, 0, WORDS, false, 0 },
	{ ESRCH, 0, WORDS, false, 0 },
	{ 0, RTI_TRACE_USAGE_BYTES / 2, WORDS, false, 0 },
	{ EPERM, 0, 0, false, 1 },
	{ ENOSYS, 0, WORDS - 1, false, WORDS },
};

START_TEST(figures_are_read_in_one_way_or_the_other_or_are_unread)
{
	const struct rtt_call call = { .call = RTI_TRACE_GETRUSAGE,
		                       .usage_bytes = RTI_TRACE_USAGE_BYTES,
		                       .usage_address = (uintptr_t)usage };
	struct rti_trace_record record = { 0 };

	memset(usage, 0xff, sizeof(usage));
	kernel.read_error = memories[_i].read_error;
	kernel.read_bytes = memories[_i].read_bytes;
	kernel.words = memories[_i].words;
	errno = 0;
	rtt_call_fill(&call, TID, 0, &record);
	ck_assert_uint_eq(kernel.peeks, memories[_i].peeks);
	ck_assert_uint_eq(record.usage_bytes, memories[_i].has_figures ? sizeof(usage) : 0);
	ck_assert_uint_eq(record.flags, memories[_i].has_figures ? 0 : RTI_TRACE_UNREAD);
	if (memories[_i].has_figures)
		ck_assert_int_eq(memcmp(record.usage, usage, sizeof(record.usage)), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("call_memory");

	tcase_add_loop_test(suite_case(suite, "memories"),
	                    figures_are_read_in_one_way_or_the_other_or_are_unread, 0,
	                    sizeof(memories) / sizeof(memories[0]));
	return suite_run(suite);
}
