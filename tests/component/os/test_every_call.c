/* SPDX-License-Identifier: MIT */
/* Each call to the system for the start of a program fails once. The program runs once or not at
 * all, as the result says, and nothing is left behind. This is run where clone3(2) is refused,
 * too: then it starts by clone(2). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "command/call_faults.h"
#include "descriptors.h"
#include "fixture.h"
#include "os/origin.h"
#include "os/process/spawn.h"
#include "os/procfs.h"
#include "suite.h"

#define CALLS_MAX 1000
#define LINES 200
#define LINE "0123456789012345678901234567890123456789\n"
#define PATIENCE_NS UINT64_C(20000000000)
#define EXIT_CODE 7
#define NULL_FD (-2) /* rt_fd.source */
#define CLOSED_FD (-1)

static struct fixture dir;
static char ran[256], script[320];

static void set_up(void)
{
	fixture_new(&dir);
	fixture_link(&dir, "bin/tool", "/bin/sh");
	snprintf(ran, sizeof(ran), "%s/ran", dir.root);
	snprintf(script, sizeof(script), "echo x >> %s; exit %d", ran, EXIT_CODE);
	call_faults_share(dir.root);
}

static void tear_down(void)
{
	call_faults_keep_to_itself();
	fixture_free(&dir);
}

static int count_runs(void)
{
	struct stat st;

	return stat(ran, &st) == 0 ? (int)(st.st_size / 2) : 0;
}

static bool has_no_child(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

static void check_nothing_stays(int descriptors, const char *what)
{
	ck_assert_msg(has_no_child(), "%s: a child stays", what);
	ck_assert_msg(count_descriptors() == descriptors, "%s: %d descriptors stay", what,
	              count_descriptors() - descriptors);
}

/* Ways to start the script, each with all options that go together. */
enum way { PLAIN, QUIET, MAPPED, BESIDE, BY_PATH, NOWHERE, WAYS };

static int start(enum way way, int32_t *pid)
{
	const char *const argv[] = { way == BY_PATH ? "sh" : "/bin/sh", "-c", script, NULL };
	const char *const env[] = { "COLOUR=blue", NULL };
	const struct rt_fd fds[] = { { .target = 40, .source = STDIN_FILENO },
		                     { .target = 41, .source = NULL_FD },
		                     { .target = 42, .source = CLOSED_FD } };
	struct rti_origin_file file = { .name = "tool", .dir = -1 };
	struct rti_spawn how = { .argv = argv, .stdout_fd = -1 };
	int err;

	if (way == QUIET)
		how.is_quiet = how.has_new_session = true;
	if (way == QUIET)
		how.keep_fd[0] = STDOUT_FILENO;
	if (way == MAPPED || way == BESIDE) {
		how.fds = fds;
		how.fd_count = sizeof(fds) / sizeof(fds[0]);
		how.has_only_fds = how.has_new_group = true;
		how.envp = env;
	}
	if (way == BESIDE) {
		char path[256];

		snprintf(path, sizeof(path), "%s/bin", dir.root);
		file.dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		how.file = &file;
	}
	how.use_path = way == BY_PATH;
	how.cwd = way == NOWHERE ? "/none/such" : way == QUIET ? "/" : NULL;
	err = way == BESIDE && file.dir < 0 ? -errno : rti_spawn(&how, pid);
	if (file.dir >= 0)
		close(file.dir);
	return err;
}

/* Returns whether the call was reached. */
static bool start_with_fault(enum way way, unsigned at, int kinds, int error)
{
	int before = count_descriptors(), status = 0, err;
	bool is_reached;
	int32_t pid = 0;
	char what[128];

	unlink(ran);
	call_faults_begin(at, kinds, error);
	err = start(way, &pid);
	is_reached = call_faults_end();
	snprintf(what, sizeof(what), "way %d: call %u (%s) fails with %d", way, at,
	         call_faults_name(), error);
	ck_assert_msg(is_reached || err == (way == NOWHERE ? -ENOENT : 0), "without a fault: %d",
	              err);
	if (err == 0) {
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_CODE,
		              "%s: status %d", what, status);
	}
	ck_assert_msg(count_runs() == (err == 0), "%s: %d, and %d runs", what, err, count_runs());
	check_nothing_stays(before, what);
	return is_reached;
}

static const struct {
	int kinds, error;
} faults[] = {
	{ CALL_MAKES, EMFILE },
	{ CALL_MAKES, ENOMEM },
	{ CALL_MAKES, EINVAL },
	{ CALL_WAITS, EINTR },
};

START_TEST(program_runs_once_or_never_whatever_call_fails)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		unsigned at = 1;

		while (start_with_fault((enum way)_i, at, faults[i].kinds, faults[i].error))
			ck_assert_uint_lt(at++, CALLS_MAX);
	}
}
END_TEST

/* Returns whether the call was reached. */
static bool collect_with_fault(unsigned at, int kinds, int error)
{
	const char *const argv[] = { "/bin/sh", "-c",
		                     "i=0; while [ $i -lt 200 ]; do"
		                     " echo 0123456789012345678901234567890123456789;"
		                     " i=$((i + 1)); done",
		                     NULL };
	const struct rti_spawn how = { .argv = argv, .stdout_fd = -1, .is_quiet = true };
	int before = count_descriptors(), err;
	struct rti_buf out = { 0 };
	bool is_reached;
	char what[128];

	call_faults_begin(at, kinds, error);
	err = rti_spawn_output(&how, PATIENCE_NS, &out);
	is_reached = call_faults_end();
	snprintf(what, sizeof(what), "output: call %u (%s) fails with %d", at, call_faults_name(),
	         error);
	ck_assert_msg(is_reached || err == 0, "without a fault: %d", err);
	ck_assert_msg(err == 0 || err == -error, "%s: %d", what, err);
	ck_assert_msg(err < 0 || out.len == LINES * strlen(LINE), "%s: %zu bytes", what, out.len);
	check_nothing_stays(before, what);
	rti_buf_free(&out);
	return is_reached;
}

START_TEST(output_is_whole_or_an_error_whatever_call_fails)
{
	static const struct {
		int kinds, error;
	} more[] = { { CALL_MAKES, ENOMEM }, { CALL_WAITS, EINTR }, { CALL_READS, EIO } };

	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		unsigned at = 1;

		while (collect_with_fault(at, more[i].kinds, more[i].error))
			ck_assert_uint_lt(at++, CALLS_MAX);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("every call");
	TCase *tests = suite_case(suite, "start");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, program_runs_once_or_never_whatever_call_fails, 0, WAYS);
	tcase_add_test(tests, output_is_whole_or_an_error_whatever_call_fails);
	return suite_run(suite);
}
