/* SPDX-License-Identifier: MIT */
#include "batch_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "os/procfs.h"

#define TRIES 100
#define MS 1000000

struct batch_fixture batch_fix;

enum batch_support batch_probe(const char **why)
{
	struct rti_batch *probe;
	int err = rti_batch_open(&probe);

	rti_batch_close(probe);
	*why = "the BPF plug-in was not built";
	if (!IS_BUILT)
		return BATCH_NONE;
	*why = "this kernel cannot run the BPF program, or not from this namespace";
	if (err == -EOPNOTSUPP || !batch_is_kernel(6, 2) ||
	    access("/sys/kernel/btf/vmlinux", F_OK) < 0)
		return BATCH_NONE;
	*why = "loading the BPF program is not permitted";
	return err == -EPERM ? BATCH_UNPRIVILEGED : BATCH_FULL;
}

void batch_set_up(void)
{
	ck_assert_int_eq(rti_batch_open(&batch_fix.batch), 0);
	ck_assert_int_eq(rti_procfs_open(&batch_fix.procfs, NULL, &rti_procfs_linux), 0);
	rti_platform_init(&batch_fix.platform, false);
}

void batch_tear_down(void)
{
	rti_buf_free(&batch_fix.buf);
	rti_procfs_close(&batch_fix.procfs);
	rti_batch_close(batch_fix.batch);
}

void batch_read_text(const char *path)
{
	ck_assert_int_eq(
	    rti_procfs_read(&batch_fix.procfs, RTI_PROC, path, RTI_SINGLE_RECORD, &batch_fix.buf),
	    0);
}

static int add_thread(void *arg, const char *name)
{
	struct batch_text *text = arg;
	int32_t tid = rti_path_number(name);
	struct rti_pid_status status;

	batch_read_text(rti_task_path(text->stat.pid, tid, "status").text);
	ck_assert_int_eq(rti_parse_pid_status(batch_fix.buf.data, batch_fix.buf.len, &status), 0);
	text->voluntary += status.voluntary_switches;
	text->involuntary += status.involuntary_switches;
	if (!text->memory_tid && status.has & RTI_STATUS_HWM) {
		text->memory_tid = tid;
		text->peak_kib = status.vm_hwm_kib;
		text->shmem_kib = status.rss_shmem_kib;
	}
	return 0;
}

static void read_memory(struct batch_text *text)
{
	struct rti_pid_stat stat;

	batch_read_text(rti_task_path(text->stat.pid, text->memory_tid, "statm").text);
	ck_assert_int_eq(rti_parse_pid_statm(batch_fix.buf.data, batch_fix.buf.len, &text->statm),
	                 0);
	batch_read_text(rti_task_path(text->stat.pid, text->memory_tid, "stat").text);
	ck_assert_int_eq(rti_parse_pid_stat(batch_fix.buf.data, batch_fix.buf.len, &stat), 0);
	text->memory_stat_rss = stat.rss_pages;
	text->memory_stat_stack = stat.stack;
}

static void read_process(int32_t pid, struct batch_text *text)
{
	memset(text, 0, sizeof(*text));
	ck_assert_int_eq(batch_fix.platform.cpu_clock(pid, &text->clock), 0);
	batch_read_text(rti_pid_path(pid, "stat").text);
	ck_assert_int_eq(rti_parse_pid_stat(batch_fix.buf.data, batch_fix.buf.len, &text->stat), 0);
	batch_read_text(rti_pid_path(pid, "io").text);
	ck_assert_int_eq(rti_parse_pid_io(batch_fix.buf.data, batch_fix.buf.len, &text->io), 0);
	ck_assert_int_eq(rti_procfs_list(&batch_fix.procfs, RTI_PROC,
	                                 rti_pid_path(pid, "task").text, add_thread, text),
	                 0);
	if (text->memory_tid)
		read_memory(text);
}

void batch_send_request(const struct rti_batch_request *request, struct rti_batch_row *row)
{
	memset(row, 0x5a, sizeof(*row));
	ck_assert_int_eq(rti_batch_read(batch_fix.batch, request, 1, row), 0);
}

void batch_read_row(int32_t pid, struct rti_batch_row *row)
{
	batch_send_request(&(struct rti_batch_request){ .pid = pid, .want = RTI_BATCH_ALL }, row);
}

void batch_read_row_and_text(int32_t pid, struct rti_batch_row *row, struct batch_text *text)
{
	for (int i = 0; i < TRIES; i++) {
		struct batch_text after;

		read_process(pid, text);
		batch_read_row(pid, row);
		read_process(pid, &after);
		if (memcmp(text, &after, sizeof(after)) == 0)
			return;
	}
	ck_abort_msg("process %d does not stand still", pid);
}

void batch_stop_process(pid_t pid)
{
	siginfo_t info;

	ck_assert_int_eq(kill_process(pid, SIGSTOP), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
}

void batch_end_child(struct child *child)
{
	kill_process(child->pid, SIGKILL);
	child_end(child);
}

void batch_request_unless_idle(int32_t pid, uint64_t cpu_ns, uint64_t rss_pages,
                               struct rti_batch_row *row)
{
	batch_send_request(
	    &(struct rti_batch_request){
		.pid = pid, .want = RTI_BATCH_ALL, .idle_ns = cpu_ns, .idle_rss_pages = rss_pages },
	    row);
	ck_assert_int_eq(row->error, 0);
}

bool batch_is_kernel(int major, int minor)
{
	struct utsname name;
	int is[2] = { 0 };

	uname(&name);
	sscanf(name.release, "%d.%d", &is[0], &is[1]);
	return is[0] > major || (is[0] == major && is[1] >= minor);
}

static void *burn_and_wait(void *arg)
{
	burn_cpu_ns(2 * MS);
	pthread_barrier_wait(arg);
	for (;;)
		pause();
	return NULL;
}

static void *burn_and_end(void *arg)
{
	burn_cpu_ns(3 * MS);
	return arg;
}

void batch_start_and_end_threads(void *arg)
{
	static pthread_barrier_t ready;
	pthread_t thread;

	pthread_barrier_init(&ready, NULL, BATCH_THREADS + 1);
	for (int i = 0; i < BATCH_THREADS; i++)
		pthread_create(&thread, NULL, burn_and_wait, &ready);
	pthread_barrier_wait(&ready);
	for (int i = 0; i < *(int *)arg; i++) {
		pthread_create(&thread, NULL, burn_and_end, NULL);
		pthread_join(thread, NULL);
	}
}
