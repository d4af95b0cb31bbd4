/* SPDX-License-Identifier: MIT */
/* Accounts that arrive: the test takes the place of what receives them from the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "os/taskstats.h"
#include "suite.h"
#include "supervisor/account_receiver.h"
#include "supervisor/record_list.h"

#define WHOLE_BYTES (RTI_TEXT_OFFSET + RTI_TEXT_BYTES_MAX)

int __wrap_rti_taskstats_drain(int fd, void (*each)(void *arg, const struct rti_task_exit *exited),
                               void *arg);

static struct rti_shared_stats *shared;
static int memory = -1;
static int losses_left; /* of the next calls */
static int thread;      /* the number of the thread that exits, after the pid */
static unsigned looks;  /* at events */

static uint64_t now_ns(void)
{
	struct timespec now;

	ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* This process sends its account as if it exited: it has used a nanosecond since it was added. */
int __wrap_rti_taskstats_drain(int fd, void (*each)(void *arg, const struct rti_task_exit *exited),
                               void *arg)
{
	const struct rti_task_exit last = { .pid = getpid(),
		                            .tid = getpid() + thread,
		                            .is_last = true,
		                            .lifetime_ns = 1000000000,
		                            .cpu_ns = 1,
		                            .user_us = 1,
		                            .comm = "self" };

	(void)fd;
	if (losses_left > 0) {
		losses_left--;
		return -ENOBUFS;
	}
	each(arg, &last);
	return 0;
}

static bool handle_no_events(void)
{
	looks++;
	return true;
}

static void set_up(void)
{
	memory = memfd_create("stats", MFD_CLOEXEC);
	ck_assert_int_ge(memory, 0);
	ck_assert_int_eq(ftruncate(memory, RTI_SHARED_STATS_BYTES), 0);
	shared = mmap(NULL, WHOLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	ck_assert_int_eq(rts_record_list_begin(shared, &memory), 0);
	rts_accounts_begin(shared);
}

static void tear_down(void)
{
	rts_accounts_end();
	rts_record_list_end();
	munmap(shared, WHOLE_BYTES);
	close(memory);
}

/* Have this descriptor, whichever there was. */
static void take_descriptor(int *fd, int wanted)
{
	int other = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(dup3(other, wanted, O_CLOEXEC), wanted);
	close(other);
	if (*fd >= 0)
		close(*fd);
	*fd = wanted;
}

/* A record has the time of that read, by CLOCK_MONOTONIC: what is read later replaces it. A host
 * without standard input has descriptor 0 for the socket. */
START_TEST(cpu_clock_of_an_exit_was_read_now)
{
	uint64_t before = now_ns();
	const struct rti_process_record *record =
	    rts_record_add(getpid(), getppid(), before - 1000000000);
	int *fd = rts_accounts_socket();

	take_descriptor(fd, _i == 0 ? STDIN_FILENO : 500);
	rts_accounts_receive(handle_no_events);

	ck_assert_uint_ne(record->flags & RTI_RECORD_CLOCK_READ, 0);
	ck_assert_uint_gt(record->cpu_user_ns + record->cpu_system_ns, 1);
	ck_assert_uint_ge(record->cpu_read_ns, before);
	ck_assert_uint_le(record->cpu_read_ns, now_ns());
}
END_TEST

/* Events are read only for processes that are not known yet. */
START_TEST(account_of_any_thread_is_added_to_its_process_at_once)
{
	const struct rti_process_record *record = rts_record_add(getpid(), getppid(), now_ns());
	int *fd = rts_accounts_socket();

	thread = _i;
	take_descriptor(fd, 500);
	rts_accounts_receive(handle_no_events);
	ck_assert_uint_ne(record->flags & RTI_RECORD_ACCOUNTED, 0);
	ck_assert_uint_eq(looks, 0);
}
END_TEST

START_TEST(account_of_an_unknown_process_is_kept_until_events_are_read)
{
	int *fd = rts_accounts_socket();

	take_descriptor(fd, 500);
	rts_accounts_receive(handle_no_events);
	ck_assert_uint_eq(looks, 1);
}
END_TEST

/* E.g.: a filter of system calls fails each call. */
START_TEST(loss_that_lasts_ends_the_call_and_the_next_one_goes_on)
{
	const struct rti_process_record *record = rts_record_add(getpid(), getppid(), now_ns());
	int *fd = rts_accounts_socket();

	take_descriptor(fd, 500);
	losses_left = 1000;
	rts_accounts_receive(handle_no_events);
	ck_assert_int_gt(losses_left, 900);
	ck_assert_uint_eq(record->flags & RTI_RECORD_ACCOUNTED, 0);

	losses_left = 0;
	rts_accounts_receive(handle_no_events);
	ck_assert_uint_ne(record->flags & RTI_RECORD_ACCOUNTED, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("account_receiver");
	TCase *tcase = suite_case(suite, "account_receiver");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, cpu_clock_of_an_exit_was_read_now, 0, 2);
	tcase_add_loop_test(tcase, account_of_any_thread_is_added_to_its_process_at_once, 0, 2);
	tcase_add_test(tcase, account_of_an_unknown_process_is_kept_until_events_are_read);
	tcase_add_test(tcase, loss_that_lasts_ends_the_call_and_the_next_one_goes_on);
	return suite_run(suite);
}
