/* SPDX-License-Identifier: MIT */
/* What trees do to a tracker: whole branches that end between two reads, members that may not be
 * read, leaders that exit first, hosts that ignore SIGCHLD or have closed their standard
 * descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"

#define MS 1000000
#define FOR_EVER (-1)
#define NOBODY 65534
#define SOMEBODY_ELSE 65533
#define CHUNK 1000 /* bytes of one write */

static struct rt_tracker *tracker;
static struct rt_metrics m;
static struct rt_command *command;
static struct rt_outcome outcome;
static char own_path[4096]; /* this program, which is also what the commands below run */

static const uint32_t rungs[] = { RT_ACCOUNTING_POLL, RT_ACCOUNTING_WAIT, RT_ACCOUNTING_CGROUP };
enum { RUNG_COUNT = sizeof(rungs) / sizeof(rungs[0]) };

static void track(pid_t pid)
{
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, pid, NULL), 0);
}

static int sample(void)
{
	return rt_sample(tracker, &m, sizeof(m));
}

static uint64_t sampled_cpu_ns(void)
{
	return m.cpu_user_ns + m.cpu_system_ns;
}

static uint64_t outcome_cpu_ns(void)
{
	return outcome.cpu_user_ns + outcome.cpu_system_ns;
}

/* 0 where the machine has no such rung. */
static int start_at(uint32_t rung, const char *const argv[])
{
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .accounting = rung };
	int err = rt_command_start(&command, &opts);

	if (rung == RT_ACCOUNTING_CGROUP && err == -EOPNOTSUPP)
		return 0;
	ck_assert_int_eq(err, 0);
	return 1;
}

static int await(void)
{
	return rt_command_wait(command, FOR_EVER, &outcome, sizeof(outcome));
}

static void *shared_space(void)
{
	void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(shared, MAP_FAILED);
	return shared;
}

static unsigned draw(unsigned below)
{
	static unsigned state = 1;

	state = state * 1103515245u + 12345u;
	return (state >> 16) % below;
}

/* The truth as far as it is known before the end: at most so many bytes have been written. */
struct branches {
	atomic_ulong bytes, ended;
	atomic_int is_up, may_start, must_stop;
};

static void grow_leaf(struct branches *b, int null, unsigned ms)
{
	static const char chunk[CHUNK];

	atomic_fetch_add(&b->bytes, CHUNK);
	burn_cpu_ns(ms * MS);
	if (write(null, chunk, CHUNK) != CHUNK)
		_exit(98);
	_exit(0);
}

static void grow_branch(struct branches *b, int null)
{
	for (int i = 0; i < 2; i++) {
		unsigned ms = draw(3);

		if (fork() == 0)
			grow_leaf(b, null, ms);
	}
	usleep(draw(2000));
	while (wait(NULL) > 0)
		;
	burn_cpu_ns(draw(2) * MS);
	_exit(0);
}

/* Three branches at a time, of two leaves each; all are reaped, at once or after a while as
 * zombies. */
static void grow_branches(void *arg)
{
	struct branches *b = arg;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	atomic_store(&b->is_up, 1);
	while (!atomic_load(&b->may_start))
		usleep(1000);
	while (!atomic_load(&b->must_stop)) {
		for (int i = 0; i < 3; i++) {
			draw(2); /* each another one */
			if (fork() == 0)
				grow_branch(b, null);
		}
		usleep(draw(4000));
		while (wait(NULL) > 0)
			atomic_fetch_add(&b->ended, 1);
	}
	close(null);
}

static void end_and_account(struct child *child, struct rusage *truth)
{
	close(child->go_fd);
	ck_assert_int_eq(wait4(child->pid, NULL, 0, truth), child->pid);
	close(child->ready_fd);
}

