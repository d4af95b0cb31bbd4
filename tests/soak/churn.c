/* SPDX-License-Identifier: MIT */
#include "churn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGES 200
#define PAUSE_MS 2

static void work_ms(unsigned ms)
{
	struct timespec now;
	int64_t end_ns;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	end_ns = now.tv_sec * 1000000000 + now.tv_nsec + ms * INT64_C(1000000);
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec * 1000000000 + now.tv_nsec < end_ns);
}

static void *work_in_thread(void *unused)
{
	(void)unused;
	work_ms(1);
	return NULL;
}

static void grow(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory =
	    mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; memory != MAP_FAILED && i < PAGES; i++)
		memory[i * page] = 1;
}

static void wait_for_all(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

/* One of the kinds of children, in turn. */
static void be_child(unsigned number)
{
	pthread_t thread;

	switch (number % 5) {
	case 0:
		grow();
		break;
	case 1:
		if (pthread_create(&thread, NULL, work_in_thread, NULL) == 0)
			pthread_join(thread, NULL);
		break;
	case 2:
		if (fork() == 0) {
			work_ms(1);
			_exit(0);
		}
		wait_for_all();
		break;
	case 3:
		execlp("true", "true", (char *)NULL);
		break;
	default:
		work_ms(3);
	}
	_exit(0);
}

/* Returns whether the other end is closed, after a short pause if not. */
static bool is_over(int end_fd)
{
	struct pollfd end = { .fd = end_fd, .events = POLLIN };

	return poll(&end, 1, PAUSE_MS) > 0;
}

static void be_root(int end_fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned number = 0; !is_over(end_fd); number++) {
		if (fork() == 0)
			be_child(number);
		if (number % 3 == 2) /* up to three at once */
			wait_for_all();
	}
	wait_for_all();
	_exit(0);
}

int churn_start(struct churn *churn)
{
	int end[2];

	if (pipe(end) < 0)
		return -errno;
	churn->pid = fork();
	if (churn->pid == 0) {
		close(end[1]);
		be_root(end[0]);
	}
	close(end[0]);
	churn->end_fd = end[1];
	return churn->pid < 0 ? -errno : 0;
}

int churn_end(struct churn *churn)
{
	siginfo_t info;
	int result;

	close(churn->end_fd);
	do {
		result = waitid(P_PID, (id_t)churn->pid, &info, WEXITED | WNOWAIT);
	} while (result < 0 && errno == EINTR);
	return result < 0 ? -errno : 0;
}

static uint64_t to_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

uint64_t churn_reap(struct churn *churn)
{
	struct rusage usage;

	if (wait4(churn->pid, NULL, 0, &usage) != churn->pid)
		return 0;
	return to_ns(usage.ru_utime) + to_ns(usage.ru_stime);
}
