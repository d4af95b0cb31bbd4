/* SPDX-License-Identifier: MIT */
/* rt_pid_text(): command line and working directory of real processes. */
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "tracking.h"

#define LONG_ARGUMENT 100000

static char directory[] = "/tmp/rtrack-text-XXXXXX";

/* Runs a program that waits, in the directory. It shows up in the pipe that it has executed. */
static pid_t start_program(const char *const argv[])
{
	int ready[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		end_self_after(300);
		if (chdir(directory) < 0 || dup2(ready[1], STDOUT_FILENO) < 0)
			_exit(99);
		close(ready[0]);
		close(ready[1]);
		execv("/bin/sh", (char *const *)(uintptr_t)argv);
		_exit(98);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void end_program(pid_t pid)
{
	kill_process(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static void set_up(void)
{
	strcpy(directory, "/tmp/rtrack-text-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void tear_down(void)
{
	rmdir(directory);
}

START_TEST(texts_are_the_arguments_and_the_directory)
{
	const char *argv[] = { "sh", "-c", "echo; read line", "", "a b\n", NULL };
	static const char expected[] = "sh\0-c\0echo; read line\0\0a b\n";
	int keep[2];
	char text[256];
	size_t size = sizeof(text);
	pid_t pid;

	ck_assert_int_eq(pipe(keep), 0);
	dup2(keep[0], STDIN_FILENO); /* so that it goes on reading */
	pid = start_program(argv);
	ck_assert_int_eq(rt_pid_text(pid, RT_TEXT_COMMAND_LINE, text, &size), 0);
	ck_assert_uint_eq(size, sizeof(expected) - 1);
	ck_assert_mem_eq(text, expected, size);
	size = sizeof(text);
	ck_assert_int_eq(rt_pid_text(pid, RT_TEXT_CWD, text, &size), 0);
	ck_assert_uint_eq(size, strlen(directory));
	ck_assert_mem_eq(text, directory, size);
	end_program(pid);
}
END_TEST

START_TEST(text_without_room_has_its_length_and_is_cut)
{
	char *argument = malloc(LONG_ARGUMENT + 1), *text = malloc(2 * LONG_ARGUMENT);
	const char *argv[] = { "sh", "-c", "echo; kill -STOP $$", argument, NULL };
	size_t size = 0, whole = sizeof("sh\0-c\0echo; kill -STOP $$") + LONG_ARGUMENT;
	pid_t pid;

	memset(argument, 'x', LONG_ARGUMENT);
	argument[LONG_ARGUMENT] = '\0';
	pid = start_program(argv);
	ck_assert_int_eq(rt_pid_text(pid, RT_TEXT_COMMAND_LINE, NULL, &size), 0);
	ck_assert_uint_eq(size, whole);
	size = 4;
	memset(text, 'y', 8);
	ck_assert_int_eq(rt_pid_text(pid, RT_TEXT_COMMAND_LINE, text, &size), 0);
	ck_assert_uint_eq(size, whole);
	ck_assert_mem_eq(text, "sh\0-yyyy", 8);
	size = 2 * LONG_ARGUMENT;
	ck_assert_int_eq(rt_pid_text(pid, RT_TEXT_COMMAND_LINE, text, &size), 0);
	ck_assert_uint_eq(size, whole);
	ck_assert_mem_eq(text + whole - LONG_ARGUMENT, argument, LONG_ARGUMENT);
	end_program(pid);
	free(argument);
	free(text);
}
END_TEST

static void do_nothing(void *arg)
{
	(void)arg;
}

START_TEST(zombie_has_empty_texts)
{
	static const uint32_t texts[] = { RT_TEXT_COMMAND_LINE, RT_TEXT_CWD };
	struct child child;
	char text[64];

	child_start(&child, do_nothing, NULL);
	child_let_die(&child);
	for (int i = 0; i < 2; i++) {
		size_t size = sizeof(text);

		ck_assert_int_eq(rt_pid_text(child.pid, texts[i], text, &size), 0);
		ck_assert_uint_eq(size, 0);
	}
	child_end(&child);
}
END_TEST

START_TEST(reaped_process_has_no_text)
{
	struct child child;
	size_t size = 0;

	child_start(&child, do_nothing, NULL);
	child_end(&child);
	ck_assert_int_eq(rt_pid_text(child.pid, RT_TEXT_COMMAND_LINE, NULL, &size), -ESRCH);
	ck_assert_int_eq(rt_pid_text(child.pid, RT_TEXT_CWD, NULL, &size), -ESRCH);
}
END_TEST

static void become_another(void *arg)
{
	(void)arg;
	/* Group 0 sees all, whatever hidepid says. */
	if (setgroups(0, NULL) < 0 || setgid(65534) < 0 || setuid(65534) < 0)
		_exit(99);
}

static void look_at_parent(void *arg)
{
	int *result = arg;
	size_t size = 0;

	become_another(NULL);
	*result = rt_pid_text(getppid(), RT_TEXT_CWD, NULL, &size);
}

START_TEST(directory_of_another_user_is_eacces)
{
	int *result = map_shared(sizeof(*result));
	struct child child;

	if (geteuid() != 0) {
		suite_skip_test("only root can become another user");
		return;
	}
	child_start(&child, look_at_parent, result);
	ck_assert_int_eq(*result, -EACCES);
	child_end(&child);
}
END_TEST

struct hidden {
	const char *option;
	int error[2]; /* of both texts; 1: /proc cannot hide processes here */
};

static void look_at_hidden_parent(void *arg)
{
	struct hidden *hidden = arg;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, hidden->option) < 0)
		return;
	become_another(NULL);
	for (uint32_t i = 0; i < 2; i++) {
		size_t size = 0;

		hidden->error[i] = rt_pid_text(getppid(), RT_TEXT_COMMAND_LINE + i, NULL, &size);
	}
}

static const char *const hiding[] = { "hidepid=1", "hidepid=2" };

START_TEST(process_that_proc_hides_is_eacces)
{
	struct hidden *hidden = map_shared(sizeof(*hidden));
	struct child child;

	*hidden = (struct hidden){ hiding[_i], { 1, 1 } };
	child_start(&child, look_at_hidden_parent, hidden);
	child_end(&child);
	if (hidden->error[0] == 1) {
		suite_skip_test("no proc file system may be mounted here");
		return;
	}
	ck_assert_int_eq(hidden->error[0], -EACCES);
	ck_assert_int_eq(hidden->error[1], -EACCES);
}
END_TEST

static void *look_at_own_thread(void *arg)
{
	size_t size = 0;

	*(int *)arg = rt_pid_text((int32_t)syscall(SYS_gettid), RT_TEXT_COMMAND_LINE, NULL, &size);
	return NULL;
}

START_TEST(thread_is_no_process)
{
	pthread_t thread;
	int err = 0;

	ck_assert_int_eq(pthread_create(&thread, NULL, look_at_own_thread, &err), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(err, -ESRCH);
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
	size_t size = 1;
	char text;

	ck_assert_int_eq(rt_pid_text(getpid(), RT_TEXT_CWD, &text, NULL), -EFAULT);
	ck_assert_int_eq(rt_pid_text(getpid(), RT_TEXT_CWD, NULL, &size), -EFAULT);
	ck_assert_int_eq(rt_pid_text(0, RT_TEXT_CWD, &text, &size), -EINVAL);
	ck_assert_int_eq(rt_pid_text(-1, RT_TEXT_CWD, &text, &size), -EINVAL);
	ck_assert_int_eq(rt_pid_text(getpid(), 0, &text, &size), -EINVAL);
	ck_assert_int_eq(rt_pid_text(getpid(), 3, &text, &size), -EINVAL);
	ck_assert_uint_eq(size, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pid_text");
	TCase *texts = suite_case(suite, "texts");

	tcase_add_checked_fixture(texts, set_up, tear_down);
	tcase_add_test(texts, texts_are_the_arguments_and_the_directory);
	tcase_add_test(texts, text_without_room_has_its_length_and_is_cut);
	tcase_add_test(texts, zombie_has_empty_texts);
	tcase_add_test(texts, reaped_process_has_no_text);
	tcase_add_test(texts, directory_of_another_user_is_eacces);
	tcase_add_loop_test(texts, process_that_proc_hides_is_eacces, 0, 2);
	tcase_add_test(texts, thread_is_no_process);
	tcase_add_test(texts, bad_arguments_are_refused);
	return suite_run(suite);
}
