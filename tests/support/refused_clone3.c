/* SPDX-License-Identifier: MIT */
/* refused-clone3 PROGRAM [ARGUMENT...]: runs a program that may not use clone3(2). E.g.: container
 * runtimes of 2021 refuse it with EPERM. posix_spawn(3) of glibc then starts nothing: it does
 * without that call only at ENOSYS. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CLONE3 435 /* on every architecture */

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLONE3, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
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
