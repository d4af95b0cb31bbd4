/* SPDX-License-Identifier: MIT */
/* The texts that are kept of this process, against its own files. */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "suite.h"
#include "supervisor/process_text.h"

#define WHOLE_BYTES (RTI_TEXT_OFFSET + RTI_TEXT_BYTES_MAX)

static struct rti_shared_stats *shared;
static int memory = -1;

static void set_up(void)
{
	memory = memfd_create("stats", MFD_CLOEXEC);
	ck_assert_int_ge(memory, 0);
	ck_assert_int_eq(ftruncate(memory, RTI_SHARED_STATS_BYTES), 0);
	shared = mmap(NULL, WHOLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	rts_process_text_begin(shared, &memory);
}

static void tear_down(void)
{
	munmap(shared, WHOLE_BYTES);
	close(memory);
}

static void check_text(const struct rti_record_text *text, const char *expected, size_t len)
{
	ck_assert_uint_eq(text->len, len);
	ck_assert_mem_eq((const char *)shared + RTI_TEXT_OFFSET + text->at, expected, len);
}

/* The file ends in NUL, which ends the last argument. */
START_TEST(command_is_kept_without_the_end_of_the_last_argument)
{
	struct rti_process_record record = { .pid = getpid() };
	char command[RTI_COMMAND_LINE_MAX], cwd[PATH_MAX];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t len = read(fd, command, sizeof(command));

	ck_assert_int_gt(len, 1);
	ck_assert_int_lt(len, RTI_COMMAND_LINE_MAX);
	ck_assert_int_eq(command[len - 1], '\0');
	close(fd);
	ck_assert_ptr_nonnull(getcwd(cwd, sizeof(cwd)));

	rts_process_text_read(&record);

	check_text(&record.command, command, (size_t)len - 1);
	check_text(&record.cwd, cwd, strlen(cwd));
	ck_assert_uint_eq(record.flags, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("process_text");
	TCase *tcase = suite_case(suite, "process_text");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, command_is_kept_without_the_end_of_the_last_argument);
	return suite_run(suite);
}
