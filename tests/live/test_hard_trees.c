/* SPDX-License-Identifier: MIT */
/* Trees that are hard to account for: branches that exit between two reads, members that may not be
 * read, leaders that exit first, callers that ignore SIGCHLD or have closed their standard
 * descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "refusals.h"
#include "suite.h"
#include "tracking.h"

#define MS 1000000
#define WATCHER_UID 65534
#define OTHER_UID 65533
#define CHUNK 1000 /* bytes of one write */

static const uint32_t methods[] = { RT_ACCOUNTING_POLL, RT_ACCOUNTING_WAIT, RT_ACCOUNTING_CGROUP,
	                            RT_ACCOUNTING_BPF };
enum { METHODS = sizeof(methods) / sizeof(methods[0]) };

/* Returns NULL if this system lacks the accounting method. */
static struct rt_command *start_with(uint32_t method, const char *const argv[])
{
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .accounting = method };
	struct rt_command *command;
	int err;

	if (method == RT_ACCOUNTING_BPF && (!IS_BUILT || !has_bpf_accounting())) {
		suite_skip_test("BPF programs cannot account for processes here");
		return NULL;
	}
	err = rt_command_start(&command, &opts);
	if (method == RT_ACCOUNTING_CGROUP && err == -EOPNOTSUPP) {
		suite_skip_test("this user may make no cgroup");
		return NULL;
	}
	ck_assert_int_eq(err, 0);
	return command;
}

static int wait_for_end(struct rt_command *command, struct rt_outcome *outcome)
{
	return rt_command_wait(command, WAIT_FOREVER, outcome, sizeof(*outcome));
}

static unsigned draw(unsigned below)
{
	static unsigned state = 1;

	state = state * 1103515245u + 12345u;
	return (state >> 16) % below;
}

/* Memory that the test shares with the tree. */
struct branches {
	atomic_ulong bytes; /* what the tree has written, or is about to */
	atomic_ulong ended; /* branches that were reaped */
	atomic_bool is_up, may_start, must_stop;
};

static void run_last_generation(struct branches *b, int null, unsigned ms)
{
	static const char chunk[CHUNK];

	atomic_fetch_add(&b->bytes, CHUNK);
	burn_cpu_ns(ms * MS);
	if (write(null, chunk, CHUNK) != CHUNK)
		_exit(98);
	_exit(0);
}

static void run_branch(struct branches *b, int null)
{
	for (int i = 0; i < 2; i++) {
		unsigned ms = draw(3);

		if (fork() == 0)
			run_last_generation(b, null, ms);
	}
	usleep(draw(2000));
	while (wait(NULL) > 0)
		;
	burn_cpu_ns(draw(2) * MS);
	_exit(0);
}

/* Start three branches at a time, with two leaves each. Reap them at once, or after they have been
 * zombies for a while. */
static void start_branches(void *arg)
{
	struct branches *b = arg;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	atomic_store(&b->is_up, true);
	while (!atomic_load(&b->may_start))
		usleep(1000);
	while (!atomic_load(&b->must_stop)) {
		for (int i = 0; i < 3; i++) {
			draw(2); /* so that each branch draws other numbers */
			if (fork() == 0)
				run_branch(b, null);
		}
		usleep(draw(4000));
		while (wait(NULL) > 0)
			atomic_fetch_add(&b->ended, 1);
	}
	close(null);
}

static void end_child(struct child *child, struct rusage *used)
{
	close(child->go_fd);
	ck_assert_int_eq(wait4(child->pid, NULL, 0, used), child->pid);
	close(child->ready_fd);
}

/* At any moment: no total falls, and no byte counts before it was written, or twice. */
static void check_sample(const struct rt_metrics *m, const struct rt_metrics *last,
                         struct branches *b)
{
	ck_assert_uint_le(m->write_chars, atomic_load(&b->bytes));
	ck_assert_uint_ge(m->write_chars, last->write_chars);
	ck_assert_uint_ge(m->cpu_user_ns, last->cpu_user_ns);
	ck_assert_uint_ge(m->cpu_system_ns, last->cpu_system_ns);
	ck_assert_uint_ge(m->minor_faults, last->minor_faults);
}

