/* SPDX-License-Identifier: MIT */
/* The few parts of the kernel's headers <linux/...> that are used here.
 *
 * Not every compiler comes with those headers. E.g.: musl-gcc has the headers of musl alone. The
 * kernel never changes what is below; tests/unit/os/test_kernel_abi.c compares it with the
 * headers. */
#ifndef RTI_KERNEL_ABI_H
#define RTI_KERNEL_ABI_H

#include <stdint.h>
#include <sys/socket.h>

/* <linux/netlink.h>, <linux/connector.h>, <linux/cn_proc.h>: process events, exit accounts and
 * network interfaces. */
#define RTI_NETLINK_ROUTE 0
#define RTI_NETLINK_CONNECTOR 11
#define RTI_NETLINK_GENERIC 16
#define RTI_NLM_F_REQUEST 0x1
#define RTI_NLM_F_ACK 0x4
#define RTI_NLM_F_DUMP 0x300
#define RTI_CN_IDX_PROC 0x1
#define RTI_CN_VAL_PROC 0x1
#define RTI_PROC_CN_MCAST_LISTEN 1

struct rti_sockaddr_nl {
	sa_family_t nl_family;
	uint16_t nl_pad;
	uint32_t nl_pid, nl_groups;
};

struct rti_nlmsghdr {
	uint32_t nlmsg_len;
	uint16_t nlmsg_type, nlmsg_flags;
	uint32_t nlmsg_seq, nlmsg_pid;
};

struct rti_cb_id {
	uint32_t idx, val;
};

/* <linux/filter.h>: filters of a socket. */
#define RTI_BPF_LOAD 0x20       /* BPF_LD | BPF_W | BPF_ABS */
#define RTI_BPF_TO_INDEX 0x07   /* BPF_MISC | BPF_TAX */
#define RTI_BPF_JUMP 0x05       /* BPF_JMP | BPF_JA */
#define RTI_BPF_IF_EQUAL 0x15   /* BPF_JMP | BPF_JEQ | BPF_K */
#define RTI_BPF_IF_EQUAL_X 0x1d /* BPF_JMP | BPF_JEQ | BPF_X */
#define RTI_BPF_RETURN 0x06     /* BPF_RET | BPF_K */

struct rti_sock_filter {
	uint16_t code;
	uint8_t jt, jf;
	uint32_t k;
};

struct rti_sock_fprog {
	uint16_t len;
	struct rti_sock_filter *filter;
};

/* An entry of getdents64(2): struct linux_dirent64 of fs/readdir.c, which no header has. */
struct rti_dirent {
	uint64_t d_ino;
	int64_t d_off;
	uint16_t d_reclen; /* to the next one, which is aligned */
	uint8_t d_type;    /* DT_ value of <dirent.h> */
	char d_name[];
};

/* <linux/memfd.h>: memfd_create(2). */
#define RTI_MFD_CLOEXEC 0x1u
#define RTI_MFD_ALLOW_SEALING 0x2u
#define RTI_MFD_EXEC 0x10u /* since Linux 6.3 */

/* <linux/sched.h>: clone3(2), as of Linux 5.7. */
#define RTI_CLONE_CLEAR_SIGHAND UINT64_C(0x100000000)
#define RTI_CLONE_INTO_CGROUP UINT64_C(0x200000000)

struct rti_clone_args {
	_Alignas(8) uint64_t flags;
	_Alignas(8) uint64_t pidfd, child_tid, parent_tid, exit_signal;
	_Alignas(8) uint64_t stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

/* <linux/openat2.h>, Linux 5.6. */
#define RTI_RESOLVE_IN_ROOT 0x10u

struct rti_open_how {
	uint64_t flags, mode, resolve;
};

/* <linux/seccomp.h>: filters of system calls. They are programs like the filters of a socket, and
 * read the number and the architecture of the call. */
#define RTI_SECCOMP_SET_MODE_FILTER 1
#define RTI_SECCOMP_FILTER_FLAG_SPEC_ALLOW 4UL
#define RTI_SECCOMP_RET_TRACE 0x7ff00000u /* and 16 bits of data */
#define RTI_SECCOMP_RET_ALLOW 0x7fff0000u
#define RTI_SECCOMP_NR 0
#define RTI_SECCOMP_ARCH 4

/* <linux/audit.h>: architectures of a call. The first bit says that it is one of 64 bits. x32 calls
 * are of x86-64 and have a bit of their own in their number. */
#define RTI_ARCH_64BIT 0x80000000u
#define RTI_ARCH_X86_64 0xc000003eu
#define RTI_ARCH_I386 0x40000003u
#define RTI_ARCH_AARCH64 0xc00000b7u
#define RTI_ARCH_ARM 0x40000028u
#define RTI_X32_BIT 0x40000000u

/* <linux/ptrace.h>: PTRACE_GET_SYSCALL_INFO (Linux 5.3). */
#define RTI_PTRACE_GET_SYSCALL_INFO 0x420e
#define RTI_SYSCALL_INFO_EXIT 2
#define RTI_SYSCALL_INFO_SECCOMP 3

struct rti_syscall_info {
	uint8_t op, pad[3];
	uint32_t arch;
	_Alignas(8) uint64_t instruction_pointer;
	uint64_t stack_pointer;
	union {
		struct {
			int64_t rval;
			uint8_t is_error;
		} exit;
		struct {
			uint64_t nr, args[6];
			uint32_t ret_data;
		} seccomp;
	};
};

/* <linux/elf.h>: register sets of ptrace(2), on arm64 with the number of the call. */
#define RTI_NT_PRSTATUS 1
#define RTI_NT_ARM_SYSTEM_CALL 0x404

/* <linux/kcmp.h>: kcmp(2). */
#define RTI_KCMP_VM 1

/* <linux/capability.h> */
#define RTI_CAP_VERSION_3 0x20080522
#define RTI_CAP_SYS_PTRACE 19u
#define RTI_CAP_SYS_ADMIN 21u
#define RTI_CAP_PERFMON 38u
#define RTI_CAP_BPF 39u

struct rti_cap_header {
	uint32_t version;
	int32_t pid; /* 0: the calling thread */
};

struct rti_cap_data {
	uint32_t effective, permitted, inheritable;
};

/* <linux/magic.h>: what statfs(2) says of a file of proc. */
#define RTI_PROC_SUPER_MAGIC 0x9fa0

#endif
