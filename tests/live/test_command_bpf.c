/* SPDX-License-Identifier: MIT */
/* RT_ACCOUNTING_BPF: what no process waits for is in the outcome and in the process list.
 *
 * Under load the kernel may run no BPF program for one of some thousand threads. The outcome then
 * has RT_REASON_EVENTS_LOST, and a test begins again. */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "refusals.h"
#include "suite.h"
#include "uring_work.h"
#include "workload.h"

#define MS UINT64_C(1000000)
#define TRIES 50
#define CHILDREN 20
#define CHILD_MS 5
#define WRITTEN (1 << 20)
#define URING_MS 100
#define THREADS 100
#define SWITCHES_VARIABLE "RTRACK_TEST_SWITCHES"

static const struct rt_command_opts with_bpf = { .accounting = RT_ACCOUNTING_BPF,
	                                         .flags = RT_COMMAND_LIST_PROCESSES };

/* The programs of this test: this file executes itself. */
static void burn_ms(unsigned ms)
{
	burn_cpu_ns(ms * MS);
}

static void forget_children(void)
{
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < CHILDREN; i++) {
		if (fork() == 0) {
			burn_ms(CHILD_MS);
			_exit(i);
		}
	}
	while (wait(NULL) > 0)
		;
}

/* The child of a child works on after both have ended. */
static void double_fork(void)
{
	if (fork() == 0) {
		if (fork() == 0) {
			burn_ms(4 * CHILD_MS);
			_exit(5);
		}
		_exit(0);
	}
	wait(NULL);
}

/* The child writes, the parent waits for it. */
static void write_by_child(void)
{
	static const char block[WRITTEN];

	if (fork() == 0) {
		int fd = open(".", O_TMPFILE | O_WRONLY, 0600);

		_exit(write(fd, block, WRITTEN) == WRITTEN && fsync(fd) == 0 ? 0 : 1);
	}
	wait(NULL);
}

static void *end_at_once(void *arg)
{
	return arg;
}

/* Threads that end while their process runs on. Its context switches go to the file in the
 * environment, as the kernel tells it. */
static void end_threads(void)
{
	FILE *file = fopen(getenv(SWITCHES_VARIABLE), "we");
	struct rusage own;

	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
			pthread_join(thread, NULL);
		usleep(1000);
	}
	if (!file || getrusage(RUSAGE_SELF, &own) != 0)
		_exit(1);
	fprintf(file, "%ld %ld\n", own.ru_nvcsw, own.ru_nivcsw);
	fclose(file);
}

static int run_program(const char *name)
{
	if (strcmp(name, "writes") == 0)
		write_by_child();
	else if (strncmp(name, "forgets", 7) == 0)
		forget_children();
	else if (strcmp(name, "ends-threads") == 0)
		end_threads();
	else if (strcmp(name, "double-forks") == 0)
		double_fork();
	else if (strcmp(name, "uses-uring") == 0)
		work_by_uring(URING_MS * MS);
	if (strcmp(name, "forgets-and-stays") == 0)
		pause();
	return 9;
}

static bool is_lost(const struct rt_outcome *outcome)
{
	return outcome->reasons & RT_REASON_EVENTS_LOST;
}

static struct rt_command *start_self(const char *program)
{
	char path[4096] = "";
	const char *argv[] = { path, program, NULL };
	struct rt_command *command;

	ck_assert_int_gt(readlink("/proc/self/exe", path, sizeof(path) - 1), 0);
	ck_assert_int_eq(start_command(&command, with_bpf, argv), 0);
	return command;
}

/* The caller frees the command. */
static struct rt_command *run_self(const char *program, struct rt_outcome *outcome)
{
	for (int tries = 0; tries < TRIES; tries++) {
		struct rt_command *command = start_self(program);

		*outcome = finish_command(command);
		if (!is_lost(outcome))
			return command;
		rt_command_free(command);
	}
	ck_abort_msg("each time events were lost");
}

static uint64_t cpu_ns(const struct rt_outcome *outcome)
{
	return outcome->cpu_user_ns + outcome->cpu_system_ns;
}

static void check_complete(const struct rt_outcome *outcome)
{
	const uint64_t whole =
	    RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_CTXSW | RT_HAS_IO | RT_HAS_PROCESSES;

	ck_assert_uint_eq(outcome->accounting, RT_ACCOUNTING_BPF);
	ck_assert_uint_eq(outcome->reasons, 0);
	ck_assert_uint_eq(outcome->complete, 1);
	ck_assert_uint_eq(outcome->valid & whole, whole);
	ck_assert_uint_eq(outcome->partial & whole, 0);
	ck_assert_uint_eq(outcome->cpu_low_ns, cpu_ns(outcome));
	ck_assert_uint_eq(outcome->cpu_high_ns, cpu_ns(outcome));
}

