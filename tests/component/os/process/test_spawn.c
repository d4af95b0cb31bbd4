/* SPDX-License-Identifier: MIT */
/* Starting programs, and reading their output with a time limit. */
#include "os/process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "fixture.h"
#include "os/origin.h"
#include "os/procfs.h"
#include "suite.h"

#define SECOND_NS UINT64_C(1000000000)
#define SH(text)                                                                                   \
	(const char *const[])                                                                      \
	{                                                                                          \
		"/bin/sh", "-c", text, NULL                                                        \
	}

static struct rti_buf out;

static void tear_down(void)
{
	rti_buf_free(&out);
}

static int run(const struct rti_spawn *how)
{
	return rti_spawn_output(how, 20 * SECOND_NS, &out);
}

static int wait_for_status(int32_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

START_TEST(program_that_exits_yields_pid_and_exit_code)
{
	struct rti_spawn how = { .argv = SH("exit 7"), .stdout_fd = -1 };
	int32_t pid = 0;
	int status;

	ck_assert_int_eq(rti_spawn(&how, &pid), 0);
	ck_assert_int_gt(pid, 0);
	status = wait_for_status(pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 7);
}
END_TEST

START_TEST(program_that_cannot_start_returns_the_error)
{
	struct fixture f;
	char path[256];
	struct rti_spawn how = { .argv = (const char *const[]){ "/none/such", NULL },
		                 .stdout_fd = -1 };
	int32_t pid;

	ck_assert_int_eq(rti_spawn(&how, &pid), -ENOENT);
	how.argv = (const char *const[]){ "/etc", NULL };
	ck_assert_int_eq(rti_spawn(&how, &pid), -EACCES);

	/* an unreadable directory in PATH would yield -EACCES */
	setenv("PATH", "/usr/bin:/bin", 1);
	how.argv = (const char *const[]){ "no-such-program-in-any-path", NULL };
	how.use_path = true;
	ck_assert_int_eq(rti_spawn(&how, &pid), -ENOENT);

	how.use_path = false;
	fixture_new(&f);
	fixture_write(&f, "notes", "just text\n");
	snprintf(path, sizeof(path), "%s/notes", f.root);
	ck_assert_int_eq(chmod(path, 0755), 0);

	how.argv = (const char *const[]){ path, NULL };
	ck_assert_int_eq(rti_spawn(&how, &pid), -ENOEXEC);

	how.argv = SH("exit 0");
	how.cwd = "/none/such";
	ck_assert_int_eq(rti_spawn(&how, &pid), -ENOENT);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
	fixture_free(&f);
}
END_TEST

START_TEST(program_found_by_path_uses_that_of_the_caller)
{
	struct rti_spawn how = { .argv = (const char *const[]){ "sh", "-c", "echo $PATH", NULL },
		                 .envp = (const char *const[]){ "PATH=/none", NULL },
		                 .use_path = true,
		                 .stdout_fd = -1 };

	ck_assert_int_eq(run(&how), 0);
	ck_assert_str_eq(out.data, "/none\n");
	how.use_path = false;
	ck_assert_int_eq(run(&how), -ENOENT);
}
END_TEST

START_TEST(program_gets_the_given_directory_and_environment)
{
	struct rti_spawn how = { .argv = SH("pwd -P; echo $COLOUR"),
		                 .cwd = "/usr",
		                 .envp = (const char *const[]){ "COLOUR=blue", NULL },
		                 .stdout_fd = -1 };

	ck_assert_int_eq(run(&how), 0);
	ck_assert_str_eq(out.data, "/usr\nblue\n");

	setenv("COLOUR", "red", 1);
	how.envp = NULL;
	ck_assert_int_eq(run(&how), 0);
	ck_assert_str_eq(out.data, "/usr\nred\n");
}
END_TEST

/* A directory with a program `tool`, which is a shell. */
static struct rti_origin_file make_tool(struct fixture *f)
{
	struct rti_origin_file file = { .name = "tool" };

	fixture_new(f);
	fixture_mkdir(f, "own");
	fixture_link(f, "own/tool", "/bin/sh");
	fixture_link(f, "planted/tool", "/bin/false");
	snprintf(file.path, sizeof(file.path), "%s/own", f->root);
	file.dir = open(file.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_gt(file.dir, STDERR_FILENO);
	return file;
}

/* E.g.: a user exchanges what a path leads to after the check and before the start. */
START_TEST(program_in_an_open_directory_runs_though_its_path_leads_elsewhere)
{
	struct fixture f;
	struct rti_origin_file file = make_tool(&f);
	struct rti_spawn how = { .argv = SH("read name </proc/$$/comm; echo $name $0"),
		                 .file = &file,
		                 .stdout_fd = -1 };
	char own[256], planted[256], away[256];

	snprintf(own, sizeof(own), "%s/own", f.root);
	snprintf(planted, sizeof(planted), "%s/planted", f.root);
	snprintf(away, sizeof(away), "%s/away", f.root);
	ck_assert_int_eq(rename(own, away), 0);
	ck_assert_int_eq(rename(planted, own), 0);

	ck_assert_int_eq(run(&how), 0);
	ck_assert_str_eq(out.data, "tool /bin/sh\n"); /* its own name, and argv[0] */
	file.name = "missing";
	ck_assert_int_eq(run(&how), -ENOENT);
	close(file.dir);
	fixture_free(&f);
}
END_TEST

/* The directory is open until the exec, whatever the program gets, and no longer. */
START_TEST(program_in_an_open_directory_gets_its_descriptors_alone)
{
	struct fixture f;
	struct rti_origin_file file = make_tool(&f);
	int given = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	struct rt_fd fds[] = { { .target = file.dir, .source = given } };
	struct rti_spawn how = { .argv = SH(
				     "cd /proc/$$/fd && for fd in *; do readlink $fd || :; done"),
		                 .file = &file,
		                 .stdout_fd = -1,
		                 .is_quiet = true,
		                 .has_only_fds = true };

	ck_assert_int_eq(run(&how), 0);
	ck_assert_ptr_null(strstr(out.data, f.root));
	ck_assert_ptr_null(strstr(out.data, "/etc/passwd"));

	how.fds = fds;
	how.fd_count = 1;
	ck_assert_int_eq(run(&how), 0);
	ck_assert_ptr_null(strstr(out.data, f.root));
	ck_assert_ptr_nonnull(strstr(out.data, "/etc/passwd"));

	/* the number of a standard descriptor that the program gets */
	ck_assert_int_eq(dup2(file.dir, STDIN_FILENO), STDIN_FILENO);
	close(file.dir);
	file.dir = STDIN_FILENO;
	how.fd_count = 0;
	ck_assert_int_eq(run(&how), 0);
	ck_assert_ptr_null(strstr(out.data, f.root));
	close(given);
	fixture_free(&f);
}
END_TEST

/* Reads SigBlk and SigIgn of the child itself. */
START_TEST(program_starts_with_signals_reset)
{
	struct rti_spawn how = { .argv = (const char *const[]){ "/bin/grep", "-E", "Sig(Blk|Ign)",
		                                                "/proc/self/status", NULL },
		                 .stdout_fd = -1 };
	unsigned long long blocked, ignored;
	sigset_t all;

	sigfillset(&all);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	sigprocmask(SIG_BLOCK, &all, NULL);
	ck_assert_int_eq(run(&how), 0);
	ck_assert_int_eq(sscanf(out.data, "SigBlk: %llx SigIgn: %llx", &blocked, &ignored), 2);
	ck_assert_uint_eq(blocked, 0);
	ck_assert_uint_eq(ignored & 1ull << (SIGPIPE - 1), 0);
	ck_assert_uint_eq(ignored & 1ull << (SIGCHLD - 1), 0);
	ck_assert_uint_ne(ignored & 1ull << (SIGUSR1 - 1), 0); /* the rest is as in the caller */
}
END_TEST

START_TEST(descriptor_without_cloexec_is_inherited)
{
	struct rti_spawn how = {
		.argv = SH("for i in 50 51; do if [ -e /proc/self/fd/$i ]; then echo $i; fi; done"),
		.stdout_fd = -1
	};

	ck_assert_int_eq(dup2(STDIN_FILENO, 50), 50);
	ck_assert_int_eq(dup3(STDIN_FILENO, 51, O_CLOEXEC), 51);
	ck_assert_int_eq(run(&how), 0);
	ck_assert_str_eq(out.data, "50\n");
}
END_TEST

START_TEST(quiet_program_has_null_device_as_stdin_and_stderr)
{
	struct rti_spawn how = { .argv = SH("readlink /proc/self/fd/0 /proc/self/fd/2"),
		                 .stdout_fd = -1,
		                 .is_quiet = true };

	ck_assert_int_eq(run(&how), 0);
	ck_assert_str_eq(out.data, "/dev/null\n/dev/null\n");
}
END_TEST

/* The pipe then has the numbers 0 to 2 itself. */
START_TEST(output_with_standard_descriptors_closed_is_read)
{
	struct rti_spawn how = { .argv = SH("echo out; echo err >&2"),
		                 .stdout_fd = -1,
		                 .is_quiet = true };
	int cached[3], err;

	for (int fd = 0; fd < 3; fd++) {
		cached[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 100);
		close(fd);
	}
	err = run(&how);
	for (int fd = 0; fd < 3; fd++)
		dup2(cached[fd], fd);
	ck_assert_int_eq(err, 0);
	ck_assert_str_eq(out.data, "out\n");
}
END_TEST

/* The number of the target is that of the next descriptor that the child opens. */
START_TEST(null_device_takes_the_lowest_free_number)
{
	const int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const struct rt_fd fds[] = { { .target = lowest, .source = -2 } };
	const struct rti_spawn how = { .argv = SH("for fd in 3 4 5 6 7 8 9; do"
		                                  " test /proc/$$/fd/$fd -ef /dev/null && exit 7;"
		                                  " done"),
		                       .stdout_fd = -1,
		                       .fds = fds,
		                       .fd_count = 1,
		                       .has_only_fds = true };
	int32_t pid;

	ck_assert_int_ge(lowest, 3);
	ck_assert_int_lt(lowest, 10);
	close(lowest);
	ck_assert_int_eq(rti_spawn(&how, &pid), 0);
	ck_assert_int_eq(WEXITSTATUS(wait_for_status(pid)), 7);
}
END_TEST

START_TEST(output_beyond_the_pipe_size_is_read_whole)
{
	struct rti_spawn how = {
		.argv = SH(
		    "i=0; while [ $i -lt 2000 ]; do echo 0123456789012345678901234567890123456789; "
		    "i=$((i+1)); done"),
		.stdout_fd = -1
	};

	ck_assert_int_eq(run(&how), 0);
	ck_assert_uint_eq(out.len, 2000 * 41);
	ck_assert_str_eq(out.data + 1999 * 41, "0123456789012345678901234567890123456789\n");
}
END_TEST

static void expect_no_children(void)
{
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

START_TEST(output_without_end_fails_with_efbig)
{
	struct rti_spawn how = { .argv = (const char *const[]){ "/usr/bin/yes", NULL },
		                 .stdout_fd = -1 };

	ck_assert_int_eq(run(&how), -EFBIG);
	expect_no_children();
}
END_TEST

START_TEST(program_that_fails_returns_eio)
{
	struct rti_spawn how = { .argv = SH("echo some; exit 1"), .stdout_fd = -1 };

	ck_assert_int_eq(run(&how), -EIO);
	how.argv = SH("kill -9 $$");
	ck_assert_int_eq(run(&how), -EIO);
	expect_no_children();
}
END_TEST

START_TEST(program_that_hangs_is_killed_and_reaped)
{
	struct rti_spawn how = { .argv = SH("echo $$; exec sleep 1000"), .stdout_fd = -1 };
	time_t start = time(NULL);

	ck_assert_int_eq(rti_spawn_output(&how, SECOND_NS / 5, &out), -ETIMEDOUT);
	ck_assert_int_lt(time(NULL) - start, 20);
	ck_assert_int_eq(kill(atoi(out.data), 0), -1);
	ck_assert_int_eq(errno, ESRCH);
	expect_no_children();
}
END_TEST

START_TEST(program_that_closes_its_output_and_runs_on_is_killed_and_reaped)
{
	struct rti_spawn how = { .argv = SH("exec sleep 1000 >&-"), .stdout_fd = -1 };
	time_t start = time(NULL);

	ck_assert_int_eq(rti_spawn_output(&how, SECOND_NS / 5, &out), -ETIMEDOUT);
	ck_assert_int_lt(time(NULL) - start, 20);
	expect_no_children();
}
END_TEST

/* The status is lost then, but not the output. */
START_TEST(output_in_host_that_ignores_sigchld_is_read)
{
	struct rti_spawn how = { .argv = SH("echo some"), .stdout_fd = -1 };

	signal(SIGCHLD, SIG_IGN);
	ck_assert_int_eq(run(&how), 0);
	ck_assert_str_eq(out.data, "some\n");

	how.argv = SH("exec sleep 1000");
	ck_assert_int_eq(rti_spawn_output(&how, SECOND_NS / 5, &out), -ETIMEDOUT);
	expect_no_children();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spawn");
	TCase *start = suite_case(suite, "start"), *output = suite_case(suite, "output");

	tcase_add_checked_fixture(start, NULL, tear_down);
	tcase_add_test(start, program_that_exits_yields_pid_and_exit_code);
	tcase_add_test(start, program_that_cannot_start_returns_the_error);
	tcase_add_test(start, program_found_by_path_uses_that_of_the_caller);
	tcase_add_test(start, program_gets_the_given_directory_and_environment);
	tcase_add_test(start, program_starts_with_signals_reset);
	tcase_add_test(start, descriptor_without_cloexec_is_inherited);
	tcase_add_test(start, program_in_an_open_directory_runs_though_its_path_leads_elsewhere);
	tcase_add_test(start, program_in_an_open_directory_gets_its_descriptors_alone);
	tcase_add_checked_fixture(output, NULL, tear_down);
	tcase_add_test(output, quiet_program_has_null_device_as_stdin_and_stderr);
	tcase_add_test(output, output_with_standard_descriptors_closed_is_read);
	tcase_add_test(output, null_device_takes_the_lowest_free_number);
	tcase_add_test(output, output_beyond_the_pipe_size_is_read_whole);
	tcase_add_test(output, output_without_end_fails_with_efbig);
	tcase_add_test(output, program_that_fails_returns_eio);
	tcase_add_test(output, program_that_hangs_is_killed_and_reaped);
	tcase_add_test(output, program_that_closes_its_output_and_runs_on_is_killed_and_reaped);
	tcase_add_test(output, output_in_host_that_ignores_sigchld_is_read);
	return suite_run(suite);
}
