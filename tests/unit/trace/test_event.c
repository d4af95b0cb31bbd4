/* SPDX-License-Identifier: MIT */
/* Public events of the records of a back end. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"
#include "trace/event.h"

static struct rti_event_maker maker;

static void open_maker(void)
{
	ck_assert_int_eq(rti_event_maker_init(&maker, false), 0);
	rti_event_maker_set_time(&maker);
}

static void close_maker(void)
{
	rti_event_maker_fini(&maker);
	/* So that LeakSanitizer finds what is left. */
	maker = (struct rti_event_maker){ 0 };
}

static struct rt_trace_event event_of(const struct rti_trace_record *record)
{
	struct rt_trace_event event;

	memset(&event, 0x55, sizeof(event));
	rti_event_make(&maker, record, &event);
	return event;
}

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

START_TEST(event_has_every_value_of_its_record)
{
	const struct rti_trace_record record = {
		.call = RTI_TRACE_WAIT4,
		.lost = 2,
		.entry_ns = 100,
		.return_ns = 130,
		.result = -10,
		.usage_address = 0x1000,
		.status_address = 0x2000,
		.who = 11,
		.wait_id = 12,
		.wait_options = 13,
		.cpu = 14,
		.pid = 15,
		.tid = 16,
		.ppid = 17,
		.host_pid = 18,
		.host_tid = 19,
		.host_ppid = 20,
		.ns_pid = 26,
		.ns_tid = 27,
		.ns_ppid = 28,
		.uid = 21,
		.thread_start_ns = 22,
		.process_start_ns = 29,
		.parent_start_ns = 30,
		.cgroup_id = 23,
		.mount_namespace = 24,
		.pid_namespace = 25,
		.comm = "worker",
		.host_name = "fifteen letters",
	};
	struct rt_trace_event event = event_of(&record);

	ck_assert_uint_eq(event.call, RT_TRACE_CALL_WAIT4);
	ck_assert_uint_eq(event.flags, 0);
	ck_assert_uint_eq(event.lost, 2);
	ck_assert_uint_eq(event.monotonic_ns, 100);
	ck_assert_uint_eq(event.duration_ns, 30);
	ck_assert_int_eq(event.result, -10);
	ck_assert_uint_eq(event.usage_address, 0x1000);
	ck_assert_uint_eq(event.status_address, 0x2000);
	ck_assert_int_eq(event.who, 11);
	ck_assert_int_eq(event.wait_id, 12);
	ck_assert_uint_eq(event.wait_options, 13);
	ck_assert_uint_eq(event.cpu, 14);
	ck_assert_int_eq(event.pid, 15);
	ck_assert_int_eq(event.tid, 16);
	ck_assert_int_eq(event.ppid, 17);
	ck_assert_int_eq(event.host_pid, 18);
	ck_assert_int_eq(event.host_tid, 19);
	ck_assert_int_eq(event.host_ppid, 20);
	ck_assert_int_eq(event.ns_pid, 26);
	ck_assert_int_eq(event.ns_tid, 27);
	ck_assert_int_eq(event.ns_ppid, 28);
	ck_assert_uint_eq(event.uid, 21);
	ck_assert_uint_eq(event.thread_start_ns, 22);
	ck_assert_uint_eq(event.process_start_ns, 29);
	ck_assert_uint_eq(event.parent_start_ns, 30);
	ck_assert_uint_eq(event.cgroup_id, 23);
	ck_assert_uint_eq(event.mount_namespace, 24);
	ck_assert_uint_eq(event.pid_namespace, 25);
	ck_assert_str_eq(event.comm, "worker");
	ck_assert_str_eq(event.host_name, "fifteen letters");
	ck_assert_str_eq(event.exe, "");
	ck_assert_uint_eq(event.rusage_valid, 0);
	ck_assert_uint_eq(event.live_children_valid, 0);
	ck_assert_uint_eq(event.live_children_partial, 0);
}
END_TEST

START_TEST(event_of_now_is_at_the_realtime_of_now)
{
	const struct rti_trace_record record = { .entry_ns = monotonic_ns() };
	int64_t apart = (int64_t)(event_of(&record).realtime_ns - realtime_ns());

	/* A second, since the machine may be busy. Both clocks are years apart. */
	ck_assert_int_gt(apart, -1000000000);
	ck_assert_int_lt(apart, 1000000000);
}
END_TEST

START_TEST(event_without_entry_is_at_its_return)
{
	const struct rti_trace_record record = { .flags = RTI_TRACE_NO_ENTRY, .return_ns = 500 };
	struct rt_trace_event event = event_of(&record);

	ck_assert_uint_eq(event.flags, RT_TRACE_EVENT_NO_ENTRY);
	ck_assert_uint_eq(event.monotonic_ns, 500);
	ck_assert_uint_eq(event.duration_ns, 0);
}
END_TEST

