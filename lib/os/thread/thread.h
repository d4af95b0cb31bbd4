/* SPDX-License-Identifier: MIT */
/* Threads of the library, and sleeps that another thread can end. */
#ifndef RTI_THREAD_H
#define RTI_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* Start a thread with every signal blocked, so that signal handlers run on the host's threads. If
 * the host's thread-local storage does not fit into the stack, it gets one of the usual size.
 * Returns 0 or -errno: -EAGAIN if there can be no more. */
int rti_thread_start(pthread_t *out, size_t stack_bytes, void *(*run)(void *arg), void *arg);

void rti_thread_join(pthread_t thread);

/* A lock, and a sleep of the thread that holds it. */
struct rti_sleeper {
	pthread_mutex_t lock;
	pthread_cond_t wake;
};

void rti_sleeper_init(struct rti_sleeper *sleeper);

/* While no thread uses it, and not in a forked child. */
void rti_sleeper_free(struct rti_sleeper *sleeper);

void rti_sleeper_take(struct rti_sleeper *sleeper);
void rti_sleeper_release(struct rti_sleeper *sleeper);

/* Let go of the lock until a time of CLOCK_MONOTONIC, or until it is woken. It may also wake for no
 * reason. */
void rti_sleeper_sleep(struct rti_sleeper *sleeper, uint64_t until_ns);

/* End a sleep. The caller holds the lock. */
void rti_sleeper_wake(struct rti_sleeper *sleeper);

#endif