static void check_row(const struct rt_command_process *row, bool has_executed)
{
	const uint32_t flags = RT_PROCESS_FINAL | RT_PROCESS_OWN_IO;

	ck_assert_uint_eq(row->flags, has_executed ? flags : flags | RT_PROCESS_NO_EXEC);
	ck_assert_uint_eq(row->partial, 0);
	ck_assert_uint_eq(row->valid & (RT_HAS_CPU | RT_HAS_IO), RT_HAS_CPU | RT_HAS_IO);
	ck_assert_uint_gt(row->start_realtime_ns, 0);
	ck_assert_uint_ge(row->end_realtime_ns, row->start_realtime_ns);
}

START_TEST(children_that_no_process_waits_for_are_in_outcome_and_list)
{
	struct rt_command_process rows[CHILDREN + 1];
	size_t count = CHILDREN + 1;
	struct rt_outcome outcome;
	struct rt_command *command = run_self("forgets", &outcome);
	uint64_t sum_ns = 0;
	uint32_t codes = 0;

	check_complete(&outcome);
	ck_assert_uint_eq(outcome.processes, CHILDREN + 1);
	ck_assert_uint_ge(cpu_ns(&outcome), CHILDREN * CHILD_MS * MS);
	ck_assert_int_eq(rt_command_processes(command, rows, sizeof(rows[0]), &count), 0);
	ck_assert_uint_eq(count, CHILDREN + 1);
	for (size_t i = 0; i < count; i++) {
		check_row(&rows[i], i == 0);
		sum_ns += rows[i].cpu_user_ns + rows[i].cpu_system_ns;
		if (i > 0)
			codes |= 1u << rows[i].exit_code;
	}
	ck_assert_uint_eq(sum_ns, cpu_ns(&outcome));
	ck_assert_uint_eq(codes, (1u << CHILDREN) - 1);
	ck_assert_int_eq(rows[0].exit_code, 9);
	rt_command_free(command);
}
END_TEST

START_TEST(own_io_of_a_process_is_without_children)
{
	struct rt_command_process rows[2];
	size_t count = 2;
	struct rt_outcome outcome;
	struct rt_command *command = run_self("writes", &outcome);
	struct rt_metrics m;

	rt_sample(rt_command_tracker(command), &m, sizeof(m));
	ck_assert_int_eq(rt_command_processes(command, rows, sizeof(rows[0]), &count), 0);
	ck_assert_uint_eq(count, 2);
	/* A file system in memory writes nothing. */
	ck_assert_uint_eq(rows[0].own_write_bytes + rows[1].own_write_bytes, m.write_bytes);
	if (m.write_bytes >= WRITTEN) {
		ck_assert_uint_lt(rows[0].own_write_bytes, WRITTEN);
		ck_assert_uint_ge(rows[0].write_bytes, WRITTEN);
		ck_assert_uint_ge(rows[1].own_write_bytes, WRITTEN);
	}
	rt_command_free(command);
}
END_TEST

/* The kernel makes them without the tracepoint of a fork. */
START_TEST(threads_that_the_kernel_makes_are_in_outcome_and_list)
{
	struct rt_command_process row;
	size_t count = 1;
	struct rt_outcome outcome;
	struct rt_command *command;

	if (!has_uring()) {
		suite_skip_test("io_uring is refused here");
		return;
	}
	command = run_self("uses-uring", &outcome);
	check_complete(&outcome);
	ck_assert_uint_eq(outcome.processes, 1);
	ck_assert_uint_ge(cpu_ns(&outcome), URING_MS * MS);
	ck_assert_int_eq(rt_command_processes(command, &row, sizeof(row), &count), 0);
	ck_assert_uint_eq(count, 1);
	check_row(&row, true);
	ck_assert_uint_eq(row.cpu_user_ns + row.cpu_system_ns, cpu_ns(&outcome));
	rt_command_free(command);
}
END_TEST

START_TEST(last_sample_has_the_totals_of_the_outcome)
{
	struct rt_outcome outcome;
	struct rt_command *command = run_self("forgets", &outcome);
	struct rt_metrics m;

	rt_sample(rt_command_tracker(command), &m, sizeof(m));
	ck_assert_uint_eq(m.cpu_user_ns, outcome.cpu_user_ns);
	ck_assert_uint_eq(m.cpu_system_ns, outcome.cpu_system_ns);
	ck_assert_uint_eq(m.processes_seen, outcome.processes);
	ck_assert_uint_eq(m.reasons, 0);
	ck_assert_uint_ne(m.valid & RT_HAS_CPU, 0);
	rt_command_free(command);
}
END_TEST

