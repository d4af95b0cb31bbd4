/* SPDX-License-Identifier: MIT */
/* Children of the library that outlive the handle that has started them.
 *
 * This is state of the process, not of a handle: a child cannot be given away. To leave it to init
 * (a double fork) does not help: in a container init may be a program that reaps nothing. A forked
 * child inherits the list, and learns from the kernel that these are no children of its own. */
#include "os/process/reap_later.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

#include "os/process/pidfd.h"

#define WAITING_MAX 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int waiting[WAITING_MAX]; /* pidfds, oldest first */
static int count;
static _Atomic bool watches_forks; /* free_lock_in_child() runs in each child */

/* A thread of the parent that held the lock is not here to release it. The list may hold
 * descriptors that are closed, so it is forgotten. */
static void free_lock_in_child(void)
{
	if (pthread_mutex_trylock(&lock) == 0) {
		pthread_mutex_unlock(&lock);
		return;
	}
	pthread_mutex_init(&lock, NULL);
	count = 0;
}

/* Forks are watched before the lock is taken for the first time. If there is no memory for that,
 * the next call tries again. Two threads may both do so, which is harmless. */
static void take_lock(void)
{
	if (!watches_forks && pthread_atfork(NULL, NULL, free_lock_in_child) == 0)
		watches_forks = true;
	pthread_mutex_lock(&lock);
}

static void keep_running(void)
{
	int kept = 0, status;

	for (int i = 0; i < count; i++) {
		if (rti_pidfd_reap(waiting[i], &status) == -EAGAIN)
			waiting[kept++] = waiting[i];
		else
			rti_pidfd_close(waiting[i]);
	}
	count = kept;
}

void rti_reap_later_take(int pidfd)
{
	take_lock();
	if (count == WAITING_MAX)
		keep_running();
	if (count == WAITING_MAX) {
		rti_pidfd_close(waiting[0]);
		count--;
		for (int i = 0; i < count; i++)
			waiting[i] = waiting[i + 1];
	}
	waiting[count++] = pidfd;
	keep_running();
	pthread_mutex_unlock(&lock);
}

void rti_reap_later_look(void)
{
	take_lock();
	keep_running();
	pthread_mutex_unlock(&lock);
}
