/* SPDX-License-Identifier: MIT */
/* Which cgroup a process is in when it exits, by pidfds that answer what the test says. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"
#include "os/process/pidfd.h"
#include "suite.h"
#include "supervisor/cgroup_watch.h"

#define ROOT_ID 1
#define OWN_ID 50
#define OTHER_ID 60
#define FIRST_FD 1000
#define PID 100

static unsigned opened, closed;
static uint64_t own_id;
static uint64_t id_at_exit; /* 0: the kernel gives none */

int __wrap_rti_pidfd_open(int32_t pid);
void __wrap_rti_pidfd_close(int fd);
int __wrap_rti_pidfd_cgroup_id(int fd, uint64_t *id);

int __wrap_rti_pidfd_open(int32_t pid)
{
	return pid == getpid() ? 0 : FIRST_FD + (int)opened++;
}

void __wrap_rti_pidfd_close(int fd)
{
	closed += fd >= FIRST_FD;
}

int __wrap_rti_pidfd_cgroup_id(int fd, uint64_t *id)
{
	uint64_t answer = fd >= FIRST_FD ? id_at_exit : own_id;

	if (answer == 0)
		return -EOPNOTSUPP;
	*id = answer;
	return 0;
}

static struct rti_shared_stats *shared;

static void set_up(void)
{
	shared = calloc(1, RTI_SHARED_STATS_BYTES);
	ck_assert_ptr_nonnull(shared);
}

static void tear_down(void)
{
	rts_cgroup_watch_end();
	free(shared);
}

static const struct {
	uint64_t own_id, id_at_exit;
	bool is_waited_for;
	uint32_t left;
} exits[] = {
	{ OWN_ID, OWN_ID, false, RTI_LEFT_NONE },
	{ OWN_ID, OTHER_ID, false, RTI_LEFT_OURS },
	{ OWN_ID, OTHER_ID, true, RTI_LEFT_NONE },
	{ OWN_ID, 0, false, RTI_LEFT_NONE },
	/* all cgroups are below the root, where the supervisor is */
	{ ROOT_ID, OTHER_ID, false, RTI_LEFT_FOR_OURS },
	{ ROOT_ID, ROOT_ID, false, RTI_LEFT_NONE },
};

START_TEST(process_that_exits_in_another_cgroup_has_left_unless_it_is_waited_for)
{
	own_id = exits[_i].own_id;
	id_at_exit = exits[_i].id_at_exit;
	rts_cgroup_watch_begin(shared, "");
	rts_cgroup_watch_fork(PID);
	rts_cgroup_watch_exit(PID, exits[_i].is_waited_for);
	ck_assert_uint_eq(shared->left_cgroup, exits[_i].left);
	ck_assert_uint_eq(opened, 1);
	ck_assert_uint_eq(closed, 1);
}
END_TEST

/* The program may have made cgroups below its own, and the process may be in one. */
START_TEST(process_that_exits_in_another_cgroup_has_left_unless_the_program_has_one_below)
{
	struct fixture root;
	char directory[256];

	fixture_new(&root);
	fixture_mkdir(&root, _i ? "cgroup/below" : "cgroup");
	snprintf(directory, sizeof(directory), "%s/cgroup", root.root);
	own_id = OWN_ID;
	id_at_exit = OTHER_ID;
	rts_cgroup_watch_begin(shared, directory);
	rts_cgroup_watch_fork(PID);
	rts_cgroup_watch_exit(PID, false);
	ck_assert_uint_eq(shared->left_cgroup, _i ? RTI_LEFT_NONE : RTI_LEFT_OURS);
	fixture_free(&root);
}
END_TEST

START_TEST(no_process_is_held_if_the_cgroup_of_the_program_is_unknown)
{
	own_id = _i ? OWN_ID : 0;
	rts_cgroup_watch_begin(shared, _i ? "/nowhere/rtrack-below" : "");
	rts_cgroup_watch_fork(PID);
	ck_assert_uint_eq(opened, 0);
}
END_TEST

/* There was no event of the exit of the process that had the pid before. */
START_TEST(process_with_the_pid_of_a_held_one_is_held_instead)
{
	own_id = id_at_exit = OWN_ID;
	rts_cgroup_watch_begin(shared, "");
	rts_cgroup_watch_fork(PID);
	rts_cgroup_watch_fork(PID);
	ck_assert_uint_eq(opened, 2);
	ck_assert_uint_eq(closed, 1);
	rts_cgroup_watch_exit(PID, false);
	ck_assert_uint_eq(closed, 2);
	rts_cgroup_watch_exit(PID, false);
	ck_assert_uint_eq(closed, 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_watch_exits");
	TCase *tcase = suite_case(suite, "cgroup_watch_exits");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase,
	                    process_that_exits_in_another_cgroup_has_left_unless_it_is_waited_for,
	                    0, sizeof(exits) / sizeof(exits[0]));
	tcase_add_loop_test(
	    tcase, process_that_exits_in_another_cgroup_has_left_unless_the_program_has_one_below,
	    0, 2);
	tcase_add_loop_test(tcase, no_process_is_held_if_the_cgroup_of_the_program_is_unknown, 0,
	                    2);
	tcase_add_test(tcase, process_with_the_pid_of_a_held_one_is_held_instead);
	return suite_run(suite);
}
