/* SPDX-License-Identifier: MIT */
/* Parts of the kernel's ABI, compared with the headers of the kernel. */
#include "os/kernel_abi.h"

#include <dirent.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/elf.h>
#include <linux/filter.h>
#include <linux/kcmp.h>
#include <linux/magic.h>
#include <linux/memfd.h>
#include <linux/netlink.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
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
	ck_assert_int_eq(RTI_NETLINK_GENERIC, NETLINK_GENERIC);
	ck_assert_int_eq(RTI_NLM_F_REQUEST, NLM_F_REQUEST);
	ck_assert_int_eq(RTI_NLM_F_ACK, NLM_F_ACK);
	ck_assert_int_eq(RTI_NETLINK_ROUTE, NETLINK_ROUTE);
	ck_assert_int_eq(RTI_NLM_F_DUMP, NLM_F_DUMP);
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

/* glibc's entry has the layout of the kernel's, which has none in a header. */
START_TEST(entry_of_directory_and_memfd_are_as_in_headers)
{
	CHECK_FIELD(dirent64, rti_dirent, d_ino);
	CHECK_FIELD(dirent64, rti_dirent, d_off);
	CHECK_FIELD(dirent64, rti_dirent, d_reclen);
	CHECK_FIELD(dirent64, rti_dirent, d_type);
	ck_assert_uint_eq(offsetof(struct rti_dirent, d_name), offsetof(struct dirent64, d_name));
	ck_assert_uint_eq(RTI_MFD_CLOEXEC, MFD_CLOEXEC);
	ck_assert_uint_eq(RTI_MFD_ALLOW_SEALING, MFD_ALLOW_SEALING);
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

START_TEST(kcmp_is_as_in_headers)
{
	ck_assert_int_eq(RTI_KCMP_VM, KCMP_VM);
}
END_TEST

START_TEST(seccomp_is_as_in_headers)
{
	ck_assert_int_eq(RTI_SECCOMP_SET_MODE_FILTER, SECCOMP_SET_MODE_FILTER);
	ck_assert_uint_eq(RTI_SECCOMP_FILTER_FLAG_SPEC_ALLOW, SECCOMP_FILTER_FLAG_SPEC_ALLOW);
	ck_assert_uint_eq(RTI_SECCOMP_RET_TRACE, SECCOMP_RET_TRACE);
	ck_assert_uint_eq(RTI_SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(RTI_SECCOMP_NR, offsetof(struct seccomp_data, nr));
	ck_assert_uint_eq(RTI_SECCOMP_ARCH, offsetof(struct seccomp_data, arch));
}
END_TEST

START_TEST(architectures_are_as_in_headers)
{
	ck_assert_uint_eq(RTI_ARCH_64BIT, __AUDIT_ARCH_64BIT);
	ck_assert_uint_eq(RTI_ARCH_X86_64, AUDIT_ARCH_X86_64);
	ck_assert_uint_eq(RTI_ARCH_I386, AUDIT_ARCH_I386);
	ck_assert_uint_eq(RTI_ARCH_AARCH64, AUDIT_ARCH_AARCH64);
	ck_assert_uint_eq(RTI_ARCH_ARM, AUDIT_ARCH_ARM);
}
END_TEST

START_TEST(syscall_info_is_as_in_headers)
{
	ck_assert_uint_eq(RTI_PTRACE_GET_SYSCALL_INFO, PTRACE_GET_SYSCALL_INFO);
	ck_assert_int_eq(RTI_SYSCALL_INFO_EXIT, PTRACE_SYSCALL_INFO_EXIT);
	ck_assert_int_eq(RTI_SYSCALL_INFO_SECCOMP, PTRACE_SYSCALL_INFO_SECCOMP);
	ck_assert_uint_eq(sizeof(struct rti_syscall_info), sizeof(struct ptrace_syscall_info));
	CHECK_FIELD(ptrace_syscall_info, rti_syscall_info, op);
	CHECK_FIELD(ptrace_syscall_info, rti_syscall_info, arch);
	CHECK_FIELD(ptrace_syscall_info, rti_syscall_info, exit.rval);
	CHECK_FIELD(ptrace_syscall_info, rti_syscall_info, exit.is_error);
	CHECK_FIELD(ptrace_syscall_info, rti_syscall_info, seccomp.nr);
	CHECK_FIELD(ptrace_syscall_info, rti_syscall_info, seccomp.args);
	CHECK_FIELD(ptrace_syscall_info, rti_syscall_info, seccomp.ret_data);
	ck_assert_int_eq(RTI_NT_PRSTATUS, NT_PRSTATUS);
	ck_assert_int_eq(RTI_NT_ARM_SYSTEM_CALL, NT_ARM_SYSTEM_CALL);
}
END_TEST

START_TEST(capabilities_are_as_in_headers)
{
	ck_assert_int_eq(RTI_CAP_VERSION_3, _LINUX_CAPABILITY_VERSION_3);
	ck_assert_uint_eq(RTI_CAP_SYS_ADMIN, CAP_SYS_ADMIN);
	ck_assert_uint_eq(RTI_CAP_PERFMON, CAP_PERFMON);
	ck_assert_uint_eq(RTI_CAP_BPF, CAP_BPF);
	ck_assert_uint_eq(RTI_PROC_SUPER_MAGIC, PROC_SUPER_MAGIC);
	ck_assert_uint_eq(sizeof(struct rti_cap_header), sizeof(struct __user_cap_header_struct));
	CHECK_FIELD(__user_cap_header_struct, rti_cap_header, version);
	CHECK_FIELD(__user_cap_header_struct, rti_cap_header, pid);
	ck_assert_uint_eq(sizeof(struct rti_cap_data), sizeof(struct __user_cap_data_struct));
	CHECK_FIELD(__user_cap_data_struct, rti_cap_data, effective);
	CHECK_FIELD(__user_cap_data_struct, rti_cap_data, permitted);
	CHECK_FIELD(__user_cap_data_struct, rti_cap_data, inheritable);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernel_abi");
	TCase *tcase = suite_case(suite, "headers");

	tcase_add_test(tcase, process_events_are_as_in_headers);
	tcase_add_test(tcase, socket_filter_is_as_in_headers);
	tcase_add_test(tcase, entry_of_directory_and_memfd_are_as_in_headers);
	tcase_add_test(tcase, clone3_is_as_in_headers);
	tcase_add_test(tcase, kcmp_is_as_in_headers);
	tcase_add_test(tcase, seccomp_is_as_in_headers);
	tcase_add_test(tcase, architectures_are_as_in_headers);
	tcase_add_test(tcase, syscall_info_is_as_in_headers);
	tcase_add_test(tcase, capabilities_are_as_in_headers);
	return suite_run(suite);
}
