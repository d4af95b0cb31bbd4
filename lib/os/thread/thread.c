/* SPDX-License-Identifier: MIT */
/* Threads of the library, and sleeps that another thread can end: the only code that makes
 * threads. */
#include "os/thread/thread.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#define NS_PER_S 1000000000u

int rti_thread_start(pthread_t *out, size_t stack_bytes, void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack_bytes);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(out, &attr, run, arg);
	if (err == EINVAL) /* the host's thread-local storage does not fit in this stack */
		err = pthread_create(out, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}

void rti_thread_join(pthread_t thread)
{
	pthread_join(thread, NULL);
}

void rti_sleeper_init(struct rti_sleeper *sleeper)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&sleeper->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&sleeper->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void rti_sleeper_free(struct rti_sleeper *sleeper)
{
	pthread_cond_destroy(&sleeper->wake);
	pthread_mutex_destroy(&sleeper->lock);
}

void rti_sleeper_take(struct rti_sleeper *sleeper)
{
	pthread_mutex_lock(&sleeper->lock);
}

void rti_sleeper_release(struct rti_sleeper *sleeper)
{
	pthread_mutex_unlock(&sleeper->lock);
}

void rti_sleeper_sleep(struct rti_sleeper *sleeper, uint64_t until_ns)
{
	const struct timespec until = { .tv_sec = (time_t)(until_ns / NS_PER_S),
		                        .tv_nsec = (long)(until_ns % NS_PER_S) };

	pthread_cond_timedwait(&sleeper->wake, &sleeper->lock, &until);
}

void rti_sleeper_wake(struct rti_sleeper *sleeper)
{
	pthread_cond_broadcast(&sleeper->wake);
}
