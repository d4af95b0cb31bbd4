/* SPDX-License-Identifier: MIT */
/* Reads of stat that a subscription to forks saves. The test takes the place of the kernel's
 * events: there are none, so that no member has forked. */
#include "member_fixture.h"

#include <fcntl.h>
#include <unistd.h>

#include "os/proc_connector.h"
#include "tree_inside.h"

static int events_fd;

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
	if (fd == events_fd)
		return fd;
	ck_assert_int_eq(dup3(fd, events_fd, O_CLOEXEC), events_fd);
	close(fd);
	return events_fd;
}

int __wrap_rti_events_drain(int fd, void (*each)(void *arg, const struct rti_process_event *event),
                            void *arg)
{
	(void)each;
	(void)arg;
	ck_assert_int_eq(fd, events_fd);
	return 0;
}

void __wrap_rti_events_close(int fd)
{
	ck_assert_int_eq(fd, events_fd);
	close(fd);
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

int main(void)
{
	Suite *suite = suite_create("parents");
	TCase *tcase = add_member_case(suite, "reads of stat");

	tcase_add_loop_test(tcase, subscription_spares_reads_of_stat_with_any_descriptor, 0, 2);
	tcase_add_test(tcase, first_list_of_processes_has_the_faults_of_a_stat_that_was_put_off);
	return suite_run(suite);
}
