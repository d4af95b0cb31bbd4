/* SPDX-License-Identifier: MIT */
/* A lock between the threads of one process. */
#include "os/thread/lock.h"

void rti_lock_init(struct rti_lock *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&lock->mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

void rti_lock_free(struct rti_lock *lock)
{
	pthread_mutex_destroy(&lock->mutex);
}

void rti_lock_take(struct rti_lock *lock)
{
	if (lock)
		pthread_mutex_lock(&lock->mutex);
}

void rti_lock_release(struct rti_lock *lock)
{
	if (lock)
		pthread_mutex_unlock(&lock->mutex);
}
