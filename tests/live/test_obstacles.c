/* SPDX-License-Identifier: MIT */
/* What rt_tracker_obstacle() says of real processes that this process may not read, or has no room
 * for. */
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "suite.h"
#include "tracking.h"

#define WATCHER_UID 65534 /* owns no file */
#define NOT_PERMITTED 77  /* exit status */

static void sleep_only(void *arg)
{
	(void)arg;
}

static void forbid_dumps(void *arg)
{
	(void)arg;
	prctl(PR_SET_DUMPABLE, 0);
}

/* Returns false, and skips the test, if not. */
static bool is_root(void)
{
	if (geteuid() == 0)
		return true;
	suite_skip_test("only root can be two users, or mount");
	return false;
}

/* Tests run in a process of their own. */
static void become_unprivileged(void)
{
	ck_assert_int_eq(setgroups(0, NULL), 0);
	ck_assert_int_eq(setresgid(WATCHER_UID, WATCHER_UID, WATCHER_UID), 0);
	ck_assert_int_eq(setresuid(WATCHER_UID, WATCHER_UID, WATCHER_UID), 0);
}

static struct rt_obstacle get_obstacle(struct rt_tracker *tracker, uint64_t has)
{
	struct rt_obstacle o;

	ck_assert_int_eq(rt_tracker_obstacle(tracker, has, &o, sizeof(o)), 0);
	ck_assert_int_eq(o.error, rt_tracker_status(tracker, has));
	return o;
}

static void check_refused(struct rt_tracker *tracker, uint64_t has, pid_t pid, const char *file,
                          const char *help)
{
	struct rt_obstacle o = get_obstacle(tracker, has);

	ck_assert_uint_eq(o.kind, RT_OBSTACLE_RIGHTS);
	ck_assert_int_eq(o.error, -EACCES);
	ck_assert_int_eq(o.pid, pid);
	ck_assert_str_eq(o.file, file);
	ck_assert_uint_eq(o.members, 1);
	ck_assert_uint_eq(o.members_ever, 1);
	ck_assert_msg(strstr(o.text, help) != NULL, "%s: no \"%s\"", o.text, help);
}

static void check_not_traceable(pid_t pid)
{
	struct rt_tracker *tracker = track_with_pss(pid);

	for (int i = 0; i < 3; i++) {
		sample(tracker);
		check_refused(tracker, RT_HAS_IO, pid, "io", "CAP_SYS_PTRACE");
		check_refused(tracker, RT_HAS_PSS, pid, "smaps_rollup", "CAP_SYS_PTRACE");
		ck_assert_uint_eq(get_obstacle(tracker, RT_HAS_CPU).kind, 0);
		ck_assert_uint_eq(get_obstacle(tracker, RT_HAS_PEAK_RSS).kind, 0);
	}
	rt_tracker_free(tracker);
}

START_TEST(process_of_another_user_is_a_matter_of_rights)
{
	struct child child;

	if (!is_root())
		return;
	child_start(&child, sleep_only, NULL);
	become_unprivileged();
	check_not_traceable(child.pid);
	child_end(&child);
}
END_TEST

START_TEST(process_that_forbids_dumps_is_a_matter_of_rights)
{
	struct child child;

	if (!is_root())
		return;
	become_unprivileged();
	child_start(&child, forbid_dumps, NULL);
	check_not_traceable(child.pid);
	child_end(&child);
}
END_TEST

/* Returns false if this process may not do so. E.g.: in a container. */
static bool mount_on_proc(const char *type, const char *options)
{
	if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("none", "/proc", type, 0, options) == 0)
		return true;
	suite_skip_test("no file system may be mounted at /proc here");
	return false;
}

static void check_message(pid_t pid, int expected, const char *text)
{
	char message[512] = "";
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .message = message,
		                      .message_size = sizeof(message) };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, pid, &opts), expected);
	ck_assert_msg(strstr(message, text) != NULL, "%s: no \"%s\"", message, text);
}

static const char *const hiding[] = { "hidepid=1", "hidepid=2" };

START_TEST(process_that_proc_hides_is_a_matter_of_rights_in_every_domain)
{
	static const struct {
		uint64_t has;
		const char *file;
	} hidden[] = {
		{ RT_HAS_CPU, "stat" },   { RT_HAS_FAULTS, "stat" },     { RT_HAS_RSS, "statm" },
		{ RT_HAS_PSS, "statm" },  { RT_HAS_PEAK_RSS, "status" }, { RT_HAS_IO, "io" },
		{ RT_HAS_CTXSW, "task" }, { RT_HAS_THREADS, "stat" },
	};
	struct rt_tracker *tracker;
	struct child child;

	if (!is_root() || !mount_on_proc("proc", hiding[_i]))
		return;
	child_start(&child, sleep_only, NULL);
	tracker = track_with_pss(child.pid); /* it may be seen until then */
	become_unprivileged();
	for (int sampled = 0; sampled < 2; sampled++) {
		sample(tracker);
		for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
			check_refused(tracker, hidden[i].has, child.pid, hidden[i].file, "hidepid");
	}
	check_message(child.pid, -EACCES, "hidepid");
	rt_tracker_free(tracker);
	child_end(&child);
}
END_TEST