static int is_up(void *arg)
{
	struct branches *b = arg;

	return atomic_load(&b->is_up);
}

START_TEST(totals_with_branches_that_exit_between_reads_count_once)
{
	struct branches *b = map_shared(sizeof(*b));
	struct rt_metrics m, last = { 0 };
	struct rt_tracker *tracker;
	struct rusage used;
	struct child child;

	child_start_async(&child, start_branches, b);
	wait_until(is_up, b);
	tracker = track(child.pid);
	m = sample(tracker);
	atomic_store(&b->bytes, m.write_chars); /* libcheck writes in the child, too */
	atomic_store(&b->may_start, true);

	for (int i = 0; i < 400 || atomic_load(&b->ended) < 300; i++) {
		m = sample(tracker);
		check_sample(&m, &last, b);
		last = m;
		usleep(draw(3000));
	}

	atomic_store(&b->must_stop, true);
	child_await(&child);
	m = sample(tracker);
	/* One byte more: the child has written that it is ready. */
	ck_assert_uint_eq(m.write_chars, atomic_load(&b->bytes) + 1);
	end_child(&child, &used);
	/* The CPU clock counts ns, and wait4() cuts to us. The kernel shows the CPU time of reaped
	 * children in ticks, for each of two modes. */
	ck_assert_uint_le(get_sampled_ns(&m), get_rusage_ns(&used) + MS);
	ck_assert_uint_ge(get_sampled_ns(&m) + 22 * MS, get_rusage_ns(&used));
	ck_assert_int_le((long)m.minor_faults, used.ru_minflt);
	ck_assert_int_ge((long)m.minor_faults + 20, used.ru_minflt);
	rt_tracker_free(tracker);
}
END_TEST

static void change_user(uid_t uid)
{
	ck_assert_int_eq(setgroups(0, NULL), 0);
	ck_assert_int_eq(setresgid(uid, uid, uid), 0);
	ck_assert_int_eq(setresuid(uid, uid, uid), 0);
	prctl(PR_SET_DUMPABLE, 1);
}

static void forbid_dumps(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}

static void change_to_other_user(void)
{
	change_user(OTHER_UID);
}

struct hidden {
	void (*hide)(void);
	atomic_bool is_hidden;
};

/* Start a child that hides as a set-user-id program does: its parent stays the same, and the
 * watcher may no longer read most of its files. */
static void start_hidden(void *arg)
{
	static const char chunk[CHUNK];
	struct hidden *hidden = arg;
	pid_t parent = getpid();
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fork() == 0) {
		burn_cpu_ns(40 * MS);
		hidden->hide();
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of user clears it */
		if (getppid() != parent)
			_exit(1);
		atomic_store(&hidden->is_hidden, true);
		for (;;)
			pause();
	}
	if (write(null, chunk, CHUNK) != CHUNK)
		_exit(98);
	if (geteuid() == 0)
		change_user(WATCHER_UID);
	while (!atomic_load(&hidden->is_hidden))
		usleep(1000);
}

static void check_lower_bounds(struct rt_tracker *tracker)
{
	const uint64_t known = RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_PROCESSES | RT_HAS_THREADS;
	struct rt_metrics m = sample(tracker);

	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.valid & known, known);
	ck_assert_uint_ge(get_sampled_ns(&m), 40 * MS); /* of the hidden child */
	/* The figures of its parent are there, as a lower bound. */
	ck_assert_uint_eq((m.valid | m.estimated) & RT_HAS_IO, 0);
	ck_assert_uint_ne(m.partial & RT_HAS_IO, 0);
	ck_assert_uint_ge(m.write_chars, CHUNK);
	/* statm can be read of any process. */
	ck_assert_uint_eq((m.valid | m.partial) & RT_HAS_PSS, 0);
	ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
	ck_assert_uint_gt(m.pss_bytes, 0);
	ck_assert_uint_le(m.pss_bytes, m.rss_bytes);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_PSS), -EACCES);
	ck_assert_uint_eq(m.members_unreadable, 1);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_IO), -EACCES);
}

