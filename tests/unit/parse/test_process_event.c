/* SPDX-License-Identifier: MIT */
/* Messages of the proc connector: one that a kernel sent, and others built from the structs of the
 * kernel. */
#include <errno.h>
#include <limits.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "parse/process_event.h"
#include "suite.h"

#define AT_EVENT (sizeof(struct nlmsghdr) + sizeof(struct cn_msg))
#define WHOLE (AT_EVENT + sizeof(struct proc_event))
#define NOW_NS UINT64_C(0x0123456789abcdef)

static struct proc_event make_message(uint32_t what)
{
	struct proc_event message = { .cpu = 3, .timestamp_ns = NOW_NS };

	/* Copied, since the last value does not fit the int that some compilers use for an enum. */
	memcpy(&message, &what, sizeof(what));
	return message;
}

/* Parses a copy of exactly this size, so that a sanitizer detects a read past its end. An odd shift
 * gives it an odd address. */
static int parse_at(const struct proc_event *message, size_t shift, size_t len,
                    struct rti_process_event *event)
{
	unsigned char whole[WHOLE] = { 0 }, *copy = malloc(shift + len + (shift + len == 0));
	int result;

	ck_assert_ptr_nonnull(copy);
	memcpy(whole + AT_EVENT, message, sizeof(*message));
	memcpy(copy + shift, whole, len);
	memset(event, 0xa5, sizeof(*event));
	result = rti_parse_process_event(copy + shift, len, event);
	free(copy);
	return result;
}

static int parse(const struct proc_event *message, struct rti_process_event *event)
{
	ck_assert_int_eq(parse_at(message, 1, WHOLE, event), parse_at(message, 0, WHOLE, event));
	return parse_at(message, 0, WHOLE, event);
}

START_TEST(event_offsets_match_the_kernel_headers)
{
	ck_assert_uint_eq(sizeof(struct nlmsghdr), 16);
	ck_assert_uint_eq(sizeof(struct cn_msg), 20);
	ck_assert_uint_eq(sizeof(struct proc_event), 40);
	ck_assert_uint_eq(AT_EVENT + offsetof(struct proc_event, what), RTI_EVENT_AT_WHAT);
	ck_assert_uint_eq(AT_EVENT + offsetof(struct proc_event, event_data), RTI_EVENT_AT_DATA);
	ck_assert_uint_eq(PROC_EVENT_NONE, RTI_EVENT_WHAT_NONE);
	ck_assert_uint_eq(PROC_EVENT_FORK, RTI_EVENT_WHAT_FORK);
	ck_assert_uint_eq(PROC_EVENT_EXEC, RTI_EVENT_WHAT_EXEC);
	ck_assert_uint_eq(PROC_EVENT_PTRACE, RTI_EVENT_WHAT_TRACE);
	ck_assert_uint_eq(PROC_EVENT_COMM, RTI_EVENT_WHAT_COMM);
	ck_assert_uint_eq((uint32_t)PROC_EVENT_EXIT, RTI_EVENT_WHAT_EXIT);
}
END_TEST

START_TEST(fork_event_yields_parent_and_child)
{
	struct proc_event message = make_message(PROC_EVENT_FORK);
	struct rti_process_event event;

	message.event_data.fork = (struct fork_proc_event){ 101, 100, 201, 200 };
	ck_assert_int_eq(parse(&message, &event), 0);
	ck_assert_int_eq(event.kind, RTI_EVENT_FORK);
	ck_assert_int_eq(event.pid, 200);
	ck_assert_int_eq(event.tid, 201);
	ck_assert_int_eq(event.ppid, 100);
	ck_assert_uint_eq(event.monotonic_ns, NOW_NS);
	ck_assert_uint_eq(event.status, 0);
	ck_assert_str_eq(event.comm, "");
}
END_TEST

