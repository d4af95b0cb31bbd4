/* SPDX-License-Identifier: MIT */
/* The kernel's process events: what is heard of our own children, what is kept out, and what is
 * told of a loss. */
#include <errno.h>
#include <fcntl.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "os/platform.h"
#include "os/proc_connector.h"
#include "suite.h"

#define CHILDREN 200
#define THREADS 50
#define NOBODY_S_PID 4000000

#define MOST_PIDS (1 << 22)

/* What was heard of this process and its children. Nobody else's events can be told beforehand. */
struct heard {
	int32_t parent;
	unsigned fork_counts, execs, exits, thread_forks, thread_exits, names;
	uint32_t last_status;
	uint64_t fork_ns, exit_ns;
	char name[17];
	unsigned impossible; /* told of a process that there cannot be */
	int is_lost;         /* some of it */
};

static struct heard heard;
static int events;

static unsigned char is_child[MOST_PIDS];

/* An exit that is told after the process was reaped names no parent. */
static int is_ours(const struct rti_process_event *event)
{
	if (event->pid <= 0 || event->pid >= MOST_PIDS)
		ck_abort_msg("there is no process %d", event->pid);
	if (event->kind == RTI_EVENT_FORK)
		is_child[event->pid] = event->ppid == heard.parent && event->pid != heard.parent;
	return event->pid == heard.parent || is_child[event->pid];
}

static void count_exit(const struct rti_process_event *event)
{
	if (event->tid != event->pid) {
		heard.thread_exits++;
		return;
	}
	heard.exits++;
	heard.last_status = event->status;
	heard.exit_ns = event->monotonic_ns;
}

static void count(void *arg, const struct rti_process_event *event)
{
	if (arg != &heard)
		ck_abort_msg("another argument");
	heard.impossible += event->pid == NOBODY_S_PID;
	if (!is_ours(event))
		return;
	switch (event->kind) {
	case RTI_EVENT_FORK:
		heard.thread_forks += event->tid != event->pid;
		heard.fork_counts += event->tid == event->pid;
		heard.fork_ns = event->monotonic_ns;
		break;
	case RTI_EVENT_EXEC:
		heard.execs++;
		break;
	case RTI_EVENT_COMM:
		heard.names++;
		memcpy(heard.name, event->comm, sizeof(heard.name));
		break;
	case RTI_EVENT_EXIT:
		count_exit(event);
		break;
	case RTI_EVENT_OTHER:
		ck_abort_msg("not an event");
	}
}

static int drain(void)
{
	return rti_events_drain(events, count, &heard);
}

static void begin(unsigned also)
{
	heard = (struct heard){ .parent = getpid() };
	memset(is_child, 0, sizeof(is_child));
	events = rti_events_open(also);
	ck_assert_int_ge(events, 0);
}

static void end(void)
{
	rti_events_close(events);
}

static pid_t start(void (*work)(void))
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		work();
		_exit(7);
	}
	return pid;
}

static void work_nothing(void)
{
}

