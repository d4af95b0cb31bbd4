/* SPDX-License-Identifier: MIT */
/* Parts of the kernel's ABI, compared with the headers of the kernel. */
#include "os/kernel_abi.h"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/kcmp.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <stddef.h>
#include <string.h>

#include "suite.h"

/* The struct of the kernel may have grown since. */
#define CHECK_FIELD(kernel, ours, field)                                                           \
	do {                                                                                       \
		ck_assert_uint_eq(offsetof(struct ours, field), offsetof(struct kernel, field));   \
		ck_assert_uint_eq(sizeof(((struct ours *)NULL)->field),                            \
		                  sizeof(((struct kernel *)NULL)->field));                         \
	} while (0)

START_TEST(process_events_are_as_in_headers)
{
	ck_assert_int_eq(RTI_NETLINK_CONNECTOR, NETLINK_CONNECTOR);
	ck_assert_int_eq(RTI_NLMSG_DONE, NLMSG_DONE);
	ck_assert_int_eq(RTI_CN_IDX_PROC, CN_IDX_PROC);
	ck_assert_int_eq(RTI_CN_VAL_PROC, CN_VAL_PROC);
	ck_assert_int_eq(RTI_PROC_CN_MCAST_LISTEN, PROC_CN_MCAST_LISTEN);
	ck_assert_uint_eq(sizeof(struct rti_sockaddr_nl), sizeof(struct sockaddr_nl));
	CHECK_FIELD(sockaddr_nl, rti_sockaddr_nl, nl_family);
	CHECK_FIELD(sockaddr_nl, rti_sockaddr_nl, nl_pid);
	CHECK_FIELD(sockaddr_nl, rti_sockaddr_nl, nl_groups);
	ck_assert_uint_eq(sizeof(struct rti_nlmsghdr), sizeof(struct nlmsghdr));
	CHECK_FIELD(nlmsghdr, rti_nlmsghdr, nlmsg_len);
	CHECK_FIELD(nlmsghdr, rti_nlmsghdr, nlmsg_type);
	CHECK_FIELD(nlmsghdr, rti_nlmsghdr, nlmsg_flags);
	CHECK_FIELD(nlmsghdr, rti_nlmsghdr, nlmsg_seq);
	CHECK_FIELD(nlmsghdr, rti_nlmsghdr, nlmsg_pid);
	ck_assert_uint_eq(sizeof(struct rti_cb_id), sizeof(struct cb_id));
	CHECK_FIELD(cb_id, rti_cb_id, idx);
	CHECK_FIELD(cb_id, rti_cb_id, val);
}
END_TEST

START_TEST(socket_filter_is_as_in_headers)
{
	ck_assert_int_eq(RTI_BPF_LOAD, BPF_LD | BPF_W | BPF_ABS);
	ck_assert_int_eq(RTI_BPF_TO_INDEX, BPF_MISC | BPF_TAX);
	ck_assert_int_eq(RTI_BPF_JUMP, BPF_JMP | BPF_JA);
	ck_assert_int_eq(RTI_BPF_IF_EQUAL, BPF_JMP | BPF_JEQ | BPF_K);
	ck_assert_int_eq(RTI_BPF_IF_EQUAL_X, BPF_JMP | BPF_JEQ | BPF_X);
	ck_assert_int_eq(RTI_BPF_RETURN, BPF_RET | BPF_K);
	ck_assert_uint_eq(sizeof(struct rti_sock_filter), sizeof(struct sock_filter));
	CHECK_FIELD(sock_filter, rti_sock_filter, code);
	CHECK_FIELD(sock_filter, rti_sock_filter, jt);
	CHECK_FIELD(sock_filter, rti_sock_filter, jf);
	CHECK_FIELD(sock_filter, rti_sock_filter, k);
	ck_assert_uint_eq(sizeof(struct rti_sock_fprog), sizeof(struct sock_fprog));
	CHECK_FIELD(sock_fprog, rti_sock_fprog, len);
	CHECK_FIELD(sock_fprog, rti_sock_fprog, filter);
}
END_TEST

START_TEST(clone3_is_as_in_headers)
{
	ck_assert_uint_eq(RTI_CLONE_INTO_CGROUP, CLONE_INTO_CGROUP);
	ck_assert_uint_eq(sizeof(struct rti_clone_args), CLONE_ARGS_SIZE_VER2);
	CHECK_FIELD(clone_args, rti_clone_args, flags);
	CHECK_FIELD(clone_args, rti_clone_args, exit_signal);
	CHECK_FIELD(clone_args, rti_clone_args, stack);
	CHECK_FIELD(clone_args, rti_clone_args, cgroup);
}
END_TEST

START_TEST(perf_event_is_as_in_headers)
{
	const struct rti_perf_event_attr ours = { .inherit = 1,
		                                  .exclude_kernel = 1,
		                                  .exclude_hv = 1 };
	const struct perf_event_attr kernel = { .inherit = 1,
		                                .exclude_kernel = 1,
		                                .exclude_hv = 1 };

	ck_assert_int_eq(RTI_PERF_TYPE_SOFTWARE, PERF_TYPE_SOFTWARE);
	ck_assert_int_eq(RTI_PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_TASK_CLOCK);
	ck_assert_uint_eq(RTI_PERF_FLAG_FD_CLOEXEC, PERF_FLAG_FD_CLOEXEC);
	ck_assert_uint_eq(sizeof(struct rti_perf_event_attr), PERF_ATTR_SIZE_VER0);
	CHECK_FIELD(perf_event_attr, rti_perf_event_attr, type);
	CHECK_FIELD(perf_event_attr, rti_perf_event_attr, size);
	CHECK_FIELD(perf_event_attr, rti_perf_event_attr, config);
	CHECK_FIELD(perf_event_attr, rti_perf_event_attr, read_format);
	ck_assert_int_eq(memcmp(&ours, &kernel, sizeof(ours)), 0);
}
END_TEST

START_TEST(kcmp_is_as_in_headers)
{
	ck_assert_int_eq(RTI_KCMP_VM, KCMP_VM);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernel_abi");
	TCase *tcase = suite_case(suite, "headers");

	tcase_add_test(tcase, process_events_are_as_in_headers);
	tcase_add_test(tcase, socket_filter_is_as_in_headers);
	tcase_add_test(tcase, clone3_is_as_in_headers);
	tcase_add_test(tcase, perf_event_is_as_in_headers);
	tcase_add_test(tcase, kcmp_is_as_in_headers);
	return suite_run(suite);
}
