/* SPDX-License-Identifier: MIT */
/* Cgroups of processes that may not be signalled: those of other users. */
#include "os/cgroup/cgroup_fixture.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#define OVERFLOW_UID 65534

static bool exists(const char *path)
{
	char full[2048];
	struct stat st;

	snprintf(full, sizeof(full), "%s/%s", cgroups.root.root, path);
	return stat(full, &st) == 0;
}

/* Remove a capability from those in effect. Returns 0 or -1. */
static int drop_capability(unsigned number)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return -1;
	data[0].effective &= ~(1u << number);
	return (int)syscall(SYS_capset, &header, data);
}

/* A process that may not be signalled: of another user, without the right to. */
static pid_t start_other_user(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (setresuid(OVERFLOW_UID, OVERFLOW_UID, OVERFLOW_UID) < 0)
			_exit(1);
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of user clears it */
		for (;;)
			pause();
	}
	for (int i = 0; i < 100000 && kill(pid, 0) == 0; i++)
		usleep(1000);
	return pid;
}

/* In a child, which has fewer rights afterwards: returns whether the cgroup of a process of another
 * user was kept. */
static bool keeps_cgroup_of_other_user(void)
{
	pid_t other = 1;
	char path[512];

	if (geteuid() == 0) {
		if (drop_capability(CAP_KILL) < 0)
			return false;
		other = start_other_user();
	}
	if (kill(other, 0) == 0 || errno != EPERM)
		return false;
	snprintf(path, sizeof(path), "v1/pids/rtrack-%d-1", other);
	fixture_mkdir(&cgroups.root, path);
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	return exists(path);
}

START_TEST(cgroup_of_a_running_process_of_another_user_is_kept)
{
	pid_t child;
	int status;

	cgroup_fixture_hybrid();
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(keeps_cgroup_of_other_user() ? 0 : 1);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_of_others");
	TCase *tcase = suite_case(suite, "cgroup_of_others");

	tcase_add_checked_fixture(tcase, cgroup_fixture_set_up, cgroup_fixture_tear_down);
	tcase_add_test(tcase, cgroup_of_a_running_process_of_another_user_is_kept);
	return suite_run(suite);
}
