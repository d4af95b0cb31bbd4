/* SPDX-License-Identifier: MIT */
/* The supervisor between a library that sends any requests and a kernel that sends any events and
 * exit accounts. What it leaves in the shared memory then becomes the list of processes, unless
 * another process has written to that memory. */
#include "messages.h"

#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

int supervisor_main(int argc, char **argv);

#define main supervisor_main
#include "../../lib/supervisor/main.c"
#undef main

#include "command/process_list.h"
#include "os/proc_connector.h"
#include "os/process/pidfd.h"
#include "supervisor/cgroup_watch.h"

#define LIBRARY_FD 1003
#define PIDFD 1004
#define STEPS_MAX 40
#define ROOT 1
#define CLOCK_STEP_NS 20000000u

static struct fuzz_input input, *const in = &input;
static uint64_t clock_ns;
static char *memory;
static bool is_shared_with_others; /* they write to the memory */

/* --- What takes the place of the system. --- */

int __wrap_rti_events_open(unsigned also, int64_t *ahead_ns);
int __wrap_rti_events_open_threads(void);
void __wrap_rti_events_close(int fd);
uint32_t __wrap_rti_events_capacity(int fd);
int __wrap_rti_taskstats_open(const char *cpus);
int __wrap_rti_pidfd_open(int32_t pid);
int __wrap_rti_pidfd_cgroup_id(int fd, uint64_t *id);
void __wrap_rti_pidfd_close(int fd);
ssize_t __wrap_rts_read_file(struct rti_shared_stats *shared, const char *path, char *text,
                             size_t size);
ssize_t __wrap_rts_read_pid_file(struct rti_shared_stats *shared, pid_t pid, const char *file,
                                 char *text, size_t size);
ssize_t __wrap_readlink(const char *path, char *out, size_t size);
ssize_t __wrap_recv(int fd, void *out, size_t size, int flags);
ssize_t __wrap_send(int fd, const void *report, size_t size, int flags);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
int __wrap_kill(pid_t pid, int signal);
int __wrap_close(int fd);
int __real_close(int fd);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t len);
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t len);
int __wrap_clock_gettime(clockid_t id, struct timespec *out);

int __wrap_rti_events_open(unsigned also, int64_t *ahead_ns)
{
	(void)also;
	*ahead_ns = take_u8(in) & 1 ? 0 : (int64_t)take_u64(in);
	return take_u8(in) < 250 ? MESSAGES_EVENTS_FD : -EPERM;
}

int __wrap_rti_events_open_threads(void)
{
	return take_u8(in) < 250 ? MESSAGES_THREADS_FD : -ENOMEM;
}

void __wrap_rti_events_close(int fd)
{
	require(fd == MESSAGES_EVENTS_FD || fd == MESSAGES_THREADS_FD);
}

uint32_t __wrap_rti_events_capacity(int fd)
{
	(void)fd;
	return (uint32_t)take_u64(in);
}

int __wrap_rti_taskstats_open(const char *cpus)
{
	(void)cpus;
	return take_u8(in) < 250 ? MESSAGES_ACCOUNTS_FD : -EPERM;
}

int __wrap_rti_pidfd_open(int32_t pid)
{
	(void)pid;
	errno = ESRCH;
	return take_u8(in) % 4 ? PIDFD : -1;
}

int __wrap_rti_pidfd_cgroup_id(int fd, uint64_t *id)
{
	require(fd == PIDFD || fd == -1);
	*id = take_below(in, 4);
	return take_u8(in) % 4 ? 0 : -ESRCH;
}

void __wrap_rti_pidfd_close(int fd)
{
	require(fd == PIDFD || fd == -1);
}

ssize_t __wrap_rts_read_file(struct rti_shared_stats *shared, const char *path, char *text,
                             size_t size)
{
	(void)shared;
	return snprintf(text, size, "%s",
	                strcmp(path, "/proc/self/cgroup") == 0 ? "0::/a\n" : "0-3\n");
}

static int print_stat(char *text, size_t size, pid_t pid)
{
	return snprintf(
	    text, size, "%d (a) b) %c %d 1 1 0 -1 0 1 %u 1 0 3 4 5 6 20 0 %u 0 %llu 1000 100 0\n",
	    (int)pid, "SRZX"[take_below(in, 4)], (int)take_below(in, 24), take_below(in, 3),
	    take_below(in, 3), (unsigned long long)(clock_ns / 10000000 + take_u64(in) % 100));
}

