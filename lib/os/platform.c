/* SPDX-License-Identifier: MIT */
/* Clocks and constants of the system: the only code that asks for them. */
#include "os/platform.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "os/cpu_time.h"
#include "os/kernel_abi.h"

/* How the kernel encodes CPU clock ids (include/linux/posix-timers.h): ~pid, then one bit that says
 * whether the clock is of one thread, then two bits for the kind. glibc only makes the last
 * kind. */
enum clock_kind { CLOCK_KIND_PROF = 0, CLOCK_KIND_VIRT = 1, CLOCK_KIND_SCHED = 2 };

#define PARTS_MAX_AGE_NS 1000000u /* the parts only move at ticks */
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S (1000 * NS_PER_MS)
#define LARGEST_PID (1 << 22) /* PID_MAX_LIMIT, include/linux/threads.h */

_Static_assert(sizeof(time_t) == 8, "32-bit systems need glibc 2.34 or musl 1.2");

static uint64_t to_ns(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * 1000000000u + (uint64_t)ts->tv_nsec;
}

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts = { 0 };

	clock_gettime(id, &ts);
	return to_ns(&ts);
}

uint64_t rti_monotonic_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

static void now(struct rti_now *out)
{
	out->monotonic_ns = rti_monotonic_ns();
	out->boottime_ns = read_clock(CLOCK_BOOTTIME);
	out->realtime_ns = read_clock(CLOCK_REALTIME);
}

static uint64_t thread_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static clockid_t pid_clock_id(int32_t pid, enum clock_kind kind)
{
	return (clockid_t)((~(uint32_t)pid << 3) | (uint32_t)kind);
}

static int read_pid_clock(int32_t pid, enum clock_kind kind, uint64_t *out_ns)
{
	clockid_t id = pid_clock_id(pid, kind);
	struct timespec ts;

	/* The kernel reports a missing process as EINVAL. A pid above the limit would lose bits in
	 * the shift and name another clock. */
	if (pid > LARGEST_PID || clock_gettime(id, &ts) < 0)
		return -ESRCH;
	*out_ns = to_ns(&ts);
	return 0;
}

static int cpu_clock(int32_t pid, struct rti_cpu_clock *out)
{
	int err = read_pid_clock(pid, CLOCK_KIND_SCHED, &out->total_ns);

	if (err == 0 && out->parts_at_ns && out->total_ns - out->parts_at_ns < PARTS_MAX_AGE_NS)
		return 0;
	if (err == 0)
		err = read_pid_clock(pid, CLOCK_KIND_VIRT, &out->user_part_ns);
	if (err == 0)
		err = read_pid_clock(pid, CLOCK_KIND_PROF, &out->both_parts_ns);
	if (err == 0)
		out->parts_at_ns = out->total_ns;
	return err;
}

/* The id of a thread that is no leader names no process clock (kernel/time/posix-cpu-timers.c,
 * pid_for_clock()). Its resolution is asked for and not its time, which takes a sum over threads,
 * and which the kernel allows by the id of the calling thread, too. */
static bool is_process(int32_t pid)
{
	struct timespec ts;

	return pid <= LARGEST_PID && clock_getres(pid_clock_id(pid, CLOCK_KIND_SCHED), &ts) == 0;
}

/* The kernel allows that to a caller that may read smaps_rollup of both. */
static bool have_same_memory(int32_t pid, int32_t other)
{
	return syscall(SYS_kcmp, pid, other, RTI_KCMP_VM, 0, 0) == 0;
}

static int32_t current_pid(void)
{
	return getpid();
}

static void reaped_use(struct rti_reaped_use *out)
{
	struct rusage use = { 0 };

	getrusage(RUSAGE_CHILDREN, &use);
	*out = (struct rti_reaped_use){ .user_ns = rti_timeval_to_ns(use.ru_utime),
		                        .system_ns = rti_timeval_to_ns(use.ru_stime),
		                        .minor_faults = (uint64_t)use.ru_minflt,
		                        .major_faults = (uint64_t)use.ru_majflt };
}

static uint32_t cpu_count(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count > 0 ? (uint32_t)count : 1;
}

static uint32_t fd_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= UINT32_MAX)
		return UINT32_MAX;
	return (uint32_t)limit.rlim_cur;
}

static const struct rti_wait_bounds wait_bounds = {
	.begin_ns = 10 * NS_PER_S,
	.look_ns = 50 * NS_PER_MS,
	.idle_look_ns = 250 * NS_PER_MS,
	.again_ns = NS_PER_S,
	.stopped_ns = 5 * NS_PER_S,
	.signal_ns = 300 * NS_PER_MS,
	.answer_ns = NS_PER_S,
	.late_ns = 10 * NS_PER_MS,
	.quiet_ns = 2 * NS_PER_S,
	.busy_ns = 60 * NS_PER_S,
	.unwanted_ns = 100 * NS_PER_MS,
	.unexecuted_ns = 10 * NS_PER_S,
};

/* A program of 64 bits has a kernel of 64 bits. One of 32 bits may run on such a kernel, too, which
 * says so in its name. E.g.: x86_64, aarch64, ppc64le. */
static bool has_32_bit_kernel(void)
{
	struct utsname name;

	return sizeof(long) == 4 && (uname(&name) < 0 || !strstr(name.machine, "64"));
}

void rti_platform_init(struct rti_platform *platform, bool is_foreign)
{
	*platform = (struct rti_platform){
		.tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK),
		.page_size = (uint64_t)sysconf(_SC_PAGESIZE),
		.has_32_bit_kernel = has_32_bit_kernel(),
		.waits = wait_bounds,
		.now = now,
		.monotonic_ns = rti_monotonic_ns,
		.thread_cpu_ns = thread_cpu_ns,
		.cpu_clock = is_foreign ? NULL : cpu_clock,
		.is_process = is_foreign ? NULL : is_process,
		.have_same_memory = is_foreign ? NULL : have_same_memory,
		.getpid = current_pid,
		.reaped_use = is_foreign ? NULL : reaped_use,
		.cpu_count = cpu_count,
		.fd_limit = fd_limit,
	};
}

/* A coarse clock advances at ticks, and the kernel reports that as its resolution
 * (kernel/time/posix-timers.c, posix_get_coarse_res()). */
uint64_t rti_platform_kernel_tick_ns(void)
{
	struct timespec tick = { 0 };

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return (uint64_t)tick.tv_sec * 1000000000u + (uint64_t)tick.tv_nsec;
}
