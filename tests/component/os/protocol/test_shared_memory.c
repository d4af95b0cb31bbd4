/* SPDX-License-Identifier: MIT */
/* Memory that is shared with a program of the library. */
#include "os/protocol/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "suite.h"

#define BYTES ((size_t)1 << 20)

static int interruptions; /* how often fallocate(2) is to fail */

/* In place of that of the C library. */
int fallocate(int fd, int mode, off_t offset, off_t length)
{
	if (interruptions == 0)
		return (int)syscall(SYS_fallocate, fd, mode, offset, length);
	interruptions--;
	errno = EINTR;
	return -1;
}

static void release(void *memory, size_t bytes, int fd)
{
	munmap(memory, bytes);
	close(fd);
}

START_TEST(memory_is_all_zero_and_its_descriptor_close_on_exec)
{
	const unsigned char *bytes;
	unsigned sum = 0;
	void *memory;
	int fd;

	ck_assert_int_eq(rti_shared_memory_new(BYTES, &memory, &fd), 0);

	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	bytes = memory;
	for (size_t i = 0; i < BYTES; i++)
		sum += bytes[i];
	ck_assert_uint_eq(sum, 0);
	release(memory, BYTES, fd);
}
END_TEST

/* If it ran out later, a write would be a SIGBUS. */
START_TEST(memory_is_allocated_at_once)
{
	struct stat file;
	void *memory;
	int fd;

	ck_assert_int_eq(rti_shared_memory_new(BYTES, &memory, &fd), 0);

	ck_assert_int_eq(fstat(fd, &file), 0);
	ck_assert_int_eq(file.st_size, (off_t)BYTES);
	ck_assert_int_ge(file.st_blocks * 512, (off_t)BYTES);
	release(memory, BYTES, fd);
}
END_TEST

START_TEST(memory_is_shared_by_its_descriptor)
{
	char *memory, *other;
	void *mapped;
	int fd;

	ck_assert_int_eq(rti_shared_memory_new(BYTES, &mapped, &fd), 0);
	memory = mapped;
	other = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(other, MAP_FAILED);

	memory[BYTES - 1] = 'a';
	other[0] = 'b';

	ck_assert_int_eq(other[BYTES - 1], 'a');
	ck_assert_int_eq(memory[0], 'b');
	munmap(other, BYTES);
	release(memory, BYTES, fd);
}
END_TEST

/* The signal would end the host. */
START_TEST(memory_above_the_limit_of_files_is_refused_without_a_signal)
{
	const struct rlimit limit = { .rlim_cur = BYTES - 1, .rlim_max = RLIM_INFINITY };
	const struct rlimit enough = { .rlim_cur = BYTES, .rlim_max = RLIM_INFINITY };
	void *memory = NULL;
	int fd = 0;

	if (setrlimit(RLIMIT_FSIZE, &limit) < 0) {
		suite_skip_test("the limit of files is lower here");
		return;
	}
	ck_assert_int_eq(rti_shared_memory_new(BYTES, &memory, &fd), -EOPNOTSUPP);
	ck_assert_int_eq(fd, -1);
	ck_assert_ptr_null(memory);

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &enough), 0);
	ck_assert_int_eq(rti_shared_memory_new(BYTES, &memory, &fd), 0);
	release(memory, BYTES, fd);
}
END_TEST

static const struct {
	int error;    /* of memfd_create(2), by a seccomp filter */
	int expected; /* of rti_shared_memory_new() */
} refusals[] = {
	{ ENOSYS, -EOPNOTSUPP },
	{ EPERM, -EOPNOTSUPP },
	{ EACCES, -EOPNOTSUPP },
	{ EMFILE, -EMFILE },
};

