/* SPDX-License-Identifier: MIT */
/* The library's side of a tracer that does not say that it is ready, answers in pieces, or stays:
 * the test takes the place of the tracer, and of the calls to it. */
#include "trace/tracer_client.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/platform.h"
#include "os/process/helper.h"
#include "os/process/pidfd.h"
#include "os/process/reap_later.h"
#include "os/process/spawn.h"
#include "suite.h"

#define PID 2000000000 /* no process has it: pid_max is less */
#define SECOND UINT64_C(1000000000)

static struct {
	int pidfd_error;    /* of pidfd_open(2); 0: there is one */
	bool is_silent;     /* it never says that it is ready */
	int recv_errors[4]; /* of recv(2), one after the other; 0: it receives */
	unsigned recvs;
	int tracer; /* its socket, or -1 */
	unsigned undone, waits, taken;
	int killed_by; /* signal, or 0 */
} fake = { .tracer = -1 };

/* The linker calls these instead of the functions in their names. */
int __wrap_rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                            struct rti_origin_file *file, int32_t *pid);
int __wrap_rti_pidfd_open(int32_t pid);
int __wrap_rti_pidfd_signal(int fd, int32_t pid, int signal);
int __wrap_rti_pidfd_wait(int fd, int waker, int64_t timeout_ns);
void __wrap_rti_reap_later_take(int pidfd);
void __wrap_rti_spawn_undo(int32_t pid, int pidfd);
void __real_rti_platform_init(struct rti_platform *platform, bool is_foreign);
void __wrap_rti_platform_init(struct rti_platform *platform, bool is_foreign);
ssize_t __real_recv(int fd, void *buf, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags);

static void report(uint32_t step)
{
	const struct rti_tracer_report message = { .step = step };

	ck_assert_int_eq(send(fake.tracer, &message, sizeof(message), 0), sizeof(message));
}

int __wrap_rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                            struct rti_origin_file *file, int32_t *pid)
{
	ck_assert_str_eq(name, RTI_TRACER_NAME);
	ck_assert_str_eq(argv[1], RTI_TRACER_TRACE);
	for (size_t i = 0; i < opts->fd_count; i++)
		if (opts->fds[i].target == RTI_TRACER_LIBRARY_FD)
			fake.tracer = dup(opts->fds[i].source);
	ck_assert_int_ge(fake.tracer, 0);
	file->dir = -1;
	*pid = PID;
	if (!fake.is_silent)
		report(RTI_TRACER_READY);
	return 0;
}

int __wrap_rti_pidfd_open(int32_t pid)
{
	ck_assert_int_eq(pid, PID);
	errno = fake.pidfd_error;
	return errno ? -1 : eventfd(0, EFD_CLOEXEC);
}

int __wrap_rti_pidfd_signal(int fd, int32_t pid, int signal)
{
	ck_assert(fd >= 0 || fake.pidfd_error);
	ck_assert_int_eq(pid, PID);
	fake.killed_by = signal;
	return 0;
}

int __wrap_rti_pidfd_wait(int fd, int waker, int64_t timeout_ns)
{
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(waker, -1);
	ck_assert_int_le(timeout_ns, (int64_t)SECOND);
	fake.waits++;
	return -ETIMEDOUT;
}

void __wrap_rti_reap_later_take(int pidfd)
{
	fake.taken++;
	close(pidfd);
}

void __wrap_rti_spawn_undo(int32_t pid, int pidfd)
{
	ck_assert_int_eq(pid, PID);
	ck_assert_int_eq(pidfd, -1);
	fake.undone++;
}

void __wrap_rti_platform_init(struct rti_platform *platform, bool is_foreign)
{
	__real_rti_platform_init(platform, is_foreign);
	ck_assert_uint_eq(platform->waits.begin_ns, 10 * SECOND);
	if (fake.is_silent)
		platform->waits.begin_ns /= 100;
}

ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags)
{
	int error = fake.recvs < 4 ? fake.recv_errors[fake.recvs++] : 0;

	if (error == 0)
		return __real_recv(fd, buf, len, flags);
	errno = error;
	return -1;
}

static const struct rti_trace_request usual = { .calls = RT_TRACE_CALL_WAIT4,
	                                        .ring = { .bytes = 4096 } };

static struct rti_tracer start_tracer(void)
{
	struct rti_tracer tracer;

	ck_assert_int_eq(rti_tracer_start(&tracer, &usual), 0);
	return tracer;
}

static void end_tracer(void)
{
	if (fake.tracer >= 0)
		close(fake.tracer);
	fake.tracer = -1;
}

static const struct {
	int pidfd_error, err;
} systems[] = {
	{ 0, 0 },
	/* There are none: see rti_tracer_close(). */
	{ ENOSYS, 0 },
	{ EPERM, 0 },
	/* There is none left. */
	{ EMFILE, -EMFILE },
	{ ENFILE, -ENFILE },
	{ ENOMEM, -ENOMEM },
};

