/* SPDX-License-Identifier: MIT */
/* Longer waits for the thread that asks file systems. On a busy system it may get no CPU for longer
 * than the library waits, and the sample then has a stalled mount more. The program is to be linked
 * with --wrap=rti_worker_run. */
#ifndef PATIENT_WORKER_H
#define PATIENT_WORKER_H

/* The waits are this many times as long: 250 ms for one mount, and 1 s for a sample. */
#define WORKER_PATIENCE 10

#endif