static void reap(pid_t pid)
{
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* Who is not root has a small buffer, which others on the machine may fill: then nothing can be
 * said. */
static void drain_all(void)
{
	int err = drain();

	if (err == -ENOBUFS && geteuid() != 0)
		heard.is_lost = 1;
	else
		ck_assert_int_eq(err, 0);
}

/* An exit is told a moment after the process may have been reaped. */
static int has_all_exits(void *wanted)
{
	drain_all();
	return heard.is_lost || heard.exits >= *(unsigned *)wanted;
}

/* 0 where some were lost. */
static int await_exits(unsigned wanted)
{
	wait_until(has_all_exits, &wanted);
	if (!heard.is_lost)
		ck_assert_uint_eq(heard.exits, wanted);
	return !heard.is_lost;
}

/* Whoever may have no large buffer drains as he goes. */
START_TEST(every_fork_and_exit_is_heard)
{
	begin(0);
	for (int i = 0; i < CHILDREN; i++) {
		reap(start(work_nothing));
		drain_all();
	}
	if (!await_exits(CHILDREN))
		return;
	ck_assert_uint_eq(heard.fork_counts, CHILDREN);
	ck_assert_uint_eq(heard.execs, 0);
	ck_assert_uint_eq(heard.last_status, 7 << 8);
	ck_assert_uint_eq(heard.thread_forks + heard.thread_exits + heard.names, 0);
	end();
}
END_TEST

START_TEST(events_wait_until_they_are_drained)
{
	unsigned many;

	begin(0);
	/* others on the machine fork as well */
	many = rti_events_capacity(events) < 4000 ? 20 : CHILDREN;
	for (unsigned i = 0; i < many; i++)
		reap(start(work_nothing));
	if (!await_exits(many))
		return;
	ck_assert_uint_eq(heard.fork_counts, many);
	end();
}
END_TEST

START_TEST(nothing_is_heard_of_what_was_before)
{
	reap(start(work_nothing));
	begin(0);
	reap(start(work_nothing));
	if (!await_exits(1))
		return;
	ck_assert_uint_eq(heard.fork_counts, 1);
	end();
}
END_TEST

START_TEST(times_are_those_of_the_monotonic_clock)
{
	struct rti_now before, after;
	struct rti_platform platform;

	rti_platform_init(&platform, 0);
	begin(0);
	platform.now(&before);
	reap(start(work_nothing));
	if (!await_exits(1))
		return;
	platform.now(&after);
	ck_assert_uint_ge(heard.fork_ns, before.monotonic_ns);
	ck_assert_uint_gt(heard.exit_ns, heard.fork_ns);
	ck_assert_uint_ge(after.monotonic_ns, heard.exit_ns);
	end();
}
END_TEST

static void work_exec(void)
{
	execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL);
}

START_TEST(execs_are_heard)
{
	begin(0);
	reap(start(work_exec));
	if (!await_exits(1))
		return;
	ck_assert_uint_eq(heard.execs, 1);
	ck_assert_uint_eq(heard.last_status, 9 << 8);
	end();
}
END_TEST

static void work_abort(void)
{
	signal(SIGTERM, SIG_DFL);
	raise(SIGTERM);
}

START_TEST(a_signal_is_in_the_status)
{
	begin(0);
	reap(start(work_abort));
	if (!await_exits(1))
		return;
	ck_assert_int_eq(WTERMSIG((int)heard.last_status), SIGTERM);
	end();
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
	drain_all();
	return heard.is_lost || heard.thread_exits >= THREADS;
}

START_TEST(threads_are_kept_out)
{
	begin(0);
	run_threads();
	reap(start(work_nothing));
	if (!await_exits(1)) /* it comes last */
		return;
	ck_assert_uint_eq(heard.thread_forks, 0);
	ck_assert_uint_eq(heard.thread_exits, 0);
	ck_assert_uint_eq(heard.fork_counts, 1);
	end();
}
END_TEST

START_TEST(ends_of_threads_are_heard_where_they_are_wanted)
{
	begin(RTI_EVENTS_THREAD_EXITS);
	run_threads();
	wait_until(has_all_thread_exits, NULL);
	if (heard.is_lost)
		return;
	ck_assert_uint_eq(heard.thread_exits, THREADS);
	ck_assert_uint_eq(heard.thread_forks, 0);
	ck_assert_uint_eq(heard.fork_counts, 0);
	end();
}
END_TEST

static void work_name(void)
{
	prctl(PR_SET_NAME, "a \"b\n\xff)");
}

START_TEST(names_are_heard_where_they_are_wanted)
{
	begin(_i ? RTI_EVENTS_NAMES : 0);
	reap(start(work_name));
	if (!await_exits(1))
		return;
	ck_assert_uint_eq(heard.names, (unsigned)_i);
	ck_assert_str_eq(heard.name, _i ? "a \"b\n\xff)" : "");
	end();
}
END_TEST

static int drains_whole(void *arg)
{
	(void)arg;
	return drain() == 0;
}

