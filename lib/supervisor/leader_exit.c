/* SPDX-License-Identifier: MIT */
/* Tells whether a process runs on after its thread group leader has exited. */
#include "supervisor/leader_exit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/kernel_abi.h"
#include "parse/parse.h"
#include "supervisor/proc_file.h"
#include "util/decimal.h"

/* Process events wait meanwhile. Each thread costs a read of 5 us or so. */
#define LOOKED_AT_MAX 128

/* Its threads, relative to /proc/PID. */
#define THREADS_DIR "task"

/* Returns true if a call has failed since the process or the thread is gone. */
static bool is_gone(ssize_t result)
{
	return result < 0 && (errno == ENOENT || errno == ESRCH);
}

static bool is_thread_ending(struct rti_shared_stats *shared, pid_t pid, const char *tid)
{
	char file[sizeof(THREADS_DIR "/4294967295/stat")] = THREADS_DIR "/", text[1024];
	size_t len = strlen(tid);
	bool is_ending;
	ssize_t n;

	if (len > strlen("4294967295"))
		return false;
	memcpy(file + strlen(THREADS_DIR "/"), tid, len);
	memcpy(file + strlen(THREADS_DIR "/") + len, "/stat", sizeof("/stat"));
	n = rts_read_pid_file(shared, pid, file, text, sizeof(text));
	if (n <= 0)
		return is_gone(n);
	return rti_parse_thread_is_ending(text, (size_t)n, &is_ending) == 0 && is_ending;
}

/* Returns true if each thread in the directory is ending. */
static bool are_all_ending(struct rti_shared_stats *shared, pid_t pid, int directory)
{
	_Alignas(struct rti_dirent) char entries[2048];
	int looked_at = 0;
	long n;

	while ((n = syscall(SYS_getdents64, directory, entries, sizeof(entries))) > 0) {
		for (long at = 0; at < n;) {
			const struct rti_dirent *entry = (const void *)(entries + at);

			at += entry->d_reclen;
			if (*entry->d_name == '.')
				continue;
			if (++looked_at > LOOKED_AT_MAX ||
			    !is_thread_ending(shared, pid, entry->d_name))
				return false;
		}
	}
	return n == 0 || is_gone(n);
}

static bool are_threads_ending(struct rti_shared_stats *shared, pid_t pid)
{
	char path[48] = "/proc/";
	bool result;
	int fd;

	memcpy(rti_decimal(path + strlen(path), (uint64_t)pid), "/" THREADS_DIR,
	       sizeof("/" THREADS_DIR));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return is_gone(fd);
	result = are_all_ending(shared, pid, fd);
	close(fd);
	return result;
}

bool rts_runs_without_leader(struct rti_shared_stats *shared, pid_t pid)
{
	struct rti_pid_stat stat;
	char text[1024];
	ssize_t n;

	if (kill(pid, 0) < 0)
		return false;
	n = rts_read_pid_file(shared, pid, "stat", text, sizeof(text));
	if (n <= 0 || rti_parse_pid_stat(text, (size_t)n, &stat) < 0)
		return !is_gone(n);
	/* Another process with this pid has a leader that runs. */
	if ((stat.state != 'Z' && stat.state != 'X') || stat.num_threads <= 1)
		return false;
	return !are_threads_ending(shared, pid);
}
