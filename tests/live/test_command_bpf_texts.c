/* SPDX-License-Identifier: MIT */
/* The command lines and working directories that RT_ACCOUNTING_BPF lists, against what each process
 * reads of itself in /proc. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "commands.h"
#include "refusals.h"
#include "suite.h"

#define TRIES 50
#define CHILDREN 500
#define AT_A_TIME 20
#define FORKS_EACH 5 /* each such child forks another one, which executes nothing */
#define PROCESSES (1 + CHILDREN + CHILDREN / FORKS_EACH)
#define COMMAND_MAX 16384 /* of the list */
#define LINE_MAX_BYTES 40960
#define FAILED 99

/* What a process says of itself, by one write to the log. */
struct said {
	int32_t pid;
	uint32_t command_bytes, cwd_bytes;
	char texts[LINE_MAX_BYTES + 4096];
};

static const struct rt_command_opts with_bpf = { .accounting = RT_ACCOUNTING_BPF,
	                                         .flags = RT_COMMAND_LIST_PROCESSES };

/* The programs of this test: this file executes itself. */
static void say(int log)
{
	static struct said said;
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t got = read(fd, said.texts, LINE_MAX_BYTES), cwd_bytes;
	size_t bytes;

	if (got <= 0)
		_exit(FAILED);
	close(fd);
	cwd_bytes = readlink("/proc/self/cwd", said.texts + got, 4096);
	if (cwd_bytes <= 0)
		_exit(FAILED);
	said.pid = getpid();
	said.command_bytes = (uint32_t)got - 1; /* NUL */
	said.cwd_bytes = (uint32_t)cwd_bytes;
	bytes = offsetof(struct said, texts) + (size_t)(got + cwd_bytes);
	if (write(log, &said, bytes) != (ssize_t)bytes)
		_exit(FAILED);
}

static int say_and_fork(const char *log_path, int number)
{
	int log = open(log_path, O_WRONLY | O_APPEND | O_CLOEXEC);
	pid_t pid;

	say(log);
	if (number % FORKS_EACH)
		return 0;
	pid = fork();
	if (pid == 0) {
		say(log);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, NULL, 0) == pid ? 0 : FAILED;
}

/* Command lines of all lengths: two are about as long as is kept, one is longer. */
static size_t argument_bytes(int number)
{
	switch (number) {
	case 0:
		return 2 * COMMAND_MAX;
	case 1:
		return COMMAND_MAX - 20;
	default:
		return (size_t)number;
	}
}

/* Go to a directory of its own, to a removed one, or to others. */
static void enter_directory(int number, const char *tmp)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%d", tmp, number);
	if (number % 4 == 0 && (chdir("/") < 0))
		_exit(FAILED);
	if (number % 4 == 1 && chdir("/proc/self") < 0)
		_exit(FAILED);
	if (number % 4 >= 2 && (mkdir(path, 0700) < 0 || chdir(path) < 0))
		_exit(FAILED);
	if (number % 4 == 3 && rmdir(path) < 0)
		_exit(FAILED);
}

static void execute_self(int number, const char *self, const char *tmp, const char *log)
{
	static char argument[2 * COMMAND_MAX + 1];
	char text[16];

	enter_directory(number, tmp);
	snprintf(text, sizeof(text), "%d", number);
	memset(argument, 'a' + number % 26, argument_bytes(number));
	execl(self, self, "says", log, text, "", argument, (char *)NULL);
	_exit(FAILED);
}

static bool reap_one(void)
{
	int status;

	return wait(&status) > 0 && status == 0;
}

/* Returns 0 if all children have said what they are. */
static int run_children(const char *self, const char *tmp, const char *log)
{
	bool is_fine = true;

	say(open(log, O_WRONLY | O_APPEND | O_CLOEXEC));
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid == 0)
			execute_self(i, self, tmp, log);
		if (pid < 0)
			return FAILED;
		if (i >= AT_A_TIME)
			is_fine = reap_one() && is_fine;
	}
	for (int i = 0; i < AT_A_TIME; i++)
		is_fine = reap_one() && is_fine;
	return is_fine ? 0 : FAILED;
}

/* Where a command runs, and what its processes have said. */
struct place {
	char tmp[32], log[64];
};

