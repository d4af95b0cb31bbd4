/* SPDX-License-Identifier: MIT */
/* The library in front of a supervisor that sends any reports: cut, of any kind, in any order. */
#include "input.h"

#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include "command/supervisor_client.h"

#define SOCKET_FD 1000
#define STEPS_MAX 24
#define WAIT_NS 500000000

static struct fuzz_input input, *const in = &input;
static uint64_t clock_ns;

ssize_t __wrap_recv(int fd, void *out, size_t size, int flags);
ssize_t __wrap_send(int fd, const void *request, size_t size, int flags);
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                 const sigset_t *mask);
int __wrap_clock_gettime(clockid_t id, struct timespec *out);

static void make_report(struct rti_report *out)
{
	*out = (struct rti_report){
		.kind = take_u8(in) % 8 ? take_below(in, 6) : (uint32_t)take_u64(in),
		.pid = (int32_t)take_u64(in),
		.error = (int32_t)take_u64(in),
		.status = (int32_t)take_u64(in),
		.monotonic_ns = take_u64(in),
		.inherited_maxrss_kib = (int64_t)take_u64(in),
		.ignored_sigchld = (uint32_t)take_u64(in),
		.placed = (uint32_t)take_u64(in),
	};
}

/* No call may wait in here: the supervisor may be stopped. */
ssize_t __wrap_recv(int fd, void *out, size_t size, int flags)
{
	static const int errors[] = { EAGAIN, EAGAIN, EINTR, ECONNRESET, ENOMEM };
	uint8_t how = take_u8(in);

	require(fd == SOCKET_FD && size == sizeof(struct rti_report) && flags & MSG_DONTWAIT);
	if (has_ended(in) || how < 40) {
		errno = has_ended(in) ? EAGAIN : errors[how % 5];
		return -1;
	}
	if (how < 44)
		return 0; /* closed */
	make_report(out);
	return how < 60 ? (ssize_t)take_below(in, (uint32_t)size + 1) : (ssize_t)size;
}

ssize_t __wrap_send(int fd, const void *request, size_t size, int flags)
{
	(void)request;
	require(fd == SOCKET_FD && size == sizeof(uint32_t) && flags & MSG_NOSIGNAL);
	errno = EPIPE;
	return take_u8(in) % 2 ? (ssize_t)size : -1;
}

/* The time passes, or a signal comes, or something has arrived. */
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                 const sigset_t *mask)
{
	uint8_t how = take_u8(in);

	(void)mask;
	require(count == 4 && timeout != NULL);
	clock_ns += 1000000;
	if (has_ended(in) || how < 128) {
		clock_ns += (uint64_t)timeout->tv_sec * 1000000000 + (uint64_t)timeout->tv_nsec;
		return 0;
	}
	errno = EINTR;
	fds[1].revents = POLLIN;
	return how < 160 ? -1 : 1;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
	(void)id;
	*out = (struct timespec){ .tv_sec = (time_t)(clock_ns / 1000000000),
		                  .tv_nsec = (long)(clock_ns % 1000000000) };
	return 0;
}

static void check_receive(struct rti_supervisor *s)
{
	int err = rti_supervisor_receive_exit(s);

	require(err == 0 || err == -EAGAIN || err == -ECHILD);
	require((err == 0) == (s->exited.kind == RTI_EXITED));
}

static void check_wait(struct rti_supervisor *s)
{
	uint64_t end_ns = clock_ns + WAIT_NS + 5000000;
	int err = rti_supervisor_wait(s, WAIT_NS);

	require(err == 0 || err == -ETIMEDOUT || err == -ECHILD);
	require(err != 0 || s->exited.kind == RTI_EXITED);
	require(clock_ns <= end_ns + 1000000);
}

static void check_account(struct rti_supervisor *s)
{
	uint64_t begun_ns = clock_ns;
	int err;

	rti_supervisor_request_account(s);
	err = rti_supervisor_receive_account(s, WAIT_NS);
	require(err == 0 || err == -ETIMEDOUT || err == -ECHILD);
	require(err != 0 || s->accounted.kind == RTI_ACCOUNTED);
	require(clock_ns - begun_ns < 2000000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_supervisor s = { .socket = SOCKET_FD, .memory = -1 };

	input = fuzz_input(data, len);
	clock_ns = 1000000000;
	for (int steps = 0; steps < STEPS_MAX && !has_ended(in); steps++) {
		switch (take_below(in, 4)) {
		case 0:
			rti_supervisor_proceed(&s);
			break;
		case 1:
			check_wait(&s);
			break;
		case 2:
			check_account(&s);
			break;
		default:
			check_receive(&s);
			break;
		}
	}
	return 0;
}
