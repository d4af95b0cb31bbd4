/* SPDX-License-Identifier: MIT */
/* How a program is placed in directories, which are of plain files here, and what it gets. */
#include "supervisor/launch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "fixture.h"
#include "os/protocol/supervisor_protocol.h"
#include "suite.h"

#define PLACES_MAX 8
#define PATH_TOO_LONG 1200

static struct fixture root;
static sigset_t mask;

static void set_up(void)
{
	fixture_new(&root);
	sigemptyset(&mask);
	fixture_write(&root, "good/tasks", "");
	fixture_write(&root, "good/cgroup.procs", "");
	fixture_link(&root, "full/tasks", "/dev/full");
	fixture_link(&root, "full/cgroup.procs", "/dev/full");
}

static void tear_down(void)
{
	fixture_free(&root);
}

/* Returns the exit code of a shell that runs a script, or what the launch returns. */
static int launch(const char *script, const char *dirs, char **envp, struct rts_launched *out)
{
	char shell[] = "sh", option[] = "-c";
	char *argv[] = { shell, option, (char *)(uintptr_t)script, NULL };
	const struct rts_launch_opts opts = {
		.argv = argv, .envp = envp, .cwd = "", .dirs = dirs, .mask = &mask
	};
	int status, err = rts_launch(&opts, out);

	if (err < 0)
		return err;
	ck_assert_int_gt(out->pid, 0);
	ck_assert_int_eq(waitpid(out->pid, &status, 0), out->pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* A kind of 0 ends the list. */
static const struct {
	struct {
		char kind;
		const char *name; /* below the root; NULL: too long */
	} dirs[3];
	int result;
	uint32_t placed;
} cases[] = {
	{ { { RTI_DIR_V1, "good" }, { RTI_DIR_V1_NEEDED, "good" }, { RTI_DIR_V2, "good" } }, 7, 7 },
	{ { { RTI_DIR_V2, "good" }, { RTI_DIR_V1, "good" } }, 7, 3 },
	/* one that is not needed may be missing, full, or too long a name */
	{ { { RTI_DIR_V1, "good" }, { RTI_DIR_V1, "full" }, { RTI_DIR_V1, "good" } }, 7, 5 },
	{ { { RTI_DIR_V1, "none" }, { RTI_DIR_V1, "good" } }, 7, 2 },
	{ { { RTI_DIR_V1, NULL }, { RTI_DIR_V1, "good" } }, 7, 2 },
	/* without one that is needed there is no program */
	{ { { RTI_DIR_V1_NEEDED, "full" } }, -ENOSPC, 0 },
	{ { { RTI_DIR_V1, "good" }, { RTI_DIR_V1_NEEDED, "none" } }, -ENOENT, 1 },
	{ { { RTI_DIR_V1_NEEDED, NULL } }, -ENAMETOOLONG, 0 },
	{ { { RTI_DIR_V2, "full" } }, -ENOSPC, 0 },
	{ { { RTI_DIR_V2, "none" } }, -ENOENT, 0 },
	{ { { RTI_DIR_V2, NULL } }, -ENAMETOOLONG, 0 },
};

static void list_directories(int i, char *out, size_t size)
{
	char *at = out;

	*at = '\0';
	for (int dir = 0; dir < 3 && cases[i].dirs[dir].kind; dir++) {
		const char *name = cases[i].dirs[dir].name;

		at += snprintf(at, size - (size_t)(at - out), "%s%c", dir ? "\n" : "",
		               cases[i].dirs[dir].kind);
		if (name)
			at += snprintf(at, size - (size_t)(at - out), "%s/%s", root.root, name);
		else
			at += snprintf(at, size - (size_t)(at - out), "/%0*d", PATH_TOO_LONG, 0);
	}
}

START_TEST(program_runs_in_the_directories_that_take_it_unless_it_needs_another)
{
	struct rts_launched launched = { 0 };
	char dirs[2 * PATH_TOO_LONG];

	list_directories(_i, dirs, sizeof(dirs));
	ck_assert_int_eq(launch("exit 7", dirs, NULL, &launched), cases[_i].result);
	ck_assert_uint_eq(launched.placed, cases[_i].placed);
	if (cases[_i].result < 0)
		ck_assert_int_eq(launched.pid, -1);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* A list has a few at most: the others are left out. */
START_TEST(directories_beyond_the_most_are_left_out)
{
	struct rts_launched launched = { 0 };
	char dirs[(PLACES_MAX + 2) * sizeof(root.root)], *at = dirs;

	for (int i = 0; i < PLACES_MAX + 2; i++)
		at += snprintf(at, sizeof(dirs) - (size_t)(at - dirs), "%s%c%s/good", i ? "\n" : "",
		               RTI_DIR_V1, root.root);
	ck_assert_int_eq(launch("exit 7", dirs, NULL, &launched), 7);
	ck_assert_uint_eq(launched.placed, (1u << PLACES_MAX) - 1);
}
END_TEST

START_TEST(program_gets_the_environment_that_it_is_given)
{
	char path[] = "PATH=/usr/bin:/bin", code[] = "CODE=9";
	char *envp[] = { path, code, NULL };
	struct rts_launched launched = { 0 };

	ck_assert_int_eq(setenv("CODE", "3", 1), 0);
	ck_assert_int_eq(launch("exit $CODE", "", _i ? envp : NULL, &launched), _i ? 9 : 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("launch");
	TCase *tcase = suite_case(suite, "launch");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase,
	                    program_runs_in_the_directories_that_take_it_unless_it_needs_another, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tcase, directories_beyond_the_most_are_left_out);
	tcase_add_loop_test(tcase, program_gets_the_environment_that_it_is_given, 0, 2);
	return suite_run(suite);
}
