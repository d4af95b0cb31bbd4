/* SPDX-License-Identifier: MIT */
/* What the parts of the plug-in have in common: an iterator that the kernel refuses or interrupts,
 * the names of errors, and the offset of a clock. */
#include "bpf/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/capability.h"
#include "os/kernel_abi.h"
#include "suite.h"

#define MS 1000000
#define SECOND (1000 * MS)

#define BPF 1u
#define PERFMON 2u
#define ADMIN 4u

static struct {
	int iterator;       /* its descriptor, or -errno */
	int read_errors[4]; /* of read(2), one after the other; 0: it reads */
	unsigned reads;
	unsigned rights;
	const char *lockdown; /* the text of the file; NULL: there is none */
	bool is_unreadable;   /* its text */
} kernel;

/* The linker calls these instead of the functions in their names. */
long __wrap_syscall(long number, ...);
ssize_t __real_read(int fd, void *buf, size_t len);
ssize_t __wrap_read(int fd, void *buf, size_t len);
FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
char *__real_fgets(char *line, int size, FILE *file);
char *__wrap_fgets(char *line, int size, FILE *file);
bool __wrap_rti_has_capability(unsigned capability);

long __wrap_syscall(long number, ...)
{
	(void)number;
	if (kernel.iterator >= 0)
		return kernel.iterator;
	errno = -kernel.iterator;
	return -1;
}

ssize_t __wrap_read(int fd, void *buf, size_t len)
{
	if (kernel.iterator < 0)
		return __real_read(fd, buf, len);
	ck_assert_int_eq(fd, kernel.iterator);
	ck_assert_uint_lt(kernel.reads, 4);
	errno = kernel.read_errors[kernel.reads++];
	return errno ? -1 : 0;
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	if (strcmp(path, "/sys/kernel/security/lockdown") != 0)
		return __real_fopen64(path, mode);
	return kernel.lockdown ? fmemopen((void *)kernel.lockdown, strlen(kernel.lockdown), "r")
	                       : NULL;
}

char *__wrap_fgets(char *line, int size, FILE *file)
{
	return kernel.is_unreadable ? NULL : __real_fgets(line, size, file);
}

bool __wrap_rti_has_capability(unsigned capability)
{
	return (capability == RTI_CAP_BPF && kernel.rights & BPF) ||
	       (capability == RTI_CAP_PERFMON && kernel.rights & PERFMON) ||
	       (capability == RTI_CAP_SYS_ADMIN && kernel.rights & ADMIN);
}

START_TEST(iterator_that_the_kernel_refuses_has_its_error)
{
	kernel.iterator = -EPERM;
	ck_assert_int_eq(rti_program_iterate(-1), -EPERM);
	ck_assert_int_eq(rti_program_run(-1), -EPERM);
}
END_TEST

/* The kernel makes a pause after a million tasks without a row, or for a signal. */
static const struct {
	int read_errors[4];
	unsigned reads;
	int err;
} iterations[] = {
	{ { 0 }, 1, 0 },
	{ { EAGAIN, EAGAIN, 0 }, 3, 0 },
	{ { EINTR, EAGAIN, EINTR, 0 }, 4, 0 },
	{ { EAGAIN, ENOMEM }, 2, -ENOMEM },
};

START_TEST(iterator_that_makes_a_pause_is_read_on)
{
	kernel.iterator = dup(STDERR_FILENO);
	ck_assert_int_gt(kernel.iterator, 0);
	memcpy(kernel.read_errors, iterations[_i].read_errors, sizeof(kernel.read_errors));
	ck_assert_int_eq(rti_program_iterate(-1), iterations[_i].err);
	ck_assert_uint_eq(kernel.reads, iterations[_i].reads);
	ck_assert_int_eq(fcntl(kernel.iterator, F_GETFD), -1);
	kernel.iterator = -1;
}
END_TEST

