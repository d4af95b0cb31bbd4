/* SPDX-License-Identifier: MIT */
/* old-kernel PROGRAM [ARGUMENT...]: runs a program as a kernel of before Linux 5.1 would. All calls
 * that are newer have numbers from 424 on, on every architecture: they are answered ENOSYS. E.g.:
 * there are no pidfds, and no clone3(2). */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FIRST_NEW_CALL 424
#define X32_CALLS 0x40000000 /* calls of x32 have this bit, and no such numbers */

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_NEW_CALL, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};
	const struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0) {
		printf("1..0 # SKIP no filter of system calls can be set\n");
		return EXIT_SUCCESS;
	}
	execv(argv[1], argv + 1);
	perror(argv[1]);
	return EXIT_FAILURE;
}