START_TEST(a_loss_is_told_and_then_all_is_well_again)
{
	const int least = 1;
	int result = 0;

	begin(0);
	ck_assert_int_eq(setsockopt(events, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least)), 0);
	ck_assert_uint_lt(rti_events_capacity(events), 10);
	for (int i = 0; i < 50; i++)
		reap(start(work_nothing));
	result = drain();
	ck_assert_int_eq(result, -ENOBUFS);
	ck_assert_uint_lt(heard.fork_counts, 50);
	wait_until(drains_whole, NULL); /* others on the machine may fork as well */
	end();
}
END_TEST

START_TEST(a_closed_socket_is_an_error)
{
	begin(0);
	end();
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

static uint32_t port_of(int fd)
{
	struct sockaddr_nl address;
	socklen_t len = sizeof(address);

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	return address.nl_pid;
}

/* Only root may send to others at all. */
START_TEST(what_others_send_is_ignored)
{
	struct sockaddr_nl own = { .nl_family = AF_NETLINK }, to = own;
	struct spoof spoof = { .netlink = { .nlmsg_len = sizeof(spoof),
		                            .nlmsg_type = NLMSG_DONE } };
	int other = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);
	struct pollfd waiting;
	ssize_t sent;

	begin(0);
	spoof.id = (struct cb_id){ CN_IDX_PROC, CN_VAL_PROC };
	spoof.len = sizeof(spoof.event);
	spoof.event.what = PROC_EVENT_FORK;
	spoof.event.event_data.fork =
	    (struct fork_proc_event){ getpid(), getpid(), NOBODY_S_PID, NOBODY_S_PID };
	ck_assert_int_eq(bind(other, (struct sockaddr *)&own, sizeof(own)), 0);
	to.nl_pid = port_of(events);
	ck_assert_uint_ne(port_of(other), 0);
	sent = sendto(other, &spoof, sizeof(spoof), 0, (struct sockaddr *)&to, sizeof(to));
	if (sent < 0)
		ck_assert_int_eq(errno, EPERM);
	else
		ck_assert_int_eq(sent, sizeof(spoof));
	waiting = (struct pollfd){ .fd = events, .events = POLLIN };
	if (sent > 0)
		ck_assert_int_eq(poll(&waiting, 1, 0), 1); /* it has arrived */
	reap(start(work_nothing));
	if (!await_exits(1))
		return;
	ck_assert_uint_eq(heard.impossible, 0);
	ck_assert_uint_eq(heard.fork_counts, 1);
	close(other);
	end();
}
END_TEST

static int count_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

START_TEST(opening_again_and_again_leaves_no_descriptor)
{
	int open_before = count_descriptors();

	for (int i = 0; i < 50; i++) {
		begin(RTI_EVENTS_NAMES | RTI_EVENTS_THREAD_EXITS);
		ck_assert_int_eq(fcntl(events, F_GETFD), FD_CLOEXEC);
		end();
	}
	ck_assert_int_eq(count_descriptors(), open_before);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("events");
	TCase *heard_case = suite_case(suite, "heard"), *kept_out = suite_case(suite, "kept_out");
	int fd = rti_events_open(0);
	char why[128];

	if (fd < 0) {
		snprintf(why, sizeof(why), "no process events for us here: %s", strerror(-fd));
		return suite_skip(why);
	}
	rti_events_close(fd);
	tcase_add_test(heard_case, every_fork_and_exit_is_heard);
	tcase_add_test(heard_case, events_wait_until_they_are_drained);
	tcase_add_test(heard_case, nothing_is_heard_of_what_was_before);
	tcase_add_test(heard_case, times_are_those_of_the_monotonic_clock);
	tcase_add_test(heard_case, execs_are_heard);
	tcase_add_test(heard_case, a_signal_is_in_the_status);
	tcase_add_test(heard_case, ends_of_threads_are_heard_where_they_are_wanted);
	tcase_add_loop_test(heard_case, names_are_heard_where_they_are_wanted, 0, 2);
	tcase_add_test(kept_out, threads_are_kept_out);
	tcase_add_test(kept_out, a_loss_is_told_and_then_all_is_well_again);
	tcase_add_test(kept_out, a_closed_socket_is_an_error);
	tcase_add_test(kept_out, what_others_send_is_ignored);
	tcase_add_test(kept_out, opening_again_and_again_leaves_no_descriptor);
	return suite_run(suite);
}