START_TEST(tracer_that_could_not_be_reaped_is_ended_at_once)
{
	struct rti_tracer tracer;

	fake.pidfd_error = systems[_i].pidfd_error;
	ck_assert_int_eq(rti_tracer_start(&tracer, &usual), systems[_i].err);
	ck_assert_uint_eq(fake.undone, systems[_i].err < 0);
	ck_assert_int_eq(tracer.pid, systems[_i].err < 0 ? 0 : PID);
	end_tracer();
	rti_tracer_close(&tracer, true);
	ck_assert_uint_eq(fake.undone, systems[_i].pidfd_error != 0);
}
END_TEST

START_TEST(ring_without_room_for_a_record_starts_no_tracer)
{
	const struct rti_trace_request request = { .calls = RT_TRACE_CALL_WAIT4,
		                                   .ring = { .bytes = 64 } };
	struct rti_tracer tracer;

	ck_assert_int_eq(rti_tracer_start(&tracer, &request), -EINVAL);
	ck_assert_int_eq(fake.tracer, -1);
	rti_tracer_close(&tracer, true);
}
END_TEST

START_TEST(tracer_that_is_not_ready_in_time_is_killed)
{
	struct rti_tracer tracer;

	fake.is_silent = true;
	ck_assert_int_eq(rti_tracer_start(&tracer, &usual), -ETIMEDOUT);
	ck_assert_int_eq(fake.killed_by, SIGKILL);
	rti_tracer_close(&tracer, true);
	end_tracer();
}
END_TEST

static const struct {
	int errors[4];
	bool is_short;
	int err;
} receptions[] = {
	{ { 0 }, false, 0 },
	{ { EINTR, EINTR, 0 }, false, 0 },
	{ { ECONNRESET }, false, -ECHILD },
	{ { EINTR, ENOMEM }, false, -ECHILD },
	{ { 0 }, true, -ECHILD },
};

START_TEST(report_is_whole_or_the_tracer_is_lost)
{
	struct rti_tracer tracer = start_tracer();
	struct rti_tracer_report received;

	if (receptions[_i].is_short)
		ck_assert_int_eq(send(fake.tracer, "short", 5, 0), 5);
	else
		report(RTI_TRACER_STARTED);
	memcpy(fake.recv_errors, receptions[_i].errors, sizeof(fake.recv_errors));
	fake.recvs = 0;
	ck_assert_int_eq(rti_tracer_receive(&tracer, UINT64_MAX, &received), receptions[_i].err);
	ck_assert(tracer.has_program == (receptions[_i].err == 0));
	end_tracer();
	rti_tracer_close(&tracer, true);
}
END_TEST

/* A tracer with nothing left to do is waited for, but not long. Another one is left alone: it ends
 * with the program. */
static const struct {
	bool has_program, is_over, is_gone, is_foreign, lacks_pidfds;
	unsigned waits, taken, undone;
} ends[] = {
	{ false, false, false, false, false, 1, 1, 0 },
	{ true, true, false, false, false, 1, 1, 0 },
	{ true, false, true, false, false, 1, 1, 0 },
	{ true, false, false, false, false, 0, 1, 0 },
	{ true, false, false, false, true, 0, 0, 0 },
	{ true, true, false, false, true, 0, 0, 1 },
	{ true, false, true, false, true, 0, 0, 1 },
	/* In a forked child. */
	{ false, false, false, true, false, 0, 0, 0 },
	{ true, false, true, true, false, 0, 0, 0 },
	{ true, true, false, true, true, 0, 0, 0 },
};

START_TEST(tracer_that_is_released_is_reaped_as_far_as_it_ends)
{
	struct rti_tracer tracer;

	fake.pidfd_error = ends[_i].lacks_pidfds ? ENOSYS : 0;
	tracer = start_tracer();
	tracer.has_program = ends[_i].has_program;
	atomic_store(&tracer.ring->is_over, ends[_i].is_over);
	if (ends[_i].is_gone)
		end_tracer();
	rti_tracer_close(&tracer, !ends[_i].is_foreign);
	ck_assert_uint_eq(fake.waits, ends[_i].waits);
	ck_assert_uint_eq(fake.taken, ends[_i].taken);
	ck_assert_uint_eq(fake.undone, ends[_i].undone);
	ck_assert_int_eq(fake.killed_by, 0);
	ck_assert_ptr_null(tracer.ring);
	end_tracer();
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

int main(void)
{
	Suite *suite = suite_create("tracer_client");
	TCase *tests = suite_case(suite, "tracers");

	tcase_add_loop_test(tests, tracer_that_could_not_be_reaped_is_ended_at_once, 0,
	                    COUNT(systems));
	tcase_add_test(tests, ring_without_room_for_a_record_starts_no_tracer);
	tcase_add_test(tests, tracer_that_is_not_ready_in_time_is_killed);
	tcase_add_loop_test(tests, report_is_whole_or_the_tracer_is_lost, 0, COUNT(receptions));
	tcase_add_loop_test(tests, tracer_that_is_released_is_reaped_as_far_as_it_ends, 0,
	                    COUNT(ends));
	return suite_run(suite);
}