ssize_t __wrap_rts_read_pid_file(struct rti_shared_stats *shared, pid_t pid, const char *file,
                                 char *text, size_t size)
{
	uint8_t how = take_u8(in);
	int len;

	(void)shared;
	text[0] = '\0';
	if (how < 32)
		return how % 2 ? -1 : 0;
	if (how < 48) {
		len = (int)take_below(in, (uint32_t)size);
		memset(text, take_u8(in), (size_t)len);
		take_bytes(in, text, (size_t)len < 32 ? (size_t)len : 32);
	} else if (strcmp(file, "cgroup") == 0) {
		len = snprintf(text, size, "0::/%.*s\n", how % 3, "ab");
	} else if (strcmp(file, "stat") == 0) {
		len = print_stat(text, size, pid);
	} else if (strcmp(file, "io") == 0) {
		len = snprintf(text, size,
		               "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: %llu\n"
		               "write_bytes: 6\ncancelled_write_bytes: 7\n",
		               (unsigned long long)take_u64(in));
	} else {
		len = snprintf(text, size, "a%cbc%c%c", 0, 'a' + how % 4, 0);
	}
	text[len] = '\0';
	return len;
}

ssize_t __wrap_readlink(const char *path, char *out, size_t size)
{
	size_t len = take_below(in, (uint32_t)size + 1);

	(void)path;
	memset(out, 'd', len);
	return take_u8(in) < 200 ? (ssize_t)(len < 8 ? len : len % 8)
	       : len > 4000      ? (ssize_t)len
	                         : -1;
}

ssize_t __wrap_recv(int fd, void *out, size_t size, int flags)
{
	uint8_t how = take_u8(in);
	uint32_t request = (uint32_t)take_u64(in);

	(void)flags;
	require(fd == LIBRARY_FD && size == sizeof(request));
	if (how >= 240) {
		errno = how >= 250 ? ECONNRESET : how >= 245 ? EINTR : EAGAIN;
		return -1;
	}
	request = how < 200 ? how % 2 : request;
	memcpy(out, &request, sizeof(request));
	return how < 220 ? (ssize_t)size : how % 4;
}

ssize_t __wrap_send(int fd, const void *report, size_t size, int flags)
{
	const struct rti_report *sent = report;

	(void)flags;
	require(fd == LIBRARY_FD && size == sizeof(*sent) && sent->kind == RTI_ACCOUNTED);
	errno = EAGAIN;
	return take_u8(in) < 240 ? (ssize_t)size : -1;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	require(timeout_ms >= 0);
	if (count > 0)
		fds[0].revents = POLLIN;
	return !has_ended(in) && take_u8(in) % 2;
}

int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	(void)type;
	(void)id;
	(void)options;
	info->si_pid = 0;
	errno = ECHILD;
	return take_u8(in) % 2 ? 0 : -1;
}

int __wrap_kill(pid_t pid, int signal)
{
	(void)pid;
	require(signal == 0);
	return take_u8(in) % 2 ? 0 : -1;
}

/* The driver closes its own. */
int __wrap_close(int fd)
{
	return fd == LIBRARY_FD || fd == MESSAGES_ACCOUNTS_FD ? 0 : __real_close(fd);
}

int __wrap_fallocate(int fd, int mode, off_t offset, off_t len)
{
	(void)fd;
	(void)mode;
	require(offset + len <= (off_t)(RTI_TEXT_OFFSET + RTI_TEXT_BYTES_MAX));
	errno = ENOSPC;
	return take_u8(in) < 250 ? 0 : -1;
}

/* As glibc calls it with 64-bit offsets. */
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t len)
{
	return __wrap_fallocate(fd, mode, offset, len);
}

int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
	uint64_t ns = clock_ns += CLOCK_STEP_NS;

	if (id < 0) { /* of a process */
		ns = take_u64(in);
		errno = EINVAL;
		if (ns % 4 == 0)
			return -1;
	}
	*out = (struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
		                  .tv_nsec = (long)(ns % 1000000000) };
	return 0;
}

/* --- What the library makes of the shared stats. --- */

static void check_rows(const struct rti_process_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct rt_command_process *row = &list->rows[i].shown;
		volatile char last;
		size_t len;

		require(!(row->valid & row->partial) && !(row->valid & row->estimated) &&
		        !(row->partial & row->estimated));
		require_string(row->comm, sizeof(row->comm));
		for (uint32_t text = RT_TEXT_COMMAND_LINE; text <= RT_TEXT_CWD; text++) {
			const char *at = rti_process_list_text(list, i, text, &len);

			if (at)
				last = at[len - 1];
		}
		(void)last;
	}
}

