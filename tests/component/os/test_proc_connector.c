/* SPDX-License-Identifier: MIT */
/* The kernel's process events: what is received about our own children, what is filtered, and how a
 * loss is reported. */
#include <errno.h>
#include <fcntl.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "os/platform.h"
#include "os/proc_connector.h"
#include "suite.h"

#define CHILDREN 200
#define THREADS 50
#define UNUSED_PID 4000000

#define PIDS_MAX (1 << 22)

/* What was received about this process and its children. The events of other processes are not
 * predictable. */
struct received {
	int32_t parent;
	unsigned fork_counts, execs, exits, thread_forks, thread_exits, names, traces;
	uint32_t last_status;
	uint64_t fork_ns, exit_ns;
	char name[17];
	unsigned impossible; /* events about a process that cannot exist */
	bool is_lost;        /* events were lost */
};

static struct {
	int events; /* the subscription */
	struct received received;
	bool is_child[PIDS_MAX];
} fix;

/* An exit that is reported after the process was reaped has no parent. */
static bool is_own_event(const struct rti_process_event *event)
{
	if (event->pid <= 0 || event->pid >= PIDS_MAX)
		ck_abort_msg("there is no process %d", event->pid);
	if (event->kind == RTI_EVENT_FORK)
		fix.is_child[event->pid] =
		    event->ppid == fix.received.parent && event->pid != fix.received.parent;
	return event->pid == fix.received.parent || fix.is_child[event->pid];
}

static void count_exit(const struct rti_process_event *event)
{
	if (event->tid != event->pid) {
		fix.received.thread_exits++;
		return;
	}
	fix.received.exits++;
	fix.received.last_status = event->status;
	fix.received.exit_ns = event->monotonic_ns;
}

static void count_event(void *arg, const struct rti_process_event *event)
{
	if (arg != &fix.received)
		ck_abort_msg("another argument");
	fix.received.impossible += event->pid == UNUSED_PID;
	if (!is_own_event(event))
		return;
	switch (event->kind) {
	case RTI_EVENT_FORK:
		fix.received.thread_forks += event->tid != event->pid;
		fix.received.fork_counts += event->tid == event->pid;
		fix.received.fork_ns = event->monotonic_ns;
		break;
	case RTI_EVENT_EXEC:
		fix.received.execs++;
		break;
	case RTI_EVENT_COMM:
		fix.received.names++;
		memcpy(fix.received.name, event->comm, sizeof(fix.received.name));
		break;
	case RTI_EVENT_EXIT:
		count_exit(event);
		break;
	case RTI_EVENT_TRACE:
		fix.received.traces++;
		break;
	case RTI_EVENT_OTHER:
		ck_abort_msg("not an event");
	}
}

static int drain(void)
{
	return rti_events_drain(fix.events, count_event, &fix.received);
}

static void subscribe_with(int events)
{
	fix.received = (struct received){ .parent = getpid() };
	memset(fix.is_child, 0, sizeof(fix.is_child));
	fix.events = events;
	ck_assert_int_ge(fix.events, 0);
}

static void subscribe(unsigned also)
{
	subscribe_with(rti_events_open(also, NULL));
}

static void unsubscribe(void)
{
	rti_events_close(fix.events);
}

static pid_t start_child(void (*work)(void))
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		work();
		_exit(7);
	}
	return pid;
}

static void do_nothing(void)
{
}

