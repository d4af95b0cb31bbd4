/* SPDX-License-Identifier: MIT */
/* A process is forked while another thread looks for children to reap. The forked child has no such
 * thread, so nothing would ever release what that thread holds. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "os/process/pidfd.h"
#include "os/process/reap_later.h"
#include "suite.h"

#define PATIENCE_S 100 /* after which a forked child that hangs is ended */

static sem_t is_looking, has_forked;
static _Thread_local bool waits_for_fork;
static int calls_without_memory; /* so many calls of pthread_atfork() fail */

/* The linker calls this instead of rti_pidfd_reap(). */
int __wrap_rti_pidfd_reap(int pidfd, int *status);
int __real_rti_pidfd_reap(int pidfd, int *status);

int __wrap_rti_pidfd_reap(int pidfd, int *status)
{
	if (waits_for_fork) {
		sem_post(&is_looking);
		while (sem_wait(&has_forked) < 0)
			;
	}
	return __real_rti_pidfd_reap(pidfd, status);
}

/* Likewise. ThreadSanitizer calls it, too, before any function that it has changed may run. */
#if __has_attribute(disable_sanitizer_instrumentation)
__attribute__((disable_sanitizer_instrumentation))
#endif
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int __real_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	if (calls_without_memory > 0) {
		calls_without_memory--;
		return ENOMEM;
	}
	return __real_pthread_atfork(prepare, parent, child);
}

static void *look(void *unused)
{
	waits_for_fork = true;
	rti_reap_later_look();
	return unused;
}

static void do_nothing(void *unused)
{
	(void)unused;
}

static bool is_reaped(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) < 0 && errno == ECHILD;
}

/* Leave a child of its own to be reaped. Returns the exit code. */
static int reap_own_child(void)
{
	siginfo_t info;
	pid_t pid;

	end_self_after(PATIENCE_S);
	pid = fork();
	if (pid == 0)
		_exit(0);
	rti_reap_later_take(rti_pidfd_open(pid));
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0)
		return errno == ECHILD ? 0 : 1; /* it was reaped at once */
	rti_reap_later_look();
	return is_reaped(pid) ? 0 : 2;
}

/* Also if there was no memory when the library was used first. */
START_TEST(child_that_is_forked_during_a_look_reaps_its_own_children)
{
	struct child child;
	pthread_t thread;
	pid_t forked;
	int status, pidfd;

	calls_without_memory = _i;
	ck_assert_int_eq(sem_init(&is_looking, 0, 0), 0);
	ck_assert_int_eq(sem_init(&has_forked, 0, 0), 0);
	child_start(&child, do_nothing, NULL);
	pidfd = rti_pidfd_open(child.pid);
	if (pidfd < 0) {
		child_end(&child);
		suite_skip_test("this kernel has no pidfds");
		return;
	}
	rti_reap_later_take(pidfd);
	ck_assert_int_eq(pthread_create(&thread, NULL, look, NULL), 0);
	while (sem_wait(&is_looking) < 0)
		;

	forked = fork();
	if (forked == 0)
		_exit(reap_own_child());

	ck_assert_int_eq(waitpid(forked, &status, 0), forked);
	ck_assert_int_eq(status, 0);
	sem_post(&has_forked);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	child_let_die(&child);
	rti_reap_later_look();
	ck_assert(is_reaped(child.pid));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("forked_reap");

	tcase_add_loop_test(suite_case(suite, "fork"),
	                    child_that_is_forked_during_a_look_reaps_its_own_children, 0, 2);
	return suite_run(suite);
}