START_TEST(program_is_loaded_again_a_few_times)
{
	int loads = 1;

	while (rti_program_is_interrupted(-EAGAIN, loads))
		ck_assert_int_lt(++loads, 100);
	ck_assert_int_gt(loads, 1);
	ck_assert(!rti_program_is_interrupted(0, 1));
	ck_assert(!rti_program_is_interrupted(-EPERM, 1));
}
END_TEST

static const struct {
	int err;
	unsigned rights;
	const char *lockdown;
	bool is_unreadable;
	int named;
} errors[] = {
	{ 0, 0, NULL, false, 0 },
	{ -EMFILE, 0, NULL, false, -EMFILE },
	{ -EBUSY, 0, NULL, false, -EBUSY },
	{ -EACCES, BPF | PERFMON, NULL, false, -EPERM },
	{ -ENOSYS, BPF | PERFMON, NULL, false, -EOPNOTSUPP },
	/* What the verifier calls an invalid argument. */
	{ -EINVAL, BPF | PERFMON, NULL, false, -EOPNOTSUPP },
	{ -EINVAL, ADMIN, NULL, false, -EOPNOTSUPP },
	{ -EINVAL, BPF, NULL, false, -EPERM },
	{ -EINVAL, PERFMON, NULL, false, -EPERM },
	{ -EINVAL, 0, NULL, false, -EPERM },
	{ -EINVAL, ADMIN, "none integrity [confidentiality]\n", false, -EPERM },
	{ -EINVAL, ADMIN, "none [integrity] confidentiality\n", false, -EOPNOTSUPP },
	{ -EINVAL, ADMIN, "none integrity [confidentiality]\n", true, -EOPNOTSUPP },
};

START_TEST(error_says_whether_rights_or_the_kernel_are_missing)
{
	kernel.iterator = -1;
	kernel.rights = errors[_i].rights;
	kernel.lockdown = errors[_i].lockdown;
	kernel.is_unreadable = errors[_i].is_unreadable;
	ck_assert_int_eq(rti_program_error(errors[_i].err), errors[_i].named);
}
END_TEST

/* The clock of the kernel was read between two reads of the caller's. */
START_TEST(offset_of_a_clock_is_that_of_a_time_namespace_alone)
{
	static const struct {
		uint64_t before_ns, kernel_ns, after_ns;
		int64_t offset_ns;
	} cases[] = {
		{ SECOND, SECOND + 100, SECOND + 200, 0 },
		{ SECOND, SECOND, SECOND, 0 },
		{ SECOND, SECOND + MS, SECOND, 0 },                /* it was corrected */
		{ SECOND + MS, SECOND, SECOND + 2 * MS, 0 },       /* likewise */
		{ SECOND, SECOND + 1, SECOND + 5ull * SECOND, 0 }, /* we were stopped */
		{ 9ull * SECOND, SECOND, 9ull * SECOND + 200, 8ll * SECOND + 100 },
		{ SECOND, 9ull * SECOND, SECOND + 200, -8ll * SECOND + 100 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_int_eq(rti_program_clock_offset_ns(cases[i].before_ns, cases[i].kernel_ns,
		                                             cases[i].after_ns),
		                 cases[i].offset_ns);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("program");
	TCase *tcase = suite_case(suite, "program");

	tcase_add_test(tcase, iterator_that_the_kernel_refuses_has_its_error);
	tcase_add_loop_test(tcase, iterator_that_makes_a_pause_is_read_on, 0,
	                    sizeof(iterations) / sizeof(iterations[0]));
	tcase_add_test(tcase, program_is_loaded_again_a_few_times);
	tcase_add_loop_test(tcase, error_says_whether_rights_or_the_kernel_are_missing, 0,
	                    sizeof(errors) / sizeof(errors[0]));
	tcase_add_test(tcase, offset_of_a_clock_is_that_of_a_time_namespace_alone);
	return suite_run(suite);
}