START_TEST(exec_event_yields_its_process)
{
	struct proc_event message = make_message(PROC_EVENT_EXEC);
	struct rti_process_event event;

	message.event_data.exec = (struct exec_proc_event){ 301, 300 };
	ck_assert_int_eq(parse(&message, &event), 0);
	ck_assert_int_eq(event.kind, RTI_EVENT_EXEC);
	ck_assert_int_eq(event.pid, 300);
	ck_assert_int_eq(event.tid, 301);
	ck_assert_int_eq(event.ppid, 0);
	ck_assert_uint_eq(event.monotonic_ns, NOW_NS);
}
END_TEST

START_TEST(trace_event_yields_the_traced_process)
{
	struct proc_event message = make_message(PROC_EVENT_PTRACE);
	struct rti_process_event event;

	message.event_data.ptrace = (struct ptrace_proc_event){ 501, 500, 601, 600 };
	ck_assert_int_eq(parse(&message, &event), 0);
	ck_assert_int_eq(event.kind, RTI_EVENT_TRACE);
	ck_assert_int_eq(event.pid, 500);
	ck_assert_int_eq(event.tid, 501);
}
END_TEST

START_TEST(comm_event_with_any_bytes_is_terminated)
{
	struct proc_event message = make_message(PROC_EVENT_COMM);
	struct rti_process_event event;

	message.event_data.comm = (struct comm_proc_event){ .process_pid = 401,
		                                            .process_tgid = 400,
		                                            .comm = "a \"b\n\xff\x80)" };
	ck_assert_int_eq(parse(&message, &event), 0);
	ck_assert_int_eq(event.kind, RTI_EVENT_COMM);
	ck_assert_int_eq(event.pid, 400);
	ck_assert_int_eq(event.tid, 401);
	ck_assert_str_eq(event.comm, "a \"b\n\xff\x80)");

	memset(message.event_data.comm.comm, 'x', sizeof(message.event_data.comm.comm));
	ck_assert_int_eq(parse(&message, &event), 0);
	ck_assert_str_eq(event.comm, "xxxxxxxxxxxxxxxx");
}
END_TEST

START_TEST(exit_event_yields_status_and_since_4_18_parent)
{
	struct proc_event message = make_message(PROC_EVENT_EXIT);
	struct rti_process_event event;

	message.event_data.exit = (struct exit_proc_event){ 501, 500, 0x0700, 17, 41, 40 };
	ck_assert_int_eq(parse(&message, &event), 0);
	ck_assert_int_eq(event.kind, RTI_EVENT_EXIT);
	ck_assert_int_eq(event.pid, 500);
	ck_assert_int_eq(event.tid, 501);
	ck_assert_uint_eq(event.status, 0x0700);
	ck_assert_int_eq(event.ppid, 40);
	ck_assert_int_eq(parse_at(&message, 0, RTI_EVENT_AT_DATA + 16, &event), 0);
	ck_assert_uint_eq(event.status, 0x0700);
	ck_assert_int_eq(event.ppid, 0);
}
END_TEST

/* From Linux 6.18, x86-64: a process that exited with code 3. */
START_TEST(exit_event_captured_from_a_kernel_parses)
{
	static const unsigned char captured[] = {
		0x4c, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0xf8, 0xbd, 0x09, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0xf8, 0xbd,
		0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x80, 0x01, 0x00, 0x00, 0x00, 0x90, 0x34, 0x96, 0xf1, 0xcb, 0x02, 0x00, 0x00,
		0x6b, 0x32, 0x00, 0x00, 0x6b, 0x32, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x11,
		0x00, 0x00, 0x00, 0x00, 0x32, 0x00, 0x00, 0x00, 0x32, 0x00, 0x00,
	};
	struct rti_process_event event;

	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
		suite_skip_test("the captured event has little-endian numbers");
		return;
	}
	ck_assert_int_eq(rti_parse_process_event(captured, sizeof(captured), &event), 0);
	ck_assert_int_eq(event.kind, RTI_EVENT_EXIT);
	ck_assert_int_eq(event.pid, 12907);
	ck_assert_int_eq(event.tid, 12907);
	ck_assert_int_eq(event.ppid, 12800);
	ck_assert_uint_eq(event.status, 0x0300);
	ck_assert_uint_eq(event.monotonic_ns, UINT64_C(3074954769552));
}
END_TEST

