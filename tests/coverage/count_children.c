/* SPDX-License-Identifier: MIT */
/* Linked into each program and library of a build that counts lines: see run.sh. gcov writes the
 * counts of a process when it exits, so it loses those of a child that ends by _exit(2) or executes
 * a program by syscall(2). Here such a child writes them first. */
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One write takes milliseconds, and some tests fork thousands of times. */
#define WRITES_MAX 200

/* Of libgcov. */
void __gcov_dump(void);
void __gcov_reset(void);

/* The linker calls these instead of the functions in their names. A test may have its own. */
void __real__exit(int status) __attribute__((noreturn));
long __real_syscall(long number, ...);
void __wrap__exit(int status) __attribute__((noreturn, weak));
long __wrap_syscall(long number, ...) __attribute__((weak));

/* In memory that a process shares with those that it forks. */
static int *writes;

__attribute__((constructor)) static void share_writes(void)
{
	writes =
	    mmap(NULL, sizeof(*writes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void write_counts(void)
{
	if (writes == MAP_FAILED || __atomic_add_fetch(writes, 1, __ATOMIC_SEQ_CST) > WRITES_MAX)
		return;
	__gcov_dump();
	__gcov_reset();
}

void __wrap__exit(int status)
{
	write_counts();
	__real__exit(status);
}

/* It passes on all arguments that there can be, as libc does. */
long __wrap_syscall(long number, ...)
{
	va_list arguments;
	long argument[6];

	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(arguments, long);
	va_end(arguments);
	if (number == SYS_execve)
		write_counts();
	return __real_syscall(number, argument[0], argument[1], argument[2], argument[3],
	                      argument[4], argument[5]);
}