static int has_one_process_left(void *arg)
{
	struct rt_metrics m;

	ck_assert_int_eq(rt_sample(rt_command_tracker(arg), &m, sizeof(m)), 0);
	return m.processes_seen == CHILDREN + 1 && m.processes == 1;
}

/* The children have ended, and no process could wait for them. */
START_TEST(sample_of_a_running_program_has_what_no_process_waits_for)
{
	const uint64_t counters = RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_CTXSW | RT_HAS_IO;
	struct rt_metrics m = { .reasons = RT_REASON_EVENTS_LOST };

	for (int tries = 0; tries < TRIES && m.reasons & RT_REASON_EVENTS_LOST; tries++) {
		struct rt_command *command = start_self("forgets-and-stays");

		wait_until(has_one_process_left, command);
		ck_assert_int_eq(rt_sample(rt_command_tracker(command), &m, sizeof(m)), 0);
		ck_assert_int_eq(rt_command_kill(command), 0);
		finish_command(command);
		rt_command_free(command);
	}
	ck_assert_uint_eq(m.reasons, 0);
	ck_assert_uint_eq(m.source, RT_SOURCE_BPF_ACCOUNT);
	ck_assert_uint_eq(m.valid & counters, counters);
	ck_assert_uint_ge(m.cpu_user_ns + m.cpu_system_ns, CHILDREN * CHILD_MS * MS);
}
END_TEST

/* Samples a command to its end. Returns whether it was accounted for to the end. */
static bool sample_to_end(struct rt_command *command, struct rt_outcome *outcome)
{
	struct rt_metrics m;
	uint64_t switches = 0;

	while (rt_command_wait(command, 2 * MS, outcome, sizeof(*outcome)) == -ETIMEDOUT) {
		rt_sample(rt_command_tracker(command), &m, sizeof(m));
		ck_assert_uint_ge(m.voluntary_switches, switches);
		switches = m.voluntary_switches;
	}
	return !is_lost(outcome);
}

/* The last switch of a thread comes after its process has got its account. */
START_TEST(samples_add_no_switch_of_threads_that_have_ended)
{
	struct rt_outcome outcome = { 0 };
	bool is_whole = false;
	char path[512];
	long voluntary, involuntary;
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/rtrack-test-switches-%d", (int)getpid());
	setenv(SWITCHES_VARIABLE, path, 1);
	for (int tries = 0; tries < TRIES && !is_whole; tries++) {
		struct rt_command *command = start_self("ends-threads");

		is_whole = sample_to_end(command, &outcome);
		rt_command_free(command);
	}
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%ld %ld", &voluntary, &involuntary), 2);
	fclose(file);
	unlink(path);
	check_complete(&outcome);
	ck_assert_int_ge(outcome.rusage.ru_nvcsw, voluntary);
	ck_assert_int_le(outcome.rusage.ru_nvcsw, voluntary + THREADS / 10);
	ck_assert_int_ge(outcome.rusage.ru_nivcsw, involuntary);
}
END_TEST

/* Whether a process has a socket of the proc connector. Its first netlink socket has its pid. */
static bool has_event_socket(int32_t pid)
{
	FILE *file = fopen("/proc/net/netlink", "re");
	char line[256];
	bool has_one = false;

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		int protocol, owner;

		if (sscanf(line, "%*s %d %d", &protocol, &owner) == 2)
			has_one |= protocol == NETLINK_CONNECTOR && owner == pid;
	}
	fclose(file);
	return has_one;
}

static int has_seen_nine(void *arg)
{
	struct rt_metrics m;

	ck_assert_int_eq(rt_sample(rt_command_tracker(arg), &m, sizeof(m)), 0);
	ck_assert_uint_le(m.processes_seen, 9);
	ck_assert_uint_ne(m.valid & RT_HAS_PROCESSES_SEEN, 0);
	return m.processes_seen == 9;
}

/* No sample sees them all. Events of a process would cost its supervisor and the system some 10 us
 * each. */
START_TEST(running_tree_is_counted_without_process_events)
{
	const struct rt_command_opts with_wait = { .accounting = RT_ACCOUNTING_WAIT };
	struct rt_command *command = start_shell_with(
	    with_bpf, "for i in 1 2 3 4 5 6 7 8; do /bin/true; done; exec sleep 60");

	wait_until(has_seen_nine, command);
	ck_assert(!has_event_socket(get_supervisor_pid(command)));
	ck_assert_int_eq(rt_command_kill(command), 0);
	ck_assert_uint_eq(finish_command(command).processes, 9);
	rt_command_free(command);

	command = start_shell_with(with_wait, "exec sleep 60");
	ck_assert_int_eq(has_event_socket(get_supervisor_pid(command)), has_process_events());
	ck_assert_int_eq(rt_command_kill(command), 0);
	finish_command(command);
	rt_command_free(command);
}
END_TEST

