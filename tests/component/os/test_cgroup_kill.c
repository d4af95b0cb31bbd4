/* SPDX-License-Identifier: MIT */
/* Killing what is in a cgroup while more comes, by nanosleep(2), which is wrapped here, between the
 * looks at the cgroup. */
#include "os/cgroup_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "children.h"
#include "os/supervisor_protocol.h"
#include "suite.h"

#define LATER 3 /* processes that come after the first */

static pid_t children[1 + LATER];
static int naps;

int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);

static void show_in_cgroup(int number)
{
	char text[16], path[64];

	snprintf(text, sizeof(text), "%d\n", children[number]);
	cgroup_fixture_write(RTI_CGROUP_MEMORY, "cgroup.procs", text);
	snprintf(path, sizeof(path), "proc/%d/cgroup", children[number]);
	fixture_printf(&cgroups.root, path, "4:memory:/m/n%s\n",
	               strrchr(cgroups.group.dir[0].path, '/'));
}

/* Each look finds another process, as if the last one had forked before its end. */
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	naps++;
	if (naps <= LATER)
		show_in_cgroup(naps);
	else
		cgroup_fixture_write(RTI_CGROUP_MEMORY, "cgroup.procs", "");
	return __real_nanosleep(time, left);
}

START_TEST(kill_reaches_processes_that_are_forked_meanwhile)
{
	cgroup_fixture_v1();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	for (int i = 0; i <= LATER; i++) {
		children[i] = fork();
		ck_assert_int_ge(children[i], 0);
		if (children[i] == 0)
			for (;;)
				pause();
	}
	show_in_cgroup(0);
	ck_assert_int_eq(rti_cgroup_kill(&cgroups.group, &cgroups.ctx), 0);

	for (int i = 0; i <= LATER; i++) {
		int status = 0;
		bool is_killed = naps >= i;

		if (!is_killed)
			kill_process(children[i], SIGKILL);
		ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
		ck_assert_msg(is_killed, "process %d was not found", i);
	}
	ck_assert_int_eq(naps, 1 + LATER);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_kill");
	TCase *tcase = suite_case(suite, "cgroup_kill");

	tcase_add_checked_fixture(tcase, cgroup_fixture_set_up, cgroup_fixture_tear_down);
	tcase_add_test(tcase, kill_reaches_processes_that_are_forked_meanwhile);
	return suite_run(suite);
}