static const struct {
	uint32_t what;
	size_t least; /* bytes of event data */
} kinds[] = {
	{ PROC_EVENT_FORK, 16 },
	{ PROC_EVENT_EXEC, 8 },
	{ PROC_EVENT_COMM, 24 },
	{ (uint32_t)PROC_EVENT_EXIT, 12 },
};

START_TEST(event_cut_short_is_refused)
{
	struct proc_event message = make_message(kinds[_i].what);
	struct rti_process_event event;

	memset(&message.event_data, 0x11, sizeof(message.event_data));
	for (size_t len = 0; len <= WHOLE; len++)
		ck_assert_int_eq(parse_at(&message, len % 2, len, &event),
		                 len < RTI_EVENT_AT_DATA + kinds[_i].least ? -EBADMSG : 0);
}
END_TEST

START_TEST(event_of_other_kind_is_reported_as_other)
{
	static const uint32_t others[] = { PROC_EVENT_NONE, PROC_EVENT_UID,      PROC_EVENT_GID,
		                           PROC_EVENT_SID,  PROC_EVENT_COREDUMP, 3,
		                           0x80000001u,     0x01000000u,         UINT32_MAX };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct proc_event message = make_message(others[i]);
		struct rti_process_event event;

		memset(&message.event_data, 0xff, sizeof(message.event_data));
		ck_assert_int_eq(parse(&message, &event), 0);
		ck_assert_int_eq(event.kind, RTI_EVENT_OTHER);
		for (size_t len = 0; len < WHOLE; len++)
			ck_assert_int_eq(parse_at(&message, 0, len, &event),
			                 len < RTI_EVENT_AT_DATA + 8 ? -EBADMSG : 0);
	}
}
END_TEST

START_TEST(fork_event_with_extreme_numbers_keeps_them)
{
	struct proc_event message = make_message(PROC_EVENT_FORK);
	struct rti_process_event event;

	message.event_data.fork = (struct fork_proc_event){ 1, INT32_MIN, -1, INT32_MAX };
	message.timestamp_ns = UINT64_MAX;
	ck_assert_int_eq(parse(&message, &event), 0);
	ck_assert_int_eq(event.ppid, INT32_MIN);
	ck_assert_int_eq(event.tid, -1);
	ck_assert_int_eq(event.pid, INT32_MAX);
	ck_assert_uint_eq(event.monotonic_ns, UINT64_MAX);
}
END_TEST

START_TEST(event_that_is_refused_leaves_zeroed_output)
{
	static const struct rti_process_event empty;
	struct proc_event message = make_message(PROC_EVENT_FORK);
	struct rti_process_event event;

	ck_assert_int_eq(parse_at(&message, 0, 10, &event), -EBADMSG);
	ck_assert_mem_eq(&event, &empty, sizeof(empty));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("process_event");
	TCase *valid = suite_case(suite, "valid"), *odd = suite_case(suite, "odd");

	tcase_add_test(valid, event_offsets_match_the_kernel_headers);
	tcase_add_test(valid, fork_event_yields_parent_and_child);
	tcase_add_test(valid, exec_event_yields_its_process);
	tcase_add_test(valid, trace_event_yields_the_traced_process);
	tcase_add_test(valid, comm_event_with_any_bytes_is_terminated);
	tcase_add_test(valid, exit_event_yields_status_and_since_4_18_parent);
	tcase_add_test(valid, exit_event_captured_from_a_kernel_parses);
	tcase_add_loop_test(odd, event_cut_short_is_refused, 0,
	                    (int)(sizeof(kinds) / sizeof(kinds[0])));
	tcase_add_test(odd, event_of_other_kind_is_reported_as_other);
	tcase_add_test(odd, fork_event_with_extreme_numbers_keeps_them);
	tcase_add_test(odd, event_that_is_refused_leaves_zeroed_output);
	return suite_run(suite);
}