START_TEST(process_that_is_left_running_is_the_only_reason)
{
	struct rt_outcome outcome;
	struct rt_command *command = run_self("double-forks", &outcome);

	if (outcome.left_running) { /* it may have ended before */
		ck_assert_uint_eq(outcome.reasons, RT_REASON_LEFT_RUNNING);
		ck_assert_uint_eq(outcome.complete, 0);
		ck_assert_int_eq(rt_command_kill(command), 0);
		outcome = finish_command(command);
	}
	check_complete(&outcome);
	ck_assert_uint_eq(outcome.processes, 3);
	rt_command_free(command);
}
END_TEST

/* Its orphans have another parent then. */
START_TEST(account_survives_the_death_of_the_supervisor)
{
	struct rt_outcome outcome;

	for (int tries = 0; tries < TRIES; tries++) {
		struct rt_command *command = start_shell_with(
		    with_bpf, "sleep 0.3; kill -9 $PPID; i=0;"
			      " while [ $i -lt 20 ]; do /bin/true; i=$((i+1)); done");

		rt_command_wait(command, WAIT_FOREVER, &outcome, sizeof(outcome));
		rt_command_free(command);
		if (!is_lost(&outcome))
			break;
	}
	check_complete(&outcome);
	ck_assert_uint_eq(outcome.processes, 22);
}
END_TEST

START_TEST(forked_host_frees_its_copy_and_the_command_goes_on)
{
	struct rt_command *command = start_self("forgets");
	struct rt_outcome outcome;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		rt_command_free(command);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	outcome = finish_command(command);
	if (!is_lost(&outcome))
		check_complete(&outcome);
	ck_assert_uint_ge(outcome.processes, 1);
	rt_command_free(command);
}
END_TEST

static void do_nothing(int signal)
{
	(void)signal;
}

static void set_timer(suseconds_t us)
{
	const struct itimerval timer = { { .tv_usec = us }, { .tv_usec = us } };

	ck_assert_int_eq(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

/* As a profiler has one. The kernel gives up to check a program if a signal waits. */
START_TEST(command_that_starts_under_a_fast_timer_is_accounted_for)
{
	const struct sigaction action = { .sa_handler = do_nothing, .sa_flags = SA_RESTART };
	sigset_t before, after;

	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &before), 0);
	for (int i = 0; i < 5; i++) {
		struct rt_command *command;

		set_timer(500);
		command = start_self("");
		set_timer(0);
		ck_assert_int_eq(finish_command(command).exit_code, 9);
		rt_command_free(command);
	}
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &after), 0);
	ck_assert_int_eq(sigismember(&before, SIGALRM), sigismember(&after, SIGALRM));
	ck_assert_int_eq(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
}
END_TEST

/* What the kernel does to close the ring comes while the programs are loaded. */
START_TEST(command_that_starts_after_a_ring_was_closed_is_accounted_for)
{
	for (int i = 0; i < 5 && has_uring(); i++) {
		struct rt_command *command = start_self("");

		ck_assert_int_eq(finish_command(command).exit_code, 9);
		rt_command_free(command);
	}
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite;
	TCase *outcomes;

	if (argc > 1) /* at exit a sanitizer may fork */
		_exit(run_program(argv[1]));
	if (!IS_BUILT)
		return suite_skip("the BPF plug-in was not built");
	if (!has_bpf_accounting())
		return suite_skip("BPF programs cannot account for processes here");
	suite = suite_create("command_bpf");
	outcomes = suite_case(suite, "outcomes");
	tcase_add_test(outcomes, children_that_no_process_waits_for_are_in_outcome_and_list);
	tcase_add_test(outcomes, own_io_of_a_process_is_without_children);
	tcase_add_test(outcomes, threads_that_the_kernel_makes_are_in_outcome_and_list);
	tcase_add_test(outcomes, last_sample_has_the_totals_of_the_outcome);
	tcase_add_test(outcomes, running_tree_is_counted_without_process_events);
	tcase_add_test(outcomes, samples_add_no_switch_of_threads_that_have_ended);
	tcase_add_test(outcomes, sample_of_a_running_program_has_what_no_process_waits_for);
	tcase_add_test(outcomes, process_that_is_left_running_is_the_only_reason);
	tcase_add_test(outcomes, account_survives_the_death_of_the_supervisor);
	tcase_add_test(outcomes, command_that_starts_under_a_fast_timer_is_accounted_for);
	tcase_add_test(outcomes, command_that_starts_after_a_ring_was_closed_is_accounted_for);
	tcase_add_test(outcomes, forked_host_frees_its_copy_and_the_command_goes_on);
	return suite_run(suite);
}