static int refuse_memfd(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

START_TEST(memory_that_cannot_be_had_is_not_supported)
{
	void *memory = NULL;
	int fd = 0;

	if (refuse_memfd(refusals[_i].error) < 0) {
		suite_skip_test("no seccomp filter may be set here");
		return;
	}
	ck_assert_int_eq(rti_shared_memory_new(BYTES, &memory, &fd), refusals[_i].expected);
	ck_assert_int_eq(fd, -1);
	ck_assert_ptr_null(memory);
}
END_TEST

START_TEST(memory_of_no_size_is_an_error)
{
	void *memory = NULL;
	int fd = -1;

	ck_assert_int_eq(rti_shared_memory_new(0, &memory, &fd), -EINVAL);
	ck_assert_int_ge(fd, 0); /* which the caller closes */
	close(fd);
}
END_TEST

/* A host may have closed its standard input. */
START_TEST(memory_may_have_descriptor_0)
{
	int saved = fcntl(0, F_DUPFD_CLOEXEC, 3), fd = -1, err;
	void *memory = NULL;

	close(0);
	err = rti_shared_memory_new(BYTES, &memory, &fd);
	if (saved >= 0) {
		dup2(saved, 0);
		close(saved);
	}
	ck_assert_int_eq(err, 0);
	ck_assert_int_eq(fd, 0);
	ck_assert_ptr_nonnull(memory);
	munmap(memory, BYTES);
}
END_TEST

/* Kernels before 6.18 undo an allocation that a signal interrupts. */
START_TEST(signals_do_not_interrupt_the_allocation)
{
	void *memory;
	int fd;

	interruptions = 3;
	ck_assert_int_eq(rti_shared_memory_new(BYTES, &memory, &fd), 0);
	ck_assert_int_eq(interruptions, 0);
	release(memory, BYTES, fd);
}
END_TEST

/* A process of the same user can open it by /proc/PID/fd. */
START_TEST(memory_cannot_be_made_smaller)
{
	void *memory;
	int fd;

	ck_assert_int_eq(rti_shared_memory_new(BYTES, &memory, &fd), 0);
	ck_assert_int_eq(ftruncate(fd, 1), -1);
	ck_assert_int_eq(errno, EPERM);
	release(memory, BYTES, fd);
}
END_TEST

START_TEST(protected_memory_can_be_written_by_its_mapping_alone)
{
	void *memory, *other;
	int fd;

	ck_assert_int_eq(rti_shared_memory_new(BYTES, &memory, &fd), 0);
	rti_shared_memory_protect(fd);
	if (!(fcntl(fd, F_GET_SEALS) & F_SEAL_FUTURE_WRITE))
		suite_skip_test("this kernel has no such seal (before Linux 5.1)");
	other = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_eq(other, MAP_FAILED);
	ck_assert_int_eq(pwrite(fd, "x", 1, 0), -1);
	((char *)memory)[0] = 'y';
	ck_assert_int_eq(fallocate(fd, 0, BYTES, BYTES), 0);
	other = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(other, MAP_FAILED);
	ck_assert_int_eq(((char *)other)[0], 'y');
	munmap(other, BYTES);
	release(memory, BYTES, fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("shared_memory");
	TCase *tests = suite_case(suite, "shared_memory");

	tcase_add_test(tests, memory_may_have_descriptor_0);
	tcase_add_test(tests, memory_is_all_zero_and_its_descriptor_close_on_exec);
	tcase_add_test(tests, memory_is_allocated_at_once);
	tcase_add_test(tests, memory_is_shared_by_its_descriptor);
	tcase_add_test(tests, memory_above_the_limit_of_files_is_refused_without_a_signal);
	tcase_add_loop_test(tests, memory_that_cannot_be_had_is_not_supported, 0,
	                    sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(tests, memory_of_no_size_is_an_error);
	tcase_add_test(tests, memory_cannot_be_made_smaller);
	tcase_add_test(tests, protected_memory_can_be_written_by_its_mapping_alone);
	tcase_add_test(tests, signals_do_not_interrupt_the_allocation);
	return suite_run(suite);
}
