/* SPDX-License-Identifier: MIT */
/* A lock between the threads of one process. */
#ifndef RTI_LOCK_H
#define RTI_LOCK_H

#include <pthread.h>

/* Recursive: the thread that holds it may take it again, and releases it as often. */
struct rti_lock {
	pthread_mutex_t mutex;
};

void rti_lock_init(struct rti_lock *lock);

/* While no thread holds it. */
void rti_lock_free(struct rti_lock *lock);

/* Wait until no other thread holds it. Neither is async-signal-safe. NULL: nothing. */
void rti_lock_take(struct rti_lock *lock);
void rti_lock_release(struct rti_lock *lock);

#endif