static void check_hidden_child(void (*hide)(void))
{
	struct hidden *hidden = map_shared(sizeof(*hidden));
	struct rt_tracker *tracker;
	struct child child;

	hidden->hide = hide;
	child_start(&child, start_hidden, hidden);
	if (geteuid() == 0)
		change_user(WATCHER_UID);
	tracker = track_with_pss(child.pid);
	for (int i = 0; i < 3; i++)
		check_lower_bounds(tracker);
	child_end(&child);
	rt_tracker_free(tracker);
}

START_TEST(tracker_with_child_that_forbids_dumps_reports_lower_bounds)
{
	check_hidden_child(forbid_dumps);
}
END_TEST

START_TEST(tracker_with_child_of_other_user_reports_lower_bounds)
{
	if (geteuid() != 0) {
		suite_skip_test("only root can be two users");
		return;
	}
	check_hidden_child(change_to_other_user);
}
END_TEST

/* The programs of the commands: this executable, started with the name of a program. */

static void *exit_later(void *arg)
{
	usleep(50000);
	burn_cpu_ns(60 * MS);
	_exit(7);
	return arg;
}

/* The leader exits. Another thread works on, and sets the exit code. */
static void run_leader_exits(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exit_later, NULL);
	syscall(SYS_exit, 0); /* only this thread */
}

static void *exec_self(void *arg)
{
	execl("/proc/self/exe", "burn", "burn", (char *)NULL);
	_exit(98);
	return arg;
}

/* A thread that is not the leader executes another program. */
static void run_thread_executes(void)
{
	pthread_t thread;

	burn_cpu_ns(30 * MS);
	pthread_create(&thread, NULL, exec_self, NULL);
	for (;;)
		pause();
}

static void run_burn(void)
{
	burn_cpu_ns(30 * MS);
	_exit(9);
}

static int run_program(const char *name)
{
	if (strcmp(name, "leader-exits") == 0)
		run_leader_exits();
	else if (strcmp(name, "thread-executes") == 0)
		run_thread_executes();
	else if (strcmp(name, "burn") == 0)
		run_burn();
	return 2;
}

static void check_one_process(uint32_t method, const char *program, int exit_code)
{
	char path[4096] = "";
	const char *argv[] = { path, program, NULL };
	struct rt_command *command;
	struct rt_outcome outcome;
	struct rt_metrics m;

	ck_assert_int_gt(readlink("/proc/self/exe", path, sizeof(path) - 1), 0);
	command = start_with(method, argv);
	if (!command)
		return;
	while (rt_command_wait(command, 5 * MS, &outcome, sizeof(outcome)) == -ETIMEDOUT)
		rt_sample(rt_command_tracker(command), &m, sizeof(m));
	ck_assert_int_eq(wait_for_end(command, &outcome), 0);
	ck_assert_int_eq(outcome.exit_code, exit_code);
	ck_assert_int_eq(outcome.signal, 0);
	ck_assert_uint_eq(outcome.processes, 1);
	ck_assert_uint_eq(outcome.left_running, 0);
	ck_assert_uint_ge(get_outcome_ns(&outcome), 60 * MS);
	ck_assert_uint_eq(outcome.reasons & (RT_REASON_UNWAITED | RT_REASON_UNREADABLE), 0);
	rt_command_free(command);
}

START_TEST(command_after_exit_of_its_leader_ends_with_its_last_thread)
{
	check_one_process(methods[_i], "leader-exits", 7);
}
END_TEST

START_TEST(command_with_exec_in_non_leader_thread_is_one_process)
{
	check_one_process(methods[_i], "thread-executes", 9);
}
END_TEST

/* The shell exits with 5 if it has the default action for SIGCHLD, and with 6 if it ignores the
 * signal. Its child uses enough CPU time to be noticed. */
static const char *const waits_for_a_child[] = {
	"sh", "-c",
	"(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done); grep -q '^SigIgn:.*[02468ace]....$' "
	"/proc/self/status && "
	"exit 5; exit 6",
	NULL
};

/* The command is a child of the caller, so the kernel reaps it and reports nothing of it. The
 * outcome must say so. */
static void check_poll_outcome(struct rt_command *command)
{
	struct rt_outcome outcome;

	ck_assert_int_eq(wait_for_end(command, &outcome), -ECHILD);
	ck_assert_int_eq(outcome.exit_code, -1);
	ck_assert_uint_eq(outcome.complete, 0);
	ck_assert_uint_ne(outcome.reasons & RT_REASON_UNWAITED, 0);
}