static uint64_t rusage_ns(const struct rusage *r)
{
	return ((uint64_t)r->ru_utime.tv_sec + (uint64_t)r->ru_stime.tv_sec) * 1000000000u +
	       ((uint64_t)r->ru_utime.tv_usec + (uint64_t)r->ru_stime.tv_usec) * 1000u;
}

/* At a random moment: nothing falls, and no byte is there before it was written, or twice. */
static void sample_among_branches(const struct rt_metrics *last, struct branches *b)
{
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_le(m.write_chars, atomic_load(&b->bytes));
	ck_assert_uint_ge(m.write_chars, last->write_chars);
	ck_assert_uint_ge(m.cpu_user_ns, last->cpu_user_ns);
	ck_assert_uint_ge(m.cpu_system_ns, last->cpu_system_ns);
	ck_assert_uint_ge(m.minor_faults, last->minor_faults);
}

static int is_up(void *arg)
{
	struct branches *b = arg;

	return atomic_load(&b->is_up);
}

START_TEST(branches_that_end_between_two_reads_count_once)
{
	struct branches *b = shared_space();
	struct rt_metrics last = { 0 };
	struct rusage truth;
	struct child child;

	child_start_async(&child, grow_branches, b);
	wait_until(is_up, b);
	track(child.pid);
	ck_assert_int_eq(sample(), 0);
	atomic_store(&b->bytes, m.write_chars); /* libcheck writes in a child too */
	atomic_store(&b->may_start, 1);
	for (int i = 0; i < 400 || atomic_load(&b->ended) < 300; i++) {
		sample_among_branches(&last, b);
		last = m;
		usleep(draw(3000));
	}
	atomic_store(&b->must_stop, 1);
	child_await(&child);
	ck_assert_int_eq(sample(), 0);
	/* the byte that says it is ready */
	ck_assert_uint_eq(m.write_chars, atomic_load(&b->bytes) + 1);
	end_and_account(&child, &truth);
	/* The clock reads to the ns what wait4 cuts to the us; reaped time is shown in ticks,
	 * for each of two modes. */
	ck_assert_uint_le(sampled_cpu_ns(), rusage_ns(&truth) + MS);
	ck_assert_uint_ge(sampled_cpu_ns() + 22 * MS, rusage_ns(&truth));
	ck_assert_int_le((long)m.minor_faults, truth.ru_minflt);
	ck_assert_int_ge((long)m.minor_faults + 20, truth.ru_minflt);
	rt_tracker_free(tracker);
}
END_TEST

static void become(uid_t uid)
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

static void become_somebody_else(void)
{
	become(SOMEBODY_ELSE);
}

struct hidden {
	void (*hide)(void);
	atomic_int is_hidden;
};

/* As a program with the setuid bit does: it keeps its parent and is no longer the watcher's to
 * read. */
static void start_hidden(void *arg)
{
	static const char chunk[CHUNK];
	struct hidden *hidden = arg;
	pid_t parent = getpid();
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fork() == 0) {
		burn_cpu_ns(40 * MS);
		hidden->hide();
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of user takes it back */
		if (getppid() != parent)
			_exit(1);
		atomic_store(&hidden->is_hidden, 1);
		for (;;)
			pause();
	}
	if (write(null, chunk, CHUNK) != CHUNK)
		_exit(98);
	if (geteuid() == 0)
		become(NOBODY);
	while (!atomic_load(&hidden->is_hidden))
		usleep(1000);
}