START_TEST(tracker_without_proc_says_so)
{
	if (!is_root() || !mount_on_proc("tmpfs", NULL))
		return;
	check_message(getpid(), -ENOENT, "No proc file system is mounted at /proc");
	umount("/proc"); /* the leak detector needs it at the end */
}
END_TEST

/* Returns the exit status that waitpid(2) has for a child. */
static int status_of(pid_t pid)
{
	int status;

	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* Its children are in a pid namespace, and it can have no more once the first has ended. */
static void check_in_pid_namespace(void)
{
	pid_t pid;

	if (unshare(CLONE_NEWPID) < 0)
		_exit(NOT_PERMITTED);
	pid = fork();
	if (pid == 0) {
		check_message(getpid(), -EXDEV, "another pid namespace");
		_exit(0);
	}
	_exit(status_of(pid) == 0 ? 0 : 1);
}

START_TEST(tracker_with_proc_of_another_pid_namespace_says_so)
{
	pid_t pid;
	int status;

	if (!is_root())
		return;
	pid = fork();
	if (pid == 0)
		check_in_pid_namespace();
	status = status_of(pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == NOT_PERMITTED)
		suite_skip_test("no pid namespace may be made here");
	else
		ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(system_with_hidden_processes_counts_them_in_part)
{
	struct rt_tracker *tracker;
	struct rt_obstacle o;

	if (!is_root() || !mount_on_proc("proc", "hidepid=2"))
		return;
	become_unprivileged();
	ck_assert_int_eq(rt_system_tracker_new(&tracker, NULL), 0);
	sample(tracker);
	o = get_obstacle(tracker, RT_HAS_PROCESSES);
	ck_assert_uint_eq(o.kind, RT_OBSTACLE_RIGHTS);
	ck_assert_msg(strstr(o.text, "hidepid") != NULL, "%s", o.text);
	rt_tracker_free(tracker);
}
END_TEST

/* The tracker keeps none open, so that it needs one for each file. */
START_TEST(tree_without_descriptors_is_a_limit)
{
	struct rt_opts opts = { .size = sizeof(opts), .max_fds = 1 };
	struct rlimit limit;
	struct rt_tracker *tracker;
	struct rt_obstacle o;
	struct child child;
	struct rt_metrics m;
	int most;

	child_start(&child, sleep_only, NULL);
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, child.pid, &opts), 0);
	sample(tracker);
	child_let_die(&child); /* its clock moves on, so it is read again */
	most = dup(0);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = (rlim_t)most;
	close(most);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);

	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);

	o = get_obstacle(tracker, RT_HAS_FAULTS);
	ck_assert_uint_eq(o.kind, RT_OBSTACLE_LIMIT);
	ck_assert_int_eq(o.error, -EMFILE);
	ck_assert_int_eq(o.pid, child.pid);
	ck_assert_msg(strstr(o.text, "RLIMIT_NOFILE") != NULL, "%s", o.text);
	rt_tracker_free(tracker);
	child_end(&child);
}
END_TEST

START_TEST(command_explains_its_number_of_processes)
{
	struct rt_command *command = start_shell("sleep 100");
	struct rt_tracker *tracker = rt_command_tracker(command);
	struct rt_obstacle o;
	struct rt_metrics m = sample(tracker);

	o = get_obstacle(tracker, RT_HAS_PROCESSES_SEEN);
	ck_assert_uint_ne(m.partial & RT_HAS_PROCESSES_SEEN, 0);
	ck_assert_uint_ne(o.kind, 0);
	ck_assert_str_ne(o.text, "");
	ck_assert_int_eq(rt_command_kill(command), 0);
	ck_assert_int_eq(wait_for(command, WAIT_FOREVER), 0);
	rt_command_free(command);
}
END_TEST

START_TEST(command_that_forbids_reads_of_pss_says_so)
{
	struct rt_opts tracker = { .size = sizeof(tracker),
		                   .flags = RT_OPT_NO_MEMORY_READS | RT_OPT_PSS_READS };
	struct rt_command *command =
	    start_shell_with((struct rt_command_opts){ .tracker = &tracker }, "sleep 100");
	struct rt_obstacle o;

	sample(rt_command_tracker(command));
	o = get_obstacle(rt_command_tracker(command), RT_HAS_PSS);
	ck_assert_uint_eq(o.kind, RT_OBSTACLE_OPTIONS);
	ck_assert_int_eq(o.error, -EDQUOT);
	ck_assert_int_eq(rt_command_kill(command), 0);
	ck_assert_int_eq(wait_for(command, WAIT_FOREVER), 0);
	rt_command_free(command);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("obstacles");
	TCase *tests = suite_case(suite, "obstacles");

	tcase_add_test(tests, process_of_another_user_is_a_matter_of_rights);
	tcase_add_test(tests, process_that_forbids_dumps_is_a_matter_of_rights);
	tcase_add_loop_test(tests, process_that_proc_hides_is_a_matter_of_rights_in_every_domain, 0,
	                    2);
	tcase_add_test(tests, system_with_hidden_processes_counts_them_in_part);
	tcase_add_test(tests, tracker_without_proc_says_so);
	tcase_add_test(tests, tracker_with_proc_of_another_pid_namespace_says_so);
	tcase_add_test(tests, tree_without_descriptors_is_a_limit);
	tcase_add_test(tests, command_explains_its_number_of_processes);
	tcase_add_test(tests, command_that_forbids_reads_of_pss_says_so);
	return suite_run(suite);
}
