/* SPDX-License-Identifier: MIT */
#include "bpf/fake_programs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/program.h"
#include "suite.h"

struct fake_programs fake_programs;

int rti_program_run(int program_fd)
{
	fake_programs.runs++;
	if (fake_programs.on_run)
		fake_programs.on_run(program_fd);
	return fake_programs.run_error;
}

int rti_program_iterate(int link_fd)
{
	fake_programs.iterations++;
	if (fake_programs.on_iterate)
		fake_programs.on_iterate(link_fd);
	return fake_programs.iterate_error;
}

int rti_program_open(void **out, size_t bytes, int (*begin)(void *state, const void *request),
                     const void *request, void (*close)(void *state))
{
	void *state = calloc(1, bytes);
	int err;

	ck_assert_ptr_nonnull(state);
	err = begin(state, request);
	if (err < 0)
		close(state);
	else
		*out = state;
	return err;
}

bool rti_program_is_interrupted(int err, int loads)
{
	(void)err;
	(void)loads;
	return false;
}

int rti_program_error(int err)
{
	return err;
}

uint64_t rti_program_clock_ns(clockid_t id)
{
	(void)id;
	return 0;
}

int64_t rti_program_clock_offset_ns(uint64_t before_ns, uint64_t kernel_ns, uint64_t after_ns)
{
	(void)before_ns;
	(void)after_ns;
	return -(int64_t)kernel_ns;
}

int fake_map(size_t bytes)
{
	int fd = memfd_create("map", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
	return fd;
}

int fake_programs_use_in_child(int (*use)(void *state), void *state)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(use(state));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}
