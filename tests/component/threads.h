/* SPDX-License-Identifier: MIT */
/* How many threads the test has. */
#ifndef THREADS_H
#define THREADS_H

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

#include "suite.h"

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
#define IS_ADDRESS_SANITIZED 1 /* exits if it gets no memory */
#else
#define IS_ADDRESS_SANITIZED 0
#endif
#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
#define IS_THREAD_SANITIZED 1 /* the same, and if a forked child starts threads */
#else
#define IS_THREAD_SANITIZED 0
#endif

static inline void *threads_nothing(void *arg)
{
	return arg;
}

static inline int threads_count(void)
{
	DIR *dir = opendir("/proc/self/task");
	int count = -2; /* minus . and .. */

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* The same, before anything else starts threads: with the first thread, a sanitizer starts one of
 * its own. */
static inline int threads_count_first(void)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, threads_nothing, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	return threads_count();
}

/* Waits until there are this many threads. A thread exits a moment after its last action. */
static inline void threads_await(int expected)
{
	for (int i = 0; i < 5000 && threads_count() != expected; i++)
		usleep(1000);
	ck_assert_int_eq(threads_count(), expected);
}

#endif
