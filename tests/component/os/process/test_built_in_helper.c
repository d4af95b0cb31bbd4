/* SPDX-License-Identifier: MIT */
/* Starting a program that this program contains: it becomes a file in memory that none can change.
 * What it contains, and what starting it returns, is the test's. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/built_in.h"
#include "os/origin.h"
#include "os/process/helper.h"
#include "os/process/spawn.h"
#include "suite.h"

#define PID 42
#define NAME "tool"

static const unsigned char program[] = "\177ELF and so on";

/* The linker takes this instead of that of the archive. */
const struct rti_built_in rti_built_in = { .file = program, .file_end = program + sizeof(program) };

static int starts, start_error;

int __wrap_rti_origin_open(const char *name, struct rti_origin_file *out);
int __wrap_rti_spawn(const struct rti_spawn *opts, int32_t *pid);

int __wrap_rti_origin_open(const char *name, struct rti_origin_file *out)
{
	ck_abort_msg("%s is looked for in %s", name, out->path);
	return -ENOENT;
}

int __wrap_rti_spawn(const struct rti_spawn *opts, int32_t *pid)
{
	const int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
	char path[RTI_DESCRIPTOR_PATH_MAX], content[2 * sizeof(program)];
	int fd;

	starts++;
	ck_assert_str_eq(opts->argv[0], NAME);
	ck_assert_int_eq(fcntl(opts->file->dir, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(fcntl(opts->file->dir, F_GET_SEALS) & seals, seals);
	rti_origin_descriptor_path(opts->file->dir, opts->file->name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(read(fd, content, sizeof(content)), sizeof(program));
	ck_assert_mem_eq(content, program, sizeof(program));
	ck_assert_int_eq(access(path, X_OK), 0);
	close(fd);
	*pid = PID;
	return start_error;
}

static int start(struct rti_origin_file *file)
{
	const char *argv[] = { NULL, NULL };
	struct rti_spawn opts = { .stdout_fd = -1 };
	int32_t pid = 0;
	int err = rti_helper_spawn(NAME, &opts, argv, file, &pid);

	ck_assert_int_eq(file->dir >= 0, err == 0);
	if (err == 0) {
		ck_assert_int_eq(pid, PID);
		close(file->dir);
	}
	return err;
}

START_TEST(program_is_a_sealed_file_in_memory)
{
	struct rti_origin_file file;

	ck_assert_int_eq(start(&file), 0);
	start_error = -EACCES;
	ck_assert_int_eq(start(&file), -EACCES);
	ck_assert_int_eq(starts, 2);
}
END_TEST

/* It would be killed by SIGXFSZ, and is left alone instead. */
START_TEST(program_is_missing_where_files_may_not_be_as_large)
{
	struct rlimit limit, small;
	struct rti_origin_file file;
	int err;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = sizeof(program) - 1;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	err = start(&file);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(err, -ENOENT);
	ck_assert_int_eq(starts, 0);
}
END_TEST

START_TEST(want_of_descriptors_is_no_missing_program)
{
	struct rti_origin_file file;
	struct rlimit before, none;
	int err;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ 0, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	err = start(&file);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0); /* sanitizers open files */
	ck_assert_int_eq(err, -EMFILE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("built_in_helper");
	TCase *tests = suite_case(suite, "starts");

	tcase_add_test(tests, program_is_a_sealed_file_in_memory);
	tcase_add_test(tests, program_is_missing_where_files_may_not_be_as_large);
	tcase_add_test(tests, want_of_descriptors_is_no_missing_program);
	return suite_run(suite);
}
