/* SPDX-License-Identifier: MIT */
/* A kernel that refuses the seccomp filter at first, or for good: the test takes the place of its
 * calls. */
#include <errno.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "os/kernel_abi.h"
#include "os/protocol/trace_record.h"
#include "suite.h"
#include "tracer/filter.h"

static struct {
	bool knows_flag;  /* SECCOMP_FILTER_FLAG_SPEC_ALLOW, Linux 4.17 */
	bool has_rights;  /* CAP_SYS_ADMIN */
	bool can_give_up; /* the chance of more rights: PR_SET_NO_NEW_PRIVS */
	int other_error;  /* of each try; 0: none */
	bool has_given_up;
	unsigned tries;
	unsigned long flags; /* of the filter that was installed */
} kernel;

/* The linker calls these instead of the functions in their names. */
long __wrap_syscall(long number, long operation, unsigned long flags,
                    const struct rti_sock_fprog *program);
int __wrap_prctl(int option, unsigned long value, long third, long fourth, long fifth);

/* As the kernel checks it: flags first, then rights. */
static int error_of(unsigned long flags)
{
	if (kernel.other_error)
		return kernel.other_error;
	if (flags && !kernel.knows_flag)
		return EINVAL;
	return kernel.has_rights || kernel.has_given_up ? 0 : EACCES;
}

long __wrap_syscall(long number, long operation, unsigned long flags,
                    const struct rti_sock_fprog *program)
{
	ck_assert_int_eq(number, SYS_seccomp);
	ck_assert_int_eq(operation, RTI_SECCOMP_SET_MODE_FILTER);
	ck_assert_uint_gt(program->len, 10);
	kernel.tries++;
	kernel.flags = flags;
	errno = error_of(flags);
	return errno ? -1 : 0;
}

int __wrap_prctl(int option, unsigned long value, long third, long fourth, long fifth)
{
	ck_assert_int_eq(option, PR_SET_NO_NEW_PRIVS);
	ck_assert_uint_eq(value, 1);
	ck_assert_int_eq(third | fourth | fifth, 0);
	kernel.has_given_up = kernel.can_give_up;
	return kernel.can_give_up ? 0 : -1;
}

static const struct {
	bool knows_flag, has_rights, can_give_up;
	int other_error;
	int error;
	unsigned tries;
	bool has_given_up;
	unsigned long flags;
} kernels[] = {
	{ true, true, true, 0, 0, 1, false, RTI_SECCOMP_FILTER_FLAG_SPEC_ALLOW },
	{ true, false, true, 0, 0, 2, true, RTI_SECCOMP_FILTER_FLAG_SPEC_ALLOW },
	/* Before Linux 4.17. */
	{ false, true, true, 0, 0, 2, false, 0 },
	{ false, false, true, 0, 0, 4, true, 0 },
	/* It allows none. */
	{ true, false, false, 0, EACCES, 1, false, RTI_SECCOMP_FILTER_FLAG_SPEC_ALLOW },
	{ false, false, false, 0, EACCES, 2, false, 0 },
	{ true, true, true, EINVAL, EINVAL, 2, false, 0 },
	{ true, true, true, ENOMEM, ENOMEM, 1, false, RTI_SECCOMP_FILTER_FLAG_SPEC_ALLOW },
	{ true, true, true, ENOSYS, ENOSYS, 1, false, RTI_SECCOMP_FILTER_FLAG_SPEC_ALLOW },
};

START_TEST(filter_gives_up_the_flag_and_rights_only_where_the_kernel_demands_it)
{
	kernel.knows_flag = kernels[_i].knows_flag;
	kernel.has_rights = kernels[_i].has_rights;
	kernel.can_give_up = kernels[_i].can_give_up;
	kernel.other_error = kernels[_i].other_error;
	ck_assert_int_eq(rtt_filter_install(RTI_TRACE_GETRUSAGE), kernels[_i].error);
	ck_assert_uint_eq(kernel.tries, kernels[_i].tries);
	ck_assert_uint_eq(kernel.flags, kernels[_i].flags);
	ck_assert(kernel.has_given_up == kernels[_i].has_given_up);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("filter_refused");

	tcase_add_loop_test(suite_case(suite, "kernels"),
	                    filter_gives_up_the_flag_and_rights_only_where_the_kernel_demands_it, 0,
	                    sizeof(kernels) / sizeof(kernels[0]));
	return suite_run(suite);
}