static void reap(pid_t pid)
{
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* Without root, the buffer is small, and other processes may fill it. Then the test is skipped. */
static void drain_checked(void)
{
	int err = drain();

	if (err == -ENOBUFS && geteuid() != 0) {
		fix.received.is_lost = true;
		suite_skip_test("the small buffer of a user without rights has run over");
	} else {
		ck_assert_int_eq(err, 0);
	}
}

/* The event of an exit may arrive a moment after the process was reaped. */
static int has_all_exits(void *wanted)
{
	drain_checked();
	return fix.received.is_lost || fix.received.exits >= *(unsigned *)wanted;
}

/* Returns false if some were lost. */
static bool wait_for_exits(unsigned wanted)
{
	wait_until(has_all_exits, &wanted);
	if (!fix.received.is_lost)
		ck_assert_uint_eq(fix.received.exits, wanted);
	return !fix.received.is_lost;
}

/* Drains after each child, since the buffer may be small. */
START_TEST(forks_and_exits_are_all_received)
{
	subscribe(0);
	for (int i = 0; i < CHILDREN; i++) {
		reap(start_child(do_nothing));
		drain_checked();
	}
	if (!wait_for_exits(CHILDREN))
		return;
	ck_assert_uint_eq(fix.received.fork_counts, CHILDREN);
	ck_assert_uint_eq(fix.received.execs, 0);
	ck_assert_uint_eq(fix.received.last_status, 7 << 8);
	ck_assert_uint_eq(
	    fix.received.thread_forks + fix.received.thread_exits + fix.received.names, 0);
	unsubscribe();
}
END_TEST

START_TEST(events_not_drained_wait_in_the_socket)
{
	unsigned many;

	subscribe(0);
	/* other processes fork as well */
	many = rti_events_capacity(fix.events) < 4000 ? 20 : CHILDREN;
	for (unsigned i = 0; i < many; i++)
		reap(start_child(do_nothing));
	if (!wait_for_exits(many))
		return;
	ck_assert_uint_eq(fix.received.fork_counts, many);
	unsubscribe();
}
END_TEST

START_TEST(events_before_the_subscription_are_not_received)
{
	reap(start_child(do_nothing));
	subscribe(0);
	reap(start_child(do_nothing));
	if (!wait_for_exits(1))
		return;
	ck_assert_uint_eq(fix.received.fork_counts, 1);
	unsubscribe();
}
END_TEST

START_TEST(event_times_are_on_the_monotonic_clock)
{
	struct rti_now before, after;
	struct rti_platform platform;

	rti_platform_init(&platform, false);
	subscribe(0);
	platform.now(&before);
	reap(start_child(do_nothing));
	if (!wait_for_exits(1))
		return;
	platform.now(&after);
	ck_assert_uint_ge(fix.received.fork_ns, before.monotonic_ns);
	ck_assert_uint_gt(fix.received.exit_ns, fix.received.fork_ns);
	ck_assert_uint_ge(after.monotonic_ns, fix.received.exit_ns);
	unsubscribe();
}
END_TEST

static void exec_shell(void)
{
	execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL);
}

START_TEST(exec_is_received)
{
	subscribe(0);
	reap(start_child(exec_shell));
	if (!wait_for_exits(1))
		return;
	ck_assert_uint_eq(fix.received.execs, 1);
	ck_assert_uint_eq(fix.received.last_status, 9 << 8);
	unsubscribe();
}
END_TEST

static void end_by_signal(void)
{
	signal(SIGTERM, SIG_DFL);
	raise(SIGTERM);
}

START_TEST(exit_by_signal_has_it_in_the_status)
{
	subscribe(0);
	reap(start_child(end_by_signal));
	if (!wait_for_exits(1))
		return;
	ck_assert_int_eq(WTERMSIG((int)fix.received.last_status), SIGTERM);
	unsubscribe();
}
END_TEST

