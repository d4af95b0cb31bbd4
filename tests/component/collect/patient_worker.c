/* SPDX-License-Identifier: MIT */
#include "collect/patient_worker.h"

#include "os/thread/worker.h"

/* The linker calls this instead of the function in its name. */
int __real_rti_worker_run(struct rti_worker *worker, uint64_t job_limit_ns, uint64_t limit_ns);
int __wrap_rti_worker_run(struct rti_worker *worker, uint64_t job_limit_ns, uint64_t limit_ns);

int __wrap_rti_worker_run(struct rti_worker *worker, uint64_t job_limit_ns, uint64_t limit_ns)
{
	return __real_rti_worker_run(worker, WORKER_PATIENCE * job_limit_ns,
	                             WORKER_PATIENCE * limit_ns);
}
