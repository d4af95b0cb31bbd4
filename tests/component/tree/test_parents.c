/* SPDX-License-Identifier: MIT */
/* Reads of stat that a subscription to forks saves. The test takes the place of the kernel's
 * events: there are none, unless it says otherwise, so that no member has forked. */
#include "member_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "os/proc_connector.h"
#include "tree_inside.h"

static int events_fd, open_error, drain_error, open_subscriptions;
static int32_t other_pid;               /* that the caller has by now; 0: its own */
static struct rti_process_event *event; /* that waits; NULL: none */

int __wrap_rti_events_open(unsigned also, int64_t *ahead_ns);
int __wrap_rti_events_drain(int fd, void (*each)(void *arg, const struct rti_process_event *event),
                            void *arg);
void __wrap_rti_events_close(int fd);

/* Opens this descriptor, whatever else is free. */
int __wrap_rti_events_open(unsigned also, int64_t *ahead_ns)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)also;
	(void)ahead_ns;
	ck_assert_int_ge(fd, 0);
	if (open_error < 0) {
		close(fd);
		return open_error;
	}
	open_subscriptions++;
	if (fd == events_fd)
		return fd;
	ck_assert_int_eq(dup3(fd, events_fd, O_CLOEXEC), events_fd);
	close(fd);
	return events_fd;
}

int __wrap_rti_events_drain(int fd, void (*each)(void *arg, const struct rti_process_event *event),
                            void *arg)
{
	ck_assert_int_eq(fd, events_fd);
	if (event)
		each(arg, event);
	event = NULL;
	return drain_error;
}

void __wrap_rti_events_close(int fd)
{
	ck_assert_int_eq(fd, events_fd);
	open_subscriptions--;
	close(fd);
}

static int32_t get_pid(void)
{
	return other_pid ? other_pid : getpid();
}

/* Some process of the system has forked by now. */
static void give_out_pid(int pid)
{
	fixture_printf(&fix.root, "proc/sys/kernel/ns_last_pid", "%d\n", pid);
}

static void run_and_fault(uint64_t minflt)
{
	struct fake_process child = make_child(1);

	child.minflt = minflt;
	fake_process_write(&fix.root, &child);
	run_child(1);
}

/* The tracker has subscribed by its last sample, and has read the child. */
static void subscribe(int fd)
{
	events_fd = fd;
	give_out_pid(1000);
	write_tree(1);
	track_tree((struct rt_opts){ .want = RT_HAS_CPU | RT_HAS_RSS | RT_HAS_IO });
	get_platform(fix.tracker)->getpid = get_pid;
	take_sample_after(0);
	ask_for_fork_events(fix.tracker);
	run_and_fault(6);
	take_sample_after(SECOND);
	give_out_pid(1001);
	run_and_fault(7);
	take_sample_after(SECOND);
}

/* A host without standard input has descriptor 0 for it. */
START_TEST(subscription_spares_reads_of_stat_with_any_descriptor)
{
	subscribe(_i == 0 ? STDIN_FILENO : 500);
	ck_assert_uint_eq(count_spared_stats(fix.tracker), 1);
}
END_TEST

/* From then on stat is read in time. */
START_TEST(first_list_of_processes_has_the_faults_of_a_stat_that_was_put_off)
{
	subscribe(500);
	ck_assert_uint_eq(get_row(101).minor_faults, 7);
}
END_TEST

/* Whether the next sample spares the read of stat of the child, which runs. */
static bool is_spared(void)
{
	give_out_pid(1002);
	run_and_fault(8);
	take_sample_after(SECOND);
	return count_spared_stats(fix.tracker) > 0;
}

/* A kernel that has no events for us is not asked again. */
START_TEST(without_subscription_each_stat_is_read)
{
	open_error = -EPERM;
	subscribe(500);
	ck_assert_uint_eq(count_spared_stats(fix.tracker), 0);
	open_error = 0;
	ck_assert(!ask_for_fork_events(fix.tracker));
	ck_assert(!is_spared());
	ck_assert_int_eq(open_subscriptions, 0);
}
END_TEST

START_TEST(fork_of_a_member_has_its_stat_read)
{
	static struct rti_process_event events[] = {
		{ .kind = RTI_EVENT_FORK, .pid = 102, .tid = 102, .ppid = 101 },
		{ .kind = RTI_EVENT_FORK, .pid = 902, .tid = 902, .ppid = 901 },
		{ .kind = RTI_EVENT_EXIT, .pid = 103, .tid = 103, .ppid = 101 },
	};

	subscribe(500);
	event = &events[_i];
	ck_assert_int_eq(is_spared(), _i != 0);
	ck_assert_ptr_null(event);
}
END_TEST

/* A forked child of the caller leaves the events to its parent. */
START_TEST(subscription_that_fails_is_closed)
{
	subscribe(500);
	ck_assert_int_eq(open_subscriptions, 1);
	drain_error = _i == 0 ? -ENOBUFS : 0;
	other_pid = _i == 1 ? getpid() + 1 : 0;
	ck_assert(!is_spared());
	ck_assert_int_eq(open_subscriptions, 0);
}
END_TEST

/* Each event costs those that fork, too. */
START_TEST(system_that_forks_much_is_not_subscribed_to)
{
	events_fd = 500;
	give_out_pid(1000);
	write_tree(1);
	track_tree((struct rt_opts){ .want = RT_HAS_CPU });
	take_sample_after(0);
	fixture_write(&fix.root, "proc/sys/kernel/ns_last_pid", "4000000000\n");
	take_sample_after(SECOND);
	ask_for_fork_events(fix.tracker);
	take_sample_after(SECOND);
	ck_assert_int_eq(open_subscriptions, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parents");
	TCase *tcase = add_member_case(suite, "reads of stat");

	tcase_add_loop_test(tcase, subscription_spares_reads_of_stat_with_any_descriptor, 0, 2);
	tcase_add_test(tcase, first_list_of_processes_has_the_faults_of_a_stat_that_was_put_off);
	tcase_add_test(tcase, without_subscription_each_stat_is_read);
	tcase_add_loop_test(tcase, fork_of_a_member_has_its_stat_read, 0, 3);
	tcase_add_loop_test(tcase, subscription_that_fails_is_closed, 0, 2);
	tcase_add_test(tcase, system_that_forks_much_is_not_subscribed_to);
	return suite_run(suite);
}