static void check_supervised_outcome(struct rt_command *command)
{
	struct rt_outcome outcome;

	ck_assert_int_eq(wait_for_end(command, &outcome), 0);
	ck_assert_int_eq(outcome.exit_code, 5);
	ck_assert_uint_eq(outcome.reasons & ~(uint32_t)RT_REASON_UNVERIFIED, 0);
	ck_assert_uint_gt(get_outcome_ns(&outcome), 20 * MS);
	/* Doubt about the proof is doubt about every member: their bytes are a lower bound then. */
	ck_assert_uint_eq((outcome.reasons ? outcome.partial : outcome.valid) & RT_HAS_IO,
	                  RT_HAS_IO);
}

static void check_sigchld_is_reset(uint32_t method)
{
	struct rt_command *command = start_with(method, waits_for_a_child);

	if (!command)
		return;
	if (method == RT_ACCOUNTING_POLL)
		check_poll_outcome(command);
	else
		check_supervised_outcome(command);
	rt_command_free(command);
}

START_TEST(command_of_caller_that_ignores_sigchld_has_default_action)
{
	struct sigaction now;

	signal(SIGCHLD, SIG_IGN);

	check_sigchld_is_reset(methods[_i]);

	sigaction(SIGCHLD, NULL, &now);
	ck_assert_ptr_eq(now.sa_handler, SIG_IGN); /* the caller's action is unchanged */
}
END_TEST

START_TEST(command_of_caller_with_nocldwait_has_default_action)
{
	const struct sigaction action = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT };

	sigaction(SIGCHLD, &action, NULL);

	check_sigchld_is_reset(methods[_i]);
}
END_TEST

static void close_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		close(fd);
}

/* The descriptors that the library opens get the numbers 0 to 2, and the program must inherit none
 * of them. */
START_TEST(command_of_caller_without_standard_descriptors_has_none_either)
{
	const char *argv[] = {
		"sh", "-c",
		"for i in 0 1 2; do test -e /proc/$$/fd/$i && exit 4; done; sleep 0.05; exit 3",
		NULL
	};
	struct rt_command *command;
	struct rt_outcome outcome;

	close_standard_descriptors();
	command = start_with(methods[_i], argv);
	if (!command)
		return;

	ck_assert_int_eq(wait_for_end(command, &outcome), 0);
	ck_assert_int_eq(outcome.exit_code, 3);
	ck_assert_uint_eq(outcome.reasons & RT_REASON_UNWAITED, 0);
	rt_command_free(command);
	ck_assert_int_eq(open("/dev/null", O_RDWR | O_CLOEXEC), 0); /* the library left none open */
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("hard_trees");
	TCase *branches = suite_case(suite, "branches"), *members = suite_case(suite, "members");
	TCase *threads = suite_case(suite, "threads"), *callers = suite_case(suite, "callers");

	tcase_add_test(branches, totals_with_branches_that_exit_between_reads_count_once);
	tcase_add_test(members, tracker_with_child_that_forbids_dumps_reports_lower_bounds);
	tcase_add_test(members, tracker_with_child_of_other_user_reports_lower_bounds);
	tcase_add_loop_test(threads, command_after_exit_of_its_leader_ends_with_its_last_thread, 0,
	                    METHODS);
	tcase_add_loop_test(threads, command_with_exec_in_non_leader_thread_is_one_process, 0,
	                    METHODS);
	tcase_add_loop_test(callers, command_of_caller_that_ignores_sigchld_has_default_action, 0,
	                    METHODS);
	tcase_add_loop_test(callers, command_of_caller_with_nocldwait_has_default_action, 0,
	                    METHODS);
	tcase_add_loop_test(callers, command_of_caller_without_standard_descriptors_has_none_either,
	                    0, METHODS);
	return suite;
}

int main(int argc, char **argv)
{
	if (access("/proc/self/exe", R_OK) < 0)
		return suite_skip("no /proc to find this program in");
	if (argc > 1)
		return run_program(argv[1]);
	return suite_run(make_suite());
}
