/* SPDX-License-Identifier: MIT */
/* The texts that are kept of this process, against its own files. */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "suite.h"
#include "supervisor/process_text.h"

#define DEPTH 15
#define CHANGES_MAX 1000
#define WHOLE_BYTES (RTI_TEXT_OFFSET + RTI_TEXT_BYTES_MAX)

static struct rti_shared_stats *shared;
static int memory = -1;

static void set_up(void)
{
	memory = memfd_create("stats", MFD_CLOEXEC | MFD_ALLOW_SEALING);
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

START_TEST(zombie_has_no_texts)
{
	struct rti_process_record record = { .command = { 1, 2 }, .cwd = { 3, 4 } };
	siginfo_t info;

	record.pid = fork();
	ck_assert_int_ge(record.pid, 0);
	if (record.pid == 0)
		_exit(0);
	ck_assert_int_eq(waitid(P_PID, (id_t)record.pid, &info, WEXITED | WNOWAIT), 0);
	rts_process_text_read(&record);
	ck_assert_int_eq(waitpid(record.pid, NULL, 0), record.pid);
	ck_assert_uint_eq(record.command.len, 0);
	ck_assert_uint_eq(record.cwd.len, 0);
	ck_assert_uint_eq(record.flags, 0);
}
END_TEST

static char long_name[201];

/* Make directories with long names, and go to the last. */
static void go_deep(const struct fixture *root)
{
	memset(long_name, 'd', sizeof(long_name) - 1);
	ck_assert_int_eq(chdir(root->root), 0);
	for (int i = 0; i < DEPTH; i++) {
		ck_assert_int_eq(mkdir(long_name, 0700), 0);
		ck_assert_int_eq(chdir(long_name), 0);
	}
}

/* The memory cannot grow after the first texts. The command is kept, as it does not change. */
START_TEST(directory_that_finds_no_room_is_skipped)
{
	struct rti_process_record record = { .pid = getpid() };
	struct rti_record_text command;
	struct fixture root;

	fixture_new(&root);
	rts_process_text_read(&record);
	command = record.command;
	ck_assert_int_eq(fcntl(memory, F_ADD_SEALS, F_SEAL_GROW), 0);
	go_deep(&root);
	for (int i = 0; i < CHANGES_MAX && !record.flags; i++) {
		rts_process_text_read(&record);
		ck_assert_int_eq(chdir(i % 2 ? long_name : ".."), 0);
	}
	fixture_free(&root);
	ck_assert_uint_eq(record.flags, RTI_RECORD_TEXT_SKIPPED);
	ck_assert_uint_eq(record.cwd.len, 0);
	ck_assert_mem_eq(&record.command, &command, sizeof(command));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("process_text");
	TCase *tcase = suite_case(suite, "process_text");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, command_is_kept_without_the_end_of_the_last_argument);
	tcase_add_test(tcase, directory_that_finds_no_room_is_skipped);
	tcase_add_test(tcase, zombie_has_no_texts);
	return suite_run(suite);
}