static void make_place(struct place *place)
{
	int fd;

	strcpy(place->tmp, "/tmp/rtrack-texts-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place->tmp));
	snprintf(place->log, sizeof(place->log), "%s/log", place->tmp);
	fd = open(place->log, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void remove_place(const struct place *place)
{
	char path[4096];

	for (int i = 0; i < CHILDREN; i++) {
		snprintf(path, sizeof(path), "%s/%d", place->tmp, i);
		rmdir(path);
	}
	ck_assert_int_eq(unlink(place->log), 0);
	ck_assert_int_eq(rmdir(place->tmp), 0);
}

/* The caller frees the command and removes the place. */
static struct rt_command *run_in_place(struct place *place)
{
	char self[4096] = "";
	const char *argv[] = { self, "drives", place->tmp, place->log, NULL };

	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	for (int tries = 0; tries < TRIES; tries++) {
		struct rt_command *command;
		struct rt_outcome outcome;

		make_place(place);
		ck_assert_int_eq(start_command(&command, with_bpf, argv), 0);
		outcome = finish_command(command);
		ck_assert_int_eq(outcome.exit_code, 0);
		if (!(outcome.reasons & RT_REASON_EVENTS_LOST))
			return command;
		rt_command_free(command);
		remove_place(place);
	}
	ck_abort_msg("each time events were lost");
}

static bool read_said(FILE *file, struct said *said)
{
	const size_t head = offsetof(struct said, texts);
	size_t bytes;

	if (fread(said, head, 1, file) != 1)
		return false;
	bytes = said->command_bytes + 1 + said->cwd_bytes;
	ck_assert_uint_le(bytes, sizeof(said->texts));
	ck_assert_uint_eq(fread(said->texts, 1, bytes, file), bytes);
	return true;
}

/* Find the row of a process, and leave it out of later searches. A pid may be used again, and
 * processes with one pid speak in the order in which they start. */
static size_t take_row(struct rt_command_process *rows, size_t count, int32_t pid)
{
	size_t found = count;

	for (size_t i = 0; i < count; i++) {
		if (rows[i].pid == pid &&
		    (found == count || rows[i].start_realtime_ns < rows[found].start_realtime_ns))
			found = i;
	}
	ck_assert_uint_lt(found, count);
	rows[found].pid = 0;
	return found;
}

static void check_text(struct rt_command *command, size_t row, uint32_t text, const char *expected,
                       size_t length)
{
	static char listed[LINE_MAX_BYTES];
	size_t listed_bytes = sizeof(listed);

	ck_assert_int_eq(rt_command_process_text(command, row, text, listed, &listed_bytes), 0);
	ck_assert_uint_eq(listed_bytes, length);
	ck_assert_mem_eq(listed, expected, length);
}

static void check_said(struct rt_command *command, struct rt_command_process *rows,
                       const struct said *said)
{
	const bool is_cut = said->command_bytes > COMMAND_MAX;
	size_t row = take_row(rows, PROCESSES, said->pid);

	ck_assert_uint_eq(rows[row].flags & RT_PROCESS_CUT, is_cut ? RT_PROCESS_CUT : 0);
	check_text(command, row, RT_TEXT_COMMAND_LINE, said->texts,
	           is_cut ? COMMAND_MAX : said->command_bytes);
	check_text(command, row, RT_TEXT_CWD, said->texts + said->command_bytes + 1,
	           said->cwd_bytes);
}

START_TEST(each_process_is_listed_with_what_it_reads_of_itself)
{
	static struct rt_command_process rows[PROCESSES + 1];
	static struct said said;
	size_t count = PROCESSES + 1, forked_only = 0;
	struct place place;
	struct rt_command *command = run_in_place(&place);
	FILE *file = fopen(place.log, "re");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(rt_command_processes(command, rows, sizeof(rows[0]), &count), 0);
	ck_assert_uint_eq(count, PROCESSES);
	for (size_t i = 0; i < PROCESSES; i++) {
		forked_only += (rows[i].flags & RT_PROCESS_NO_EXEC) != 0;
		ck_assert(read_said(file, &said));
		check_said(command, rows, &said);
	}
	ck_assert_uint_eq(forked_only, CHILDREN / FORKS_EACH);
	ck_assert(!read_said(file, &said));
	fclose(file);
	rt_command_free(command);
	remove_place(&place);
}
END_TEST

START_TEST(process_that_is_left_running_has_its_command_line)
{
	/* Some shells replace themselves by the last program, but not by exit. */
	const char *argv[] = { "sh", "-c", "cd /usr; sleep 1000 & sleep 0.1; exit 0", NULL };
	struct rt_command_process rows[3];
	struct rt_command *command;
	struct rt_outcome outcome;
	static const char words[] = { "sleep\0"
		                      "1000" };
	size_t count = 3, running = 0;

	ck_assert_int_eq(start_command(&command, with_bpf, argv), 0);
	outcome = finish_command(command);
	ck_assert_uint_eq(outcome.left_running, 1);
	ck_assert_int_eq(rt_command_processes(command, rows, sizeof(rows[0]), &count), 0);
	ck_assert_uint_eq(count, 3);
	for (size_t i = 0; i < count; i++) {
		if (!(rows[i].flags & RT_PROCESS_RUNNING))
			continue;
		running++;
		ck_assert_uint_eq(rows[i].flags, RT_PROCESS_RUNNING);
		ck_assert_int_eq(rows[i].exit_code, -1);
		ck_assert_str_eq(rows[i].comm, "sleep");
		check_text(command, i, RT_TEXT_COMMAND_LINE, words, sizeof(words) - 1);
		check_text(command, i, RT_TEXT_CWD, "/usr", 4);
	}
	ck_assert_uint_eq(running, 1);
	ck_assert_int_eq(rt_command_kill(command), 0);
	rt_command_free(command);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite;
	TCase *texts;

	if (argc > 3 && strcmp(argv[1], "says") == 0)
		_exit(say_and_fork(argv[2], atoi(argv[3])));
	if (argc > 3)
		_exit(run_children(argv[0], argv[2], argv[3]));
	if (!IS_BUILT)
		return suite_skip("the BPF plug-in was not built");
	if (!has_bpf_accounting())
		return suite_skip("BPF programs cannot account for processes here");
	suite = suite_create("command_bpf_texts");
	texts = suite_case(suite, "texts");
	tcase_add_test(texts, each_process_is_listed_with_what_it_reads_of_itself);
	tcase_add_test(texts, process_that_is_left_running_has_its_command_line);
	return suite_run(suite);
}