static void watch_hidden(void (*hide)(void))
{
	const uint64_t known = RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_PROCESSES | RT_HAS_THREADS;
	const uint64_t unknown = RT_HAS_IO | RT_HAS_PSS;
	struct hidden *hidden = shared_space();
	struct child child;

	hidden->hide = hide;
	child_start(&child, start_hidden, hidden);
	if (geteuid() == 0)
		become(NOBODY);
	track(child.pid);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(sample(), 0);
		ck_assert_uint_eq(m.processes, 2);
		ck_assert_uint_eq(m.valid & known, known);
		ck_assert_uint_ge(sampled_cpu_ns(), 40 * MS); /* the hidden one's */
		ck_assert_uint_eq(m.valid & unknown, 0);
		/* the other's is there: a lower bound */
		ck_assert_uint_eq(m.partial & unknown, unknown);
		ck_assert_uint_ge(m.write_chars, CHUNK);
		ck_assert_uint_gt(m.pss_bytes, 0);
		ck_assert_uint_eq(m.members_unreadable, 1);
		ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_IO), -EACCES);
	}
	child_end(&child);
	rt_tracker_free(tracker);
}

START_TEST(a_child_that_forbids_dumps_leaves_lower_bounds)
{
	watch_hidden(forbid_dumps);
}
END_TEST

START_TEST(a_child_of_another_user_leaves_lower_bounds)
{
	watch_hidden(become_somebody_else);
}
END_TEST

/* The program of a command: the leader exits, a thread goes on for a while and has the last
 * word. */
static void *go_on_alone(void *arg)
{
	usleep(50000);
	burn_cpu_ns(60 * MS);
	_exit(7);
	return arg;
}

static void let_leader_exit(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, go_on_alone, NULL);
	syscall(SYS_exit, 0); /* this thread alone */
}

/* The program of a command: a thread that is not the leader executes another program. */
static void *execute_in_thread(void *arg)
{
	execl(own_path, own_path, "burn", (char *)NULL);
	_exit(98);
	return arg;
}

static void execute_from_another_thread(void)
{
	pthread_t thread;

	burn_cpu_ns(30 * MS);
	pthread_create(&thread, NULL, execute_in_thread, NULL);
	for (;;)
		pause();
}

static void burn(void)
{
	burn_cpu_ns(30 * MS);
	_exit(9);
}

static int run_as_command(const char *what)
{
	if (strcmp(what, "leader-exits") == 0)
		let_leader_exit();
	else if (strcmp(what, "thread-executes") == 0)
		execute_from_another_thread();
	else if (strcmp(what, "burn") == 0)
		burn();
	return 2;
}

static void run_itself(uint32_t rung, const char *what, int exit_code, uint64_t used_ns)
{
	const char *argv[] = { own_path, what, NULL };

	if (!start_at(rung, argv))
		return;
	while (rt_command_wait(command, 5 * MS, &outcome, sizeof(outcome)) == -ETIMEDOUT)
		rt_sample(rt_command_tracker(command), &m, sizeof(m));
	ck_assert_int_eq(await(), 0);
	ck_assert_int_eq(outcome.exit_code, exit_code);
	ck_assert_int_eq(outcome.signal, 0);
	ck_assert_uint_eq(outcome.processes, 1);
	ck_assert_uint_eq(outcome.left_running, 0);
	ck_assert_uint_ge(outcome_cpu_ns(), used_ns);
	ck_assert_uint_eq(outcome.reasons & (RT_REASON_UNWAITED | RT_REASON_UNREADABLE), 0);
	rt_command_free(command);
}

START_TEST(a_command_whose_leader_exits_first_ends_with_its_last_thread)
{
	run_itself(rungs[_i], "leader-exits", 7, 60 * MS);
}
END_TEST

START_TEST(a_command_that_executes_from_another_thread_is_the_same_process)
{
	run_itself(rungs[_i], "thread-executes", 9, 60 * MS);
}
END_TEST

/* 5 when the shell has the default action for SIGCHLD, 6 when it ignores it; and a child that is
 * worth noticing. */
static const char *const waits_for_a_child[] = {
	"sh", "-c",
	"(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done); grep -q '^SigIgn:.*[02468ace]....$' "
	"/proc/self/status && "
	"exit 5; exit 6",
	NULL
};