static void check_list(struct rti_shared_stats *shared)
{
	const struct rti_now now = { 2000000000, 3000000000, 4000000000 };
	struct rti_process_list list = { .tick_ns = 10000000 };
	const struct rti_process_records all = {
		.records = (void *)(memory + RTI_SHARED_STATS_BYTES),
		.count = (size_t)shared->records,
		.texts = memory + RTI_TEXT_OFFSET,
		.text_bytes = (size_t)shared->text_bytes,
		.sees_every_exec = shared->events == RTI_EVENTS_INTACT,
	};

	require(all.count <= RTI_RECORDS_MAX && all.text_bytes <= RTI_TEXT_BYTES_MAX);
	for (size_t i = 0; i < all.count; i++) {
		const struct rti_process_record *record = &all.records[i];

		require(record->pid > 0);
		require((uint64_t)record->command.at + record->command.len <= all.text_bytes);
		require((uint64_t)record->cwd.at + record->cwd.len <= all.text_bytes);
	}
	rti_process_list_add_records(&list, &all, &now);
	require(list.count == all.count);
	rti_process_list_finish(&list, &now);
	rti_process_list_fit_cpu(&list, take_u64(in));
	check_rows(&list);
	rti_process_list_free(&list);
}

/* --- The steps. --- */

static void begin_log(bool has_list)
{
	const struct rts_process_log_opts opts = {
		.shared = supervisor.shared,
		.memory = &supervisor.memory,
		.has_list = has_list,
		.root = ROOT,
		.cpus = 4,
	};

	clock_ns = 1000000000;
	library = LIBRARY_FD;
	supervisor.deliver = send_report;
	rts_cgroup_watch_begin(supervisor.shared, "");
	require(rts_process_log_begin(&opts) == 0);
	rts_process_log_set_program(2, 100);
}

/* Another process writes to the head of the memory, or to a record. */
static void forge(void)
{
	struct rti_shared_stats *shared = supervisor.shared;
	struct rti_process_record *record =
	    (struct rti_process_record *)(memory + RTI_SHARED_STATS_BYTES) + take_below(in, 8);

	switch (take_below(in, 4)) {
	case 0:
		shared->records = take_u64(in);
		break;
	case 1:
		shared->text_bytes = take_u64(in);
		break;
	case 2:
		memset(shared->cgroup_of_program, 'a', sizeof(shared->cgroup_of_program));
		break;
	default:
		record->command.at = (uint32_t)take_u64(in);
		record->cwd.at = (uint32_t)take_u64(in);
		record->flags = (uint32_t)take_u64(in);
		break;
	}
}

static void step(void)
{
	struct rusage use = { .ru_maxrss = (long)take_u64(in) };
	int32_t pid = take_pid(in);

	switch (take_below(in, 6)) {
	case 0:
		if (library >= 0)
			handle_request();
		break;
	case 1:
		rts_process_log_record_zombie(pid);
		break;
	case 2:
		rts_process_log_record_reaped(pid, (int)take_u64(in), &use);
		break;
	case 3:
		rts_process_log_catch_up();
		break;
	case 4:
		rts_begin_batch(&supervisor);
		rts_batch_left_ms(&supervisor);
		break;
	default:
		rts_process_log_update();
		break;
	}
}

static void end_log(void)
{
	struct rti_shared_stats *shared = supervisor.shared;

	rts_process_log_finish(take_u8(in) % 2);
	if (is_shared_with_others) {
		rts_process_log_end();
		rts_cgroup_watch_end();
		madvise(memory, RTI_TEXT_OFFSET + RTI_TEXT_BYTES_MAX, MADV_DONTNEED);
		supervisor = (struct rts_supervisor){ .shared = shared };
		return;
	}
	require(shared->events <= RTI_EVENTS_LOST);
	require(shared->alive_peak <= shared->processes);
	rts_process_log_end();
	rts_cgroup_watch_end();
	check_list(shared);
	memset(memory + RTI_TEXT_OFFSET, 0, (size_t)shared->text_bytes);
	memset(memory, 0,
	       RTI_SHARED_STATS_BYTES +
	           (size_t)shared->records * sizeof(struct rti_process_record));
	supervisor = (struct rts_supervisor){ .shared = shared };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t how;

	input = fuzz_input(data, len);
	if (!memory) {
		memory = mmap(NULL, RTI_TEXT_OFFSET + RTI_TEXT_BYTES_MAX, PROT_READ | PROT_WRITE,
		              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		require(memory != MAP_FAILED);
		supervisor.shared = (void *)memory;
	}
	messages_begin(in);
	how = take_u8(in);
	begin_log(how % 4 != 0);
	is_shared_with_others = how >= 224;
	for (int steps = 0; steps < STEPS_MAX && !has_ended(in); steps++) {
		step();
		if (is_shared_with_others)
			forge();
	}
	end_log();
	messages_begin(NULL);
	return 0;
}
