/* SPDX-License-Identifier: MIT */
#include "refusals.h"

#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_kernel(int major, int minor)
{
	struct utsname name;
	int got_major = 0, got_minor = 0;

	return uname(&name) == 0 && sscanf(name.release, "%d.%d", &got_major, &got_minor) == 2 &&
	       (got_major > major || (got_major == major && got_minor >= minor));
}

/* bpf_probe_read_kernel(stack - 8, 8, NULL); return 0; */
static bool load_program(void)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = 0 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	static const char license[] = "GPL";
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insn_cnt = sizeof(code) / sizeof(code[0]);
	attr.insns = (uintptr_t)code;
	attr.license = (uintptr_t)license;
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd >= 0)
		close((int)fd);
	return fd >= 0;
}

bool has_bpf(void)
{
	return is_kernel(5, 17) && access("/sys/kernel/btf/vmlinux", F_OK) == 0 && load_program();
}

bool has_bpf_accounting(void)
{
	return is_kernel(6, 2) && has_bpf();
}

/* Returns false if it may not. */
static bool take_filter(void)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	const struct sock_fprog filter = { 1, code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

bool has_ptrace(void)
{
	bool is_seized;
	int ready[2];
	char byte;
	pid_t pid;

	if (!is_kernel(5, 3) || pipe(ready) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		if (!take_filter() || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	is_seized =
	    pid > 0 && read(ready[0], &byte, 1) == 1 && ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
	close(ready[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return is_seized;
}