static void assert_sigchld_is_reset(uint32_t rung)
{
	if (!start_at(rung, waits_for_a_child))
		return;
	if (rung == RT_ACCOUNTING_POLL) {
		/* Our own child, of whom the kernel tells us nothing: that is told. */
		ck_assert_int_eq(await(), -ECHILD);
		ck_assert_int_eq(outcome.exit_code, -1);
		ck_assert_uint_eq(outcome.complete, 0);
		ck_assert_uint_ne(outcome.reasons & RT_REASON_UNWAITED, 0);
	} else {
		ck_assert_int_eq(await(), 0);
		ck_assert_int_eq(outcome.exit_code, 5);
		ck_assert_uint_eq(outcome.reasons & ~(uint32_t)RT_REASON_UNVERIFIED, 0);
		ck_assert_uint_gt(outcome_cpu_ns(), 20 * MS);
		ck_assert_uint_eq(outcome.valid & RT_HAS_IO, RT_HAS_IO);
	}
	rt_command_free(command);
}

START_TEST(a_host_that_ignores_sigchld_does_not_hand_it_on)
{
	struct sigaction now;

	signal(SIGCHLD, SIG_IGN);
	assert_sigchld_is_reset(rungs[_i]);
	sigaction(SIGCHLD, NULL, &now);
	ck_assert_ptr_eq(now.sa_handler, SIG_IGN); /* its own business */
}
END_TEST

START_TEST(a_host_that_wants_no_zombies_loses_nothing)
{
	const struct sigaction action = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT };

	sigaction(SIGCHLD, &action, NULL);
	assert_sigchld_is_reset(rungs[_i]);
}
END_TEST

static void close_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		close(fd);
}

/* What the library opens gets the numbers 0 to 2, and none of it may reach the program. */
START_TEST(a_host_without_standard_descriptors_starts_programs_without)
{
	const char *argv[] = {
		"sh", "-c",
		"for i in 0 1 2; do test -e /proc/$$/fd/$i && exit 4; done; sleep 0.05; exit 3",
		NULL
	};

	close_standard_descriptors();
	if (!start_at(rungs[_i], argv))
		return;
	ck_assert_int_eq(await(), 0);
	ck_assert_int_eq(outcome.exit_code, 3);
	ck_assert_uint_eq(outcome.reasons & RT_REASON_UNWAITED, 0);
	rt_command_free(command);
	ck_assert_int_eq(open("/dev/null", O_RDWR | O_CLOEXEC), 0); /* nothing was left open */
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("hard_trees");
	TCase *branches = suite_case(suite, "branches"), *members = suite_case(suite, "members");
	TCase *commands = suite_case(suite, "commands"), *host = suite_case(suite, "host");

	tcase_add_test(branches, branches_that_end_between_two_reads_count_once);
	tcase_add_test(members, a_child_that_forbids_dumps_leaves_lower_bounds);
	if (geteuid() == 0) /* nobody else can be two users */
		tcase_add_test(members, a_child_of_another_user_leaves_lower_bounds);
	tcase_add_loop_test(commands, a_command_whose_leader_exits_first_ends_with_its_last_thread,
	                    0, RUNG_COUNT);
	tcase_add_loop_test(commands,
	                    a_command_that_executes_from_another_thread_is_the_same_process, 0,
	                    RUNG_COUNT);
	tcase_add_loop_test(host, a_host_that_ignores_sigchld_does_not_hand_it_on, 0, RUNG_COUNT);
	tcase_add_loop_test(host, a_host_that_wants_no_zombies_loses_nothing, 0, RUNG_COUNT);
	tcase_add_loop_test(host, a_host_without_standard_descriptors_starts_programs_without, 0,
	                    RUNG_COUNT);
	return suite;
}

int main(int argc, char **argv)
{
	if (readlink("/proc/self/exe", own_path, sizeof(own_path) - 1) < 0)
		return suite_skip("no /proc to find this program in");
	if (argc > 1)
		return run_as_command(argv[1]);
	return suite_run(make_suite());
}
