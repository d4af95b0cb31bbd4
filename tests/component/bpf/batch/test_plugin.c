/* SPDX-License-Identifier: MIT */
/* The plug-in's part that reads many processes, on a program of the test's own: for which CPUs it
 * has the program add up what each of them keeps to itself. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "batch.skel.h"
#include "bpf/fake_programs.h"
#include "suite.h"

#define CPUS_FILE "/sys/devices/system/cpu/possible"

extern const struct rti_batch_ops rti_bpf_batch;

static struct {
	const char *possible; /* text of the file; NULL: there is none */
	uint32_t cpus;        /* that the program has found */
	int lacks_memory;     /* of the program */
	struct rti_bpf program;
	struct rti_bpf__bss shared;
	int destroys;
} fake;

/* The linker calls this instead of the function in its name. */
FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	if (strcmp(path, CPUS_FILE) != 0)
		return __real_fopen64(path, mode);
	if (!fake.possible)
		return NULL;
	if (!*fake.possible)
		return __real_fopen64("/dev/null", mode);
	return fmemopen((void *)fake.possible, strlen(fake.possible), "r");
}

struct rti_bpf *rti_bpf__open(void)
{
	return &fake.program;
}

int rti_bpf__load(struct rti_bpf *program)
{
	program->bss = fake.lacks_memory ? NULL : &fake.shared;
	return 0;
}

void rti_bpf__destroy(struct rti_bpf *program)
{
	fake.destroys += program != NULL;
}

static void find_cpus(int program_fd)
{
	(void)program_fd;
	fake.shared.cpus = fake.cpus;
}

static const struct {
	const char *possible;
	uint32_t found, used;
} systems[] = {
	{ "0-3\n", 4, 4 },
	{ "0\n", 1, 1 },
	{ "0-63\n", 64, 64 },
	{ "0-64\n", 65, 0 },
	/* The program has found what is none of them, or not all of them. */
	{ "0-3\n", 8, 0 },
	{ "0-7\n", 4, 0 },
	/* With a gap. */
	{ "1-3\n", 4, 0 },
	{ "3\n", 4, 0 },
	{ "0-1,4-5\n", 2, 0 },
	{ "0,2\n", 1, 0 },
	/* A text that is cut, or none. */
	{ "0-3", 4, 0 },
	{ "none\n", 1, 0 },
	{ "", 1, 0 },
	{ NULL, 1, 0 },
};

START_TEST(cpus_are_added_up_only_if_there_are_those_and_no_others)
{
	void *reader;

	fake.possible = systems[_i].possible;
	fake.cpus = systems[_i].found;
	fake_programs.on_run = find_cpus;
	ck_assert_int_eq(rti_bpf_batch.open(&reader), 0);
	ck_assert_uint_eq(fake.shared.cpus, systems[_i].used);
	rti_bpf_batch.close(reader);
}
END_TEST

START_TEST(program_that_cannot_begin_leaves_nothing)
{
	void *reader = NULL;

	fake.possible = "0\n";
	fake.lacks_memory = _i == 0;
	fake_programs.run_error = -EPERM;
	ck_assert_int_eq(rti_bpf_batch.open(&reader), _i == 0 ? -ENOMEM : -EPERM);
	ck_assert_ptr_null(reader);
	ck_assert_int_eq(fake.destroys, 1);
}
END_TEST

START_TEST(read_that_the_kernel_refuses_writes_no_row)
{
	const struct rti_batch_request request = { .pid = 1 };
	struct rti_batch_row row = { .error = 77 };
	void *reader;

	fake.possible = "0\n";
	ck_assert_int_eq(rti_bpf_batch.open(&reader), 0);
	fake_programs.run_error = -EPERM;
	ck_assert_int_eq(rti_bpf_batch.read(reader, &request, 1, &row), -EPERM);
	ck_assert_int_eq(row.error, 77);
	rti_bpf_batch.close(reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plugin");
	TCase *tests = suite_case(suite, "batch reader");

	tcase_add_loop_test(tests, cpus_are_added_up_only_if_there_are_those_and_no_others, 0,
	                    sizeof(systems) / sizeof(systems[0]));
	tcase_add_loop_test(tests, program_that_cannot_begin_leaves_nothing, 0, 2);
	tcase_add_test(tests, read_that_the_kernel_refuses_writes_no_row);
	return suite_run(suite);
}