static void *end_thread(void *arg)
{
	return arg;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, end_thread, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static int has_all_thread_exits(void *arg)
{
	(void)arg;
	drain_checked();
	return fix.received.is_lost || fix.received.thread_exits >= THREADS;
}

START_TEST(thread_events_by_default_are_filtered)
{
	subscribe(0);
	run_threads();
	reap(start_child(do_nothing));
	if (!wait_for_exits(1)) /* its exit event comes last */
		return;
	ck_assert_uint_eq(fix.received.thread_forks, 0);
	ck_assert_uint_eq(fix.received.thread_exits, 0);
	ck_assert_uint_eq(fix.received.fork_counts, 1);
	unsubscribe();
}
END_TEST

START_TEST(thread_exits_if_requested_are_received)
{
	subscribe(RTI_EVENTS_THREAD_EXITS);
	run_threads();
	wait_until(has_all_thread_exits, NULL);
	if (fix.received.is_lost)
		return;
	ck_assert_uint_eq(fix.received.thread_exits, THREADS);
	ck_assert_uint_eq(fix.received.thread_forks, 0);
	ck_assert_uint_eq(fix.received.fork_counts, 0);
	unsubscribe();
}
END_TEST

static int has_all_thread_forks(void *arg)
{
	(void)arg;
	drain_checked();
	return fix.received.is_lost || fix.received.thread_forks >= THREADS;
}

START_TEST(thread_subscription_receives_starts_of_threads_alone)
{
	subscribe_with(rti_events_open_threads(0));
	reap(start_child(exec_shell));
	run_threads();
	wait_until(has_all_thread_forks, NULL);
	if (fix.received.is_lost)
		return;
	ck_assert_uint_eq(fix.received.thread_forks, THREADS);
	ck_assert_uint_eq(fix.received.fork_counts + fix.received.execs, 0);
	ck_assert_uint_eq(fix.received.exits + fix.received.thread_exits, 0);
	unsubscribe();
}
END_TEST

START_TEST(events_of_threads_are_received_until_the_filter_is_set)
{
	subscribe(RTI_EVENTS_UNFILTERED);
	run_threads();
	wait_until(has_all_thread_forks, NULL);
	rti_events_filter(fix.events, 0);
	drain_checked();
	fix.received.thread_forks = 0;
	run_threads();
	reap(start_child(do_nothing));
	if (!wait_for_exits(1)) /* its exit event comes last */
		return;
	ck_assert_uint_eq(fix.received.thread_forks, 0);
	unsubscribe();
}
END_TEST

static void wait_to_be_killed(void)
{
	pause();
}

START_TEST(tracer_if_requested_is_received)
{
	pid_t pid;

	subscribe(_i ? RTI_EVENTS_TRACERS : 0);
	pid = start_child(wait_to_be_killed);
	ck_assert_int_eq(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	kill_process(pid, SIGKILL);
	reap(pid);
	if (!wait_for_exits(1))
		return;
	ck_assert_uint_eq(fix.received.traces, (unsigned)_i);
	unsubscribe();
}
END_TEST

static void set_name(void)
{
	prctl(PR_SET_NAME, "a \"b\n\xff)");
}

START_TEST(comm_changes_if_requested_are_received)
{
	subscribe(_i ? RTI_EVENTS_NAMES : 0);
	reap(start_child(set_name));
	if (!wait_for_exits(1))
		return;
	ck_assert_uint_eq(fix.received.names, (unsigned)_i);
	ck_assert_str_eq(fix.received.name, _i ? "a \"b\n\xff)" : "");
	unsubscribe();
}
END_TEST

static int drains_whole(void *arg)
{
	(void)arg;
	return drain() == 0;
}

START_TEST(event_loss_is_reported_and_then_events_continue)
{
	const int least = 1;
	int result = 0;

	subscribe(0);
	ck_assert_int_eq(setsockopt(fix.events, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least)), 0);
	ck_assert_uint_lt(rti_events_capacity(fix.events), 10);

	for (int i = 0; i < 50; i++)
		reap(start_child(do_nothing));
	result = drain();
	ck_assert_int_eq(result, -ENOBUFS);
	ck_assert_uint_lt(fix.received.fork_counts, 50);

	wait_until(drains_whole, NULL); /* other processes may fork as well */
	unsubscribe();
}
END_TEST

START_TEST(closed_socket_fails_with_ebadf)
{
	subscribe(0);
	unsubscribe();
	ck_assert_int_eq(drain(), -EBADF);
}
END_TEST

struct spoof {
	struct nlmsghdr netlink;
	struct cb_id id;
	uint32_t seq, ack;
	uint16_t len, flags;
	struct proc_event event;
} __attribute__((packed));

static uint32_t get_port(int fd)
{
	struct sockaddr_nl address;
	socklen_t len = sizeof(address);

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	return address.nl_pid;
}

/* Only root may send to other sockets at all. */
START_TEST(message_from_other_sender_is_ignored)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK }, to = address;
	struct spoof spoof = { .netlink = { .nlmsg_len = sizeof(spoof),
		                            .nlmsg_type = NLMSG_DONE } };
	int other = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);
	struct pollfd waiting;
	ssize_t sent;

	subscribe(0);
	spoof.id = (struct cb_id){ CN_IDX_PROC, CN_VAL_PROC };
	spoof.len = sizeof(spoof.event);
	spoof.event.what = PROC_EVENT_FORK;
	spoof.event.event_data.fork =
	    (struct fork_proc_event){ getpid(), getpid(), UNUSED_PID, UNUSED_PID };
	ck_assert_int_eq(bind(other, (struct sockaddr *)&address, sizeof(address)), 0);

	to.nl_pid = get_port(fix.events);
	ck_assert_uint_ne(get_port(other), 0);

	sent = sendto(other, &spoof, sizeof(spoof), 0, (struct sockaddr *)&to, sizeof(to));
	if (sent < 0)
		ck_assert_int_eq(errno, EPERM);
	else
		ck_assert_int_eq(sent, sizeof(spoof));

	waiting = (struct pollfd){ .fd = fix.events, .events = POLLIN };
	if (sent > 0)
		ck_assert_int_eq(poll(&waiting, 1, 0), 1); /* the message has arrived */

	reap(start_child(do_nothing));
	if (!wait_for_exits(1))
		return;
	ck_assert_uint_eq(fix.received.impossible, 0);
	ck_assert_uint_eq(fix.received.fork_counts, 1);

	close(other);
	unsubscribe();
}
END_TEST