START_TEST(event_with_figures_has_all_sixteen)
{
	struct rti_trace_record record = { .call = RTI_TRACE_GETRUSAGE,
		                           .usage_bytes = RTI_TRACE_USAGE_BYTES };
	/* As the kernel has it: user and system time, then the counters; it fills in no others. */
	const uint64_t whole[RTI_TRACE_USAGE_WORDS] = { 1,  250000, 2,  500000, 30, 0, 0, 0,  40,
		                                        50, 0,      60, 70,     0,  0, 0, 80, 90 };
	struct rt_trace_event event;

	rti_trace_pack_usage(record.usage, whole);
	event = event_of(&record);
	ck_assert_uint_eq(event.rusage_valid, 0xffff);
	ck_assert_double_eq(event.rusage.ru_utime, 1.25);
	ck_assert_double_eq(event.rusage.ru_stime, 2.5);
	ck_assert_int_eq(event.rusage.ru_maxrss, 30);
	ck_assert_int_eq(event.rusage.ru_minflt, 40);
	ck_assert_int_eq(event.rusage.ru_majflt, 50);
	ck_assert_int_eq(event.rusage.ru_inblock, 60);
	ck_assert_int_eq(event.rusage.ru_oublock, 70);
	ck_assert_int_eq(event.rusage.ru_nvcsw, 80);
	ck_assert_int_eq(event.rusage.ru_nivcsw, 90);
	ck_assert_int_eq(event.rusage.ru_ixrss | event.rusage.ru_idrss | event.rusage.ru_isrss, 0);
	ck_assert_int_eq(event.rusage.ru_nswap | event.rusage.ru_msgsnd | event.rusage.ru_msgrcv |
	                     event.rusage.ru_nsignals,
	                 0);
}
END_TEST

START_TEST(event_with_figures_of_32_bits_has_all_sixteen)
{
	struct rti_trace_record record = { .call = RTI_TRACE_GETRUSAGE,
		                           .flags = RTI_TRACE_32BIT,
		                           .usage_bytes = RTI_TRACE_USAGE_BYTES_32 };
	const int32_t maxrss = 4711;
	struct rt_trace_event event;

	memcpy((char *)record.usage + 16, &maxrss, sizeof(maxrss));
	event = event_of(&record);
	ck_assert_uint_eq(event.flags, RT_TRACE_EVENT_32BIT);
	ck_assert_uint_eq(event.rusage_valid, 0xffff);
	ck_assert_int_eq(event.rusage.ru_maxrss, maxrss);
}
END_TEST

START_TEST(event_with_figures_of_a_wrong_length_has_none)
{
	const struct rti_trace_record record = { .usage_bytes = 100 };

	ck_assert_uint_eq(event_of(&record).rusage_valid, 0);
}
END_TEST

START_TEST(event_of_a_name_without_nul_is_terminated)
{
	struct rti_trace_record record = { 0 };

	memset(record.comm, 'x', sizeof(record.comm));
	ck_assert_str_eq(event_of(&record).comm, "xxxxxxxxxxxxxxxx");
}
END_TEST

static const struct {
	int64_t returned, result;
} results[] = {
	{ 0, 0 },         { 4711, 4711 },   { -EINVAL, -EINVAL }, { -511, -511 },
	{ -512, -EINTR }, { -516, -EINTR }, { -517, -517 },
};

START_TEST(event_of_an_interrupted_call_has_eintr)
{
	const struct rti_trace_record record = { .result = results[_i].returned };

	ck_assert_int_eq(event_of(&record).result, results[_i].result);
}
END_TEST

/* Those of this process could be read: it has the children that the call was about. */
START_TEST(failed_call_for_children_has_no_live_children)
{
	struct rti_trace_record record = {
		.call = RTI_TRACE_GETRUSAGE,
		.who = RT_RUSAGE_CHILDREN,
		.pid = getpid(),
		.usage_bytes = RTI_TRACE_USAGE_BYTES,
	};

	maker.has_live_children = true;
	ck_assert_uint_ne(event_of(&record).live_children_valid, 0);
	record.result = -EFAULT;
	ck_assert_uint_eq(event_of(&record).live_children_valid, 0);
	record.result = 0;
	record.usage_bytes = 0;
	ck_assert_uint_eq(event_of(&record).live_children_valid, 0);
	record.usage_bytes = RTI_TRACE_USAGE_BYTES;
	record.who = RT_RUSAGE_SELF;
	ck_assert_uint_eq(event_of(&record).live_children_valid, 0);
	record.who = RT_RUSAGE_CHILDREN;
	record.call = RTI_TRACE_WAIT4;
	ck_assert_uint_eq(event_of(&record).live_children_valid, 0);
	record.call = RTI_TRACE_GETRUSAGE;
	record.pid = 0; /* unknown: it was being killed */
	ck_assert_uint_eq(event_of(&record).live_children_valid, 0);
	record.pid = getpid();
	maker.has_live_children = false;
	ck_assert_uint_eq(event_of(&record).live_children_valid, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_event");
	TCase *tests = suite_case(suite, "event");

	tcase_add_checked_fixture(tests, open_maker, close_maker);
	tcase_add_test(tests, event_has_every_value_of_its_record);
	tcase_add_test(tests, event_of_now_is_at_the_realtime_of_now);
	tcase_add_test(tests, event_without_entry_is_at_its_return);
	tcase_add_test(tests, event_with_figures_has_all_sixteen);
	tcase_add_test(tests, event_with_figures_of_32_bits_has_all_sixteen);
	tcase_add_test(tests, event_with_figures_of_a_wrong_length_has_none);
	tcase_add_test(tests, event_of_a_name_without_nul_is_terminated);
	tcase_add_test(tests, failed_call_for_children_has_no_live_children);
	tcase_add_loop_test(tests, event_of_an_interrupted_call_has_eintr, 0,
	                    sizeof(results) / sizeof(results[0]));
	return suite_run(suite);
}
