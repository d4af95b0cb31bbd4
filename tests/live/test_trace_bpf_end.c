/* SPDX-License-Identifier: MIT */
/* What is left of a trace by BPF: nothing, however it ends; and what is said where it may not
 * begin. */
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "suite.h"
#include "tracing.h"

#define OBJECTS_MAX 256
#define KILLS 20
#define TRIES 30000

/* A BPF object of the kernel. */
struct object {
	uint32_t id;
	enum bpf_cmd open; /* the command that makes a descriptor of it by id */
};

struct objects {
	struct object object[OBJECTS_MAX];
	size_t count;
};

static void add_object(struct objects *objects, uint32_t id, enum bpf_cmd open)
{
	for (size_t i = 0; i < objects->count; i++)
		if (objects->object[i].id == id && objects->object[i].open == open)
			return;
	ck_assert_uint_lt(objects->count, OBJECTS_MAX);
	objects->object[objects->count++] = (struct object){ id, open };
}

static void add_objects_of_descriptor(struct objects *objects, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[256];
	uint32_t id;

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "prog_id: %u", &id) == 1)
			add_object(objects, id, BPF_PROG_GET_FD_BY_ID);
		if (sscanf(line, "map_id: %u", &id) == 1)
			add_object(objects, id, BPF_MAP_GET_FD_BY_ID);
		if (sscanf(line, "link_id: %u", &id) == 1)
			add_object(objects, id, BPF_LINK_GET_FD_BY_ID);
	}
	fclose(file);
}

/* Add those that a process has descriptors of now. */
static void add_objects_of(struct objects *objects, pid_t pid)
{
	char path[300];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	dir = opendir(path);
	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.64s", pid, entry->d_name);
		add_objects_of_descriptor(objects, path);
	}
	closedir(dir);
}

static bool exists(const struct object *object)
{
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = object->id;
	fd = syscall(SYS_bpf, object->open, &attr, sizeof(attr));
	if (fd >= 0)
		close((int)fd);
	return fd >= 0;
}

/* The kernel frees them a moment after the last descriptor. */
static void check_gone(const struct objects *objects)
{
	for (size_t i = 0; i < objects->count; i++) {
		int tries = 0;

		while (exists(&objects->object[i])) {
			ck_assert_int_lt(tries++, TRIES);
			usleep(1000);
		}
	}
}

static void trace_until_killed(void)
{
	struct rt_trace_opts opts = { .flags = RT_TRACE_OPT_ALL };
	struct rt_trace *trace;
	struct rusage usage;

	if (start_trace(&trace, opts) != 0)
		_exit(1);
	for (;;) {
		static struct rt_trace_event events[EVENTS_MAX];
		size_t count = EVENTS_MAX;

		getrusage(RUSAGE_SELF, &usage);
		rt_trace_read(trace, events, sizeof(events[0]), &count);
	}
}

START_TEST(killed_tracer_leaves_nothing_in_the_kernel)
{
	size_t most = 0;

	for (int i = 0; i < KILLS; i++) {
		struct objects objects = { .count = 0 };
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			trace_until_killed();
		/* From while it loads to long after that. */
		for (int looks = 0; looks < 3 * i * i; looks++)
			add_objects_of(&objects, pid);
		ck_assert_int_eq(kill_process(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
		check_gone(&objects);
		if (objects.count > most)
			most = objects.count;
	}
	/* Programs, maps and links of a whole trace were seen. */
	ck_assert_uint_ge(most, 15);
}
END_TEST

START_TEST(freed_trace_leaves_nothing_in_the_kernel)
{
	struct rt_trace_opts opts = { .pid = getpid() };
	struct objects objects = { .count = 0 };
	struct rt_trace *trace;

	ck_assert_int_eq(start_trace(&trace, opts), 0);
	add_objects_of(&objects, getpid());
	ck_assert_uint_ge(objects.count, 15);
	ck_assert(exists(&objects.object[0]));
	rt_trace_free(trace);
	check_gone(&objects);
}
END_TEST

/* The child has ended with 0, or with 77 if it may not become what the test is about. */
static void check_child(pid_t pid)
{
	int status;

	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		suite_skip_test("this user may not become one with fewer rights");
	else
		ck_assert_int_eq(status, 0);
}

/* Without the right to load programs. */
START_TEST(unprivileged_caller_gets_eperm)
{
	char text[256] = "";
	struct rt_trace_opts opts = { .flags = RT_TRACE_OPT_ALL,
		                      .message = text,
		                      .message_size = sizeof(text) };
	struct rt_trace *trace;
	pid_t pid = fork();

	if (pid == 0) {
		if (setgroups(0, NULL) < 0 || setgid(65534) < 0 || setuid(65534) < 0)
			_exit(77);
		if (start_trace(&trace, opts) != -EPERM || trace)
			_exit(1);
		_exit(strstr(text, "CAP_BPF") ? 0 : 2);
	}
	check_child(pid);
}
END_TEST

struct refusal {
	int error;    /* of bpf(2), by a seccomp filter */
	int expected; /* of rt_trace_new() */
};

static const struct refusal refusals[] = { { EPERM, -EPERM }, { ENOSYS, -EOPNOTSUPP } };

static void refuse_bpf(int error)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), (void *)code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		_exit(77);
}

START_TEST(caller_without_bpf_gets_the_reason)
{
	struct rt_trace_opts opts = { .flags = RT_TRACE_OPT_ALL };
	struct rt_trace *trace;
	pid_t pid = fork();

	if (pid == 0) {
		refuse_bpf(refusals[_i].error);
		_exit(start_trace(&trace, opts) == refusals[_i].expected && !trace ? 0 : 1);
	}
	check_child(pid);
}
END_TEST

START_TEST(caller_without_stdin_can_trace)
{
	struct rt_trace_opts opts = { .pid = getpid() };
	struct objects objects = { .count = 0 };
	struct rt_trace *trace;
	int saved = dup(STDIN_FILENO);

	close(STDIN_FILENO);
	ck_assert_int_eq(start_trace(&trace, opts), 0);
	add_objects_of(&objects, getpid());
	rt_trace_free(trace);
	check_gone(&objects);
	if (saved >= 0) {
		dup2(saved, STDIN_FILENO);
		close(saved);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_bpf_end");
	TCase *end = suite_case(suite, "end");
	const char *why = why_no_bpf();

	if (why)
		return suite_skip(why);
	tcase_add_test(end, killed_tracer_leaves_nothing_in_the_kernel);
	tcase_add_test(end, freed_trace_leaves_nothing_in_the_kernel);
	tcase_add_test(end, unprivileged_caller_gets_eperm);
	tcase_add_loop_test(end, caller_without_bpf_gets_the_reason, 0, 2);
	tcase_add_test(end, caller_without_stdin_can_trace);
	return suite_run(suite);
}
