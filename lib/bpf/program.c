/* SPDX-License-Identifier: MIT */
/* What the parts of the plug-in have in common: they run programs, name errors, compare clocks. */
#include "bpf/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/skel_internal.h>

#include "os/capability.h"
#include "os/kernel_abi.h"

#define NS_PER_S 1000000000u
#define NOISE_NS 1000000 /* a time namespace is off by more */
#define LOADS_MAX 5

int rti_program_run(int program_fd)
{
	union bpf_attr attr = { .test = { .prog_fd = (uint32_t)program_fd } };

	if (skel_sys_bpf(BPF_PROG_RUN, &attr, sizeof(attr)) < 0)
		return -errno;
	return (int)attr.test.retval;
}

int rti_program_iterate(int link_fd)
{
	union bpf_attr attr = { .iter_create = { .link_fd = (uint32_t)link_fd } };
	int fd = skel_sys_bpf(BPF_ITER_CREATE, &attr, sizeof(attr));
	char none[1];
	ssize_t got;

	if (fd < 0)
		return -errno;
	do {
		got = read(fd, none, sizeof(none));
	} while (got < 0 && (errno == EAGAIN || errno == EINTR));
	close(fd);
	return got < 0 ? -errno : 0;
}

int rti_program_open(void **out, size_t bytes, int (*begin)(void *state, const void *request),
                     const void *request, void (*close)(void *state))
{
	sigset_t all, before;
	void *state;
	int err;

	/* The generated code takes descriptor 0 for no descriptor and would not close it. */
	if (fcntl(STDIN_FILENO, F_GETFD) < 0)
		return -EBADF;
	state = calloc(1, bytes);
	if (!state)
		return -ENOMEM;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = begin(state, request);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err < 0)
		close(state);
	else
		*out = state;
	return err;
}

bool rti_program_is_interrupted(int err, int loads)
{
	return err == -EAGAIN && loads < LOADS_MAX;
}

/* Under lockdown=confidentiality the verifier calls it an invalid argument that a program reads the
 * kernel's memory. */
static bool is_locked_down(void)
{
	FILE *file = fopen("/sys/kernel/security/lockdown", "re");
	char line[128] = "";

	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return strstr(line, "[confidentiality]");
}

int rti_program_error(int err)
{
	switch (err) {
	case 0:
	case -ESRCH:
	case -EPERM:
	case -ENOMEM:
	case -EBUSY:
	case -EAGAIN:
	case -EMFILE:
	case -ENFILE:
		return err;
	case -EACCES:
		return -EPERM;
	case -ENOSYS:
		return -EOPNOTSUPP;
	default:
		/* With CAP_BPF alone, maps can be made and the verifier is reached. It then calls
		 * it an invalid argument that a program reads the kernel's memory. */
		return is_locked_down() || (!rti_has_capability(RTI_CAP_SYS_ADMIN) &&
		                            !(rti_has_capability(RTI_CAP_BPF) &&
		                              rti_has_capability(RTI_CAP_PERFMON)))
		           ? -EPERM
		           : -EOPNOTSUPP;
	}
}

uint64_t rti_program_clock_ns(clockid_t id)
{
	struct timespec now = { 0 };

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

int64_t rti_program_clock_offset_ns(uint64_t before_ns, uint64_t kernel_ns, uint64_t after_ns)
{
	int64_t least_ns = (int64_t)(before_ns - kernel_ns);
	int64_t most_ns = (int64_t)(after_ns - kernel_ns);

	return least_ns <= NOISE_NS && most_ns >= -NOISE_NS ? 0 : (least_ns + most_ns) / 2;
}