static int count_descriptors(void)
{
	int count_event = 0;

	for (int fd = 0; fd < 256; fd++)
		count_event += fcntl(fd, F_GETFD) >= 0;
	return count_event;
}

START_TEST(subscription_opened_repeatedly_leaves_no_descriptor)
{
	int open_before = count_descriptors();

	for (int i = 0; i < 50; i++) {
		subscribe(RTI_EVENTS_NAMES | RTI_EVENTS_THREAD_EXITS);
		ck_assert_int_eq(fcntl(fix.events, F_GETFD), FD_CLOEXEC);
		unsubscribe();
	}
	ck_assert_int_eq(count_descriptors(), open_before);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("proc_connector");
	TCase *received_case = suite_case(suite, "received"),
	      *filtered_case = suite_case(suite, "filtered");
	int fd = rti_events_open(0, NULL);
	char why[128];

	if (fd < 0) {
		snprintf(why, sizeof(why), "no process events here: %s", strerror(-fd));
		return suite_skip(why);
	}
	rti_events_close(fd);
	tcase_add_test(received_case, forks_and_exits_are_all_received);
	tcase_add_test(received_case, events_not_drained_wait_in_the_socket);
	tcase_add_test(received_case, events_before_the_subscription_are_not_received);
	tcase_add_test(received_case, event_times_are_on_the_monotonic_clock);
	tcase_add_test(received_case, exec_is_received);
	tcase_add_test(received_case, exit_by_signal_has_it_in_the_status);
	tcase_add_test(received_case, thread_exits_if_requested_are_received);
	tcase_add_test(received_case, thread_subscription_receives_starts_of_threads_alone);
	tcase_add_test(received_case, events_of_threads_are_received_until_the_filter_is_set);
	tcase_add_loop_test(received_case, tracer_if_requested_is_received, 0, 2);
	tcase_add_loop_test(received_case, comm_changes_if_requested_are_received, 0, 2);
	tcase_add_test(filtered_case, thread_events_by_default_are_filtered);
	tcase_add_test(filtered_case, event_loss_is_reported_and_then_events_continue);
	tcase_add_test(filtered_case, closed_socket_fails_with_ebadf);
	tcase_add_test(filtered_case, message_from_other_sender_is_ignored);
	tcase_add_test(filtered_case, subscription_opened_repeatedly_leaves_no_descriptor);
	return suite_run(suite);
}
