/* SPDX-License-Identifier: MIT */
/* Executes a program in which the third execve(2) never returns, as from a network file system that
 * does not answer: that of rtrack is the first, and that of its supervisor the second.
 *
 * Usage: held-exec PROGRAM [ARGUMENT]... Writes a line to stdout once the call is held. Exits with
 * 77 if no call can be handed to a listener here. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HELD 3
#define CANNOT_RUN 77

#ifdef SECCOMP_USER_NOTIF_FLAG_CONTINUE
static int filter_execve(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
	                    &filter);
}

/* Until the parent has ended. */
static void answer(int listener)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int calls = 1;;) {
		struct seccomp_notif call;
		struct seccomp_notif_resp answer = { 0 };

		memset(&call, 0, sizeof(call));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
			continue;
		if (calls++ >= HELD) {
			dprintf(STDOUT_FILENO, "held\n");
			continue;
		}
		answer.id = call.id;
		answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

int main(int argc, char **argv)
{
	int listener = argc < 2 ? -1 : filter_execve();
	pid_t child = listener < 0 ? -1 : fork();

	if (child < 0)
		return CANNOT_RUN;
	if (child == 0)
		answer(listener);
	close(listener);
	execv(argv[1], argv + 1);
	return errno;
}
#else
int main(void)
{
	return CANNOT_RUN;
}
#endif
