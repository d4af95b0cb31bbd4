/* SPDX-License-Identifier: MIT */
/* Killing what is in a cgroup while more comes, by nanosleep(2), which is wrapped here, between the
 * looks at the cgroup. */
#include "os/cgroup/cgroup_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "children.h"
#include "os/protocol/supervisor_protocol.h"
#include "suite.h"

#define LATER 3 /* processes that come after the first */

static pid_t children[1 + LATER];
static int naps;
static char limit_meanwhile; /* the first character of pids.max in the last nap */

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

/* The library does not truncate the file: the kernel's has no old text. */
static void read_limit(char text[8])
{
	char path[2048];
	FILE *file;

	memset(text, 0, 8);
	snprintf(path, sizeof(path), "%s/%s/pids.max", cgroups.root.root,
	         cgroup_fixture_dir(RTI_CGROUP_TASKS));
	file = fopen(path, "re");
	if (file) {
		ck_assert_ptr_nonnull(fgets(text, 8, file));
		fclose(file);
	}
}

int __real_rti_pidfd_signal(int fd, int32_t pid, int signal);
int __wrap_rti_pidfd_signal(int fd, int32_t pid, int signal);

static int refusal; /* -errno of each signal; 0: none is refused */

int __wrap_rti_pidfd_signal(int fd, int32_t pid, int signal)
{
	return refusal ? refusal : __real_rti_pidfd_signal(fd, pid, signal);
}

/* Each look finds another process, as if the last one had forked before its end. */
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	char limit[8];

	naps++;
	read_limit(limit);
	limit_meanwhile = limit[0];
	if (refusal)
		return 0;
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

/* Something else may be placed in the cgroup later. */
START_TEST(kill_in_v1_allows_no_fork_until_it_is_over)
{
	char limit[8];

	cgroup_fixture_v1();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	cgroup_fixture_write(RTI_CGROUP_TASKS, "pids.max", "7\n");
	children[0] = fork();
	ck_assert_int_ge(children[0], 0);
	if (children[0] == 0)
		for (;;)
			pause();
	show_in_cgroup(0);
	refusal = -EPERM;
	ck_assert_int_eq(rti_cgroup_kill(&cgroups.group, &cgroups.ctx), -EPERM);
	read_limit(limit);
	kill_process(children[0], SIGKILL);
	ck_assert_int_eq(waitpid(children[0], NULL, 0), children[0]);
	ck_assert_int_eq(limit_meanwhile, '0');
	ck_assert_str_eq(limit, "max");
}
END_TEST

/* The cgroup of the memory account may be any of the group's. */
static void show_by_memory(pid_t pid)
{
	const char *name = strrchr(cgroup_fixture_dir(RTI_CGROUP_MEMORY), '/');
	char text[16], path[64];

	snprintf(text, sizeof(text), "%d\n", pid);
	cgroup_fixture_write(RTI_CGROUP_MEMORY, "cgroup.procs", text);
	snprintf(path, sizeof(path), "proc/%d/cgroup", pid);
	fixture_printf(&cgroups.root, path, "4:memory:/m/n%s\n", name);
}

/* A process that may not be killed is an error, and one that is gone is none. */
static const struct {
	int refusal, err;
} refusals[] = { { -EPERM, -EPERM }, { -ESRCH, 0 } };

START_TEST(kill_of_a_process_that_stays_ends_and_says_why)
{
	static const char *const mounts[] = { "cgroup / v1/cpuacct rw,cpuacct",
		                              "cgroup / v1/memory rw,memory", NULL };
	bool has_pids = _i & 1;

	refusal = refusals[_i / 2].refusal;
	if (has_pids)
		cgroup_fixture_v1();
	else
		cgroup_fixture_mount("4:memory:/m/n\n2:cpuacct:/\n", mounts);
	fixture_mkdir(&cgroups.root, "v1/memory/m/n");
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	children[0] = fork();
	ck_assert_int_ge(children[0], 0);
	if (children[0] == 0)
		for (;;)
			pause();
	show_by_memory(children[0]);
	ck_assert_int_eq(rti_cgroup_kill(&cgroups.group, &cgroups.ctx), refusals[_i / 2].err);
	ck_assert_int_eq(naps, 100);
	kill_process(children[0], SIGKILL);
	ck_assert_int_eq(waitpid(children[0], NULL, 0), children[0]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_kill");
	TCase *tcase = suite_case(suite, "cgroup_kill");

	tcase_add_checked_fixture(tcase, cgroup_fixture_set_up, cgroup_fixture_tear_down);
	tcase_add_test(tcase, kill_reaches_processes_that_are_forked_meanwhile);
	tcase_add_test(tcase, kill_in_v1_allows_no_fork_until_it_is_over);
	tcase_add_loop_test(tcase, kill_of_a_process_that_stays_ends_and_says_why, 0, 4);
	return suite_run(suite);
}
