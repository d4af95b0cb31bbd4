/* SPDX-License-Identifier: MIT */
/* What a trace by BPF costs a program per call, traced or not.
 *
 *	bench-trace-cost [ROUNDS [CALLS]]
 *
 * In each round, the same process makes the same calls untraced, while another process is traced,
 * while it is traced itself, and while the whole machine is traced. So what else the machine does
 * is alike for all of them. Times are CPU times of the calling thread; the median counts. It says
 * whether the targets are met, and does not fail if they are not: that depends on the machine. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#define ROUNDS_MAX 101
#define EVENTS_MAX 512
#define RING_BYTES (16u << 20)

enum state { UNTRACED, OTHER, TRACED, MACHINE, STATES };

static const char *const names[STATES] = { "untraced", "another process is traced", "traced",
	                                   "the machine is traced" };

struct subject {
	pid_t pid;
	int request, reply;
};

/* ns per call. */
struct cost {
	double getrusage, getppid;
};

static double thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double time_calls(long number, long calls)
{
	struct rusage usage;
	double start = thread_cpu_ns();

	for (long i = 0; i < calls; i++)
		syscall(number, RUSAGE_SELF, &usage);
	return (thread_cpu_ns() - start) / (double)calls;
}

static void be_subject(int request, int reply, long calls)
{
	char byte;

	while (read(request, &byte, 1) == 1) {
		struct cost cost = { .getrusage = time_calls(SYS_getrusage, calls),
			             .getppid = time_calls(SYS_getppid, calls) };

		if (write(reply, &cost, sizeof(cost)) != sizeof(cost))
			break;
	}
	_exit(0);
}

static struct subject start_subject(long calls)
{
	struct subject subject;
	int request[2], reply[2];

	if (pipe(request) < 0 || pipe(reply) < 0)
		exit(1);
	subject = (struct subject){ fork(), request[1], reply[0] };
	if (subject.pid == 0) {
		close(request[1]);
		be_subject(request[0], reply[1], calls);
	}
	close(request[0]);
	close(reply[1]);
	return subject;
}

static void end_subject(const struct subject *subject)
{
	close(subject->request);
	waitpid(subject->pid, NULL, 0);
	close(subject->reply);
}

struct reader {
	struct rt_trace *trace;
	pthread_t thread;
	bool is_done;
};

static void *read_events(void *arg)
{
	static struct rt_trace_event events[EVENTS_MAX];
	struct reader *reader = arg;
	struct pollfd fd = { .fd = rt_trace_fd(reader->trace), .events = POLLIN };

	while (!__atomic_load_n(&reader->is_done, __ATOMIC_RELAXED)) {
		size_t count = EVENTS_MAX;

		if (poll(&fd, 1, 100) > 0)
			rt_trace_read(reader->trace, events, sizeof(events[0]), &count);
	}
	return NULL;
}

static void start_trace(struct reader *reader, enum state state, pid_t subject, pid_t other)
{
	char message[256] = "";
	struct rt_trace_opts opts = {
		.size = sizeof(opts),
		.flags = state == MACHINE ? RT_TRACE_OPT_ALL : 0,
		.pid = state == TRACED  ? subject
		       : state == OTHER ? other
		                        : 0,
		.back_end = RT_TRACE_BACK_END_BPF,
		.ring_bytes = RING_BYTES,
		.message = message,
		.message_size = sizeof(message),
	};

	*reader = (struct reader){ 0 };
	if (rt_trace_new(&reader->trace, &opts) != 0) {
		printf("1..0 # SKIP %s\n", message);
		exit(0);
	}
	if (pthread_create(&reader->thread, NULL, read_events, reader) != 0)
		exit(1);
}

static uint64_t end_trace(struct reader *reader)
{
	struct rt_trace_totals totals;

	__atomic_store_n(&reader->is_done, true, __ATOMIC_RELAXED);
	pthread_join(reader->thread, NULL);
	rt_trace_get_totals(reader->trace, &totals, sizeof(totals));
	rt_trace_free(reader->trace);
	return totals.lost;
}

static struct cost measure(enum state state, const struct subject *subject, pid_t other,
                           uint64_t *lost)
{
	struct reader reader;
	struct cost cost;

	if (state != UNTRACED)
		start_trace(&reader, state, subject->pid, other);
	if (write(subject->request, "x", 1) != 1 ||
	    read(subject->reply, &cost, sizeof(cost)) != sizeof(cost))
		exit(1);
	if (state != UNTRACED)
		*lost += end_trace(&reader);
	return cost;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return values[count / 2];
}

/* The most that a call may cost more than an untraced one. */
#define TRACED_MAX_NS 400
#define OTHER_MAX_NS 100

static void report_target(const char *what, double above_ns, int most_ns)
{
	printf("# target: %s costs at most %d ns more: %s\n", what, most_ns,
	       above_ns <= most_ns ? "met" : "missed");
}

static void report(enum state state, double *getrusage_ns, double *getppid_ns, int rounds,
                   uint64_t lost)
{
	static double base[2];
	double cost[2] = { median(getrusage_ns, rounds), median(getppid_ns, rounds) };

	if (state == UNTRACED)
		memcpy(base, cost, sizeof(base));
	printf("# %-27s getrusage %6.1f ns (%+7.1f)  getppid %6.1f ns (%+7.1f)  lost %lu\n",
	       names[state], cost[0], cost[0] - base[0], cost[1], cost[1] - base[1],
	       (unsigned long)lost);
	if (state == OTHER)
		report_target("a call of a process that is not traced", cost[0] - base[0],
		              OTHER_MAX_NS);
	if (state == TRACED)
		report_target("a traced call", cost[0] - base[0], TRACED_MAX_NS);
}

int main(int argc, char **argv)
{
	static double getrusage_ns[STATES][ROUNDS_MAX], getppid_ns[STATES][ROUNDS_MAX];
	int rounds = argc > 1 ? atoi(argv[1]) : 3;
	long calls = argc > 2 ? atol(argv[2]) : 20000;
	struct subject subject = start_subject(calls), other = start_subject(calls);
	uint64_t lost[STATES] = { 0 };

	if (rounds < 1 || rounds > ROUNDS_MAX || calls < 1)
		return 2;
	for (int i = 0; i < rounds; i++) {
		for (enum state s = UNTRACED; s < STATES; s++) {
			struct cost cost = measure(s, &subject, other.pid, &lost[s]);

			getrusage_ns[s][i] = cost.getrusage;
			getppid_ns[s][i] = cost.getppid;
		}
	}
	for (enum state s = UNTRACED; s < STATES; s++)
		report(s, getrusage_ns[s], getppid_ns[s], rounds, lost[s]);
	end_subject(&other);
	end_subject(&subject);
	printf("ok 1 - calls were measured\n1..1\n");
	return 0;
}
