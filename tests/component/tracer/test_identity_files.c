/* SPDX-License-Identifier: MIT */
/* Which thread has made a call, by each way in which the files of /proc and of cgroups may read.
 * The files are the test's. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "os/process/pidfd.h"
#include "suite.h"
#include "tracer/identity.h"

#define TID 4711
#define INODE 33
#define LONG_BYTES 8000

/* What there is. NULL: no such file. */
static struct {
	const char *cgroup, *status, *stat;
	const char *leader_stat, *parent_status, *parent_stat;
	const char *v2;        /* where v2 is mounted */
	const char *directory; /* of the cgroup */
	const char *namespace_link;
	const char *uts_link; /* of its UTS namespace; NULL: namespace_link */
	const char *uts;      /* the file of that */
	rlim_t descriptors;
	long ticks; /* of a second, as sysconf(3) has it; 0: as it is */
} files;

/* The UTS namespaces that the tracer has entered. */
static struct {
	int other_fd; /* that of the thread */
	bool may_enter_own, is_in_other;
	unsigned entries; /* into that of the thread */
} entered;

/* The linker calls these instead of the functions in their names. */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __real_stat64(const char *path, struct stat *out);
int __wrap_stat64(const char *path, struct stat *out);
ssize_t __real_readlink(const char *path, char *out, size_t size);
ssize_t __wrap_readlink(const char *path, char *out, size_t size);
int __real_getrlimit64(int what, struct rlimit *out);
int __wrap_getrlimit64(int what, struct rlimit *out);
int __wrap_rti_pidfd_cgroup_id(int pidfd, uint64_t *id);
int __wrap_setns(int fd, int kind);
long __real_sysconf(int name);
long __wrap_sysconf(int name);

static int open_text(const char *text)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

int __wrap_open64(const char *path, int flags, ...)
{
	const struct {
		const char *path, *text;
	} texts[] = {
		{ "/proc/4711/cgroup", files.cgroup },
		{ "/proc/4711/status", files.status },
		{ "/proc/4700/task/4711/stat", files.stat },
		{ "/proc/4700/task/4700/stat", files.leader_stat },
		{ "/proc/4711/task/4711/stat", files.stat },
		{ "/proc/4711/ns/uts", files.uts },
		{ "/proc/77/status", files.parent_status },
		{ "/proc/77/task/77/stat", files.parent_stat },
	};
	const char *text = NULL;
	int fd;

	if (strncmp(path, "/proc/4711/", 11) != 0 && strncmp(path, "/proc/4700/", 11) != 0 &&
	    strncmp(path, "/proc/77/", 9) != 0)
		return __real_open64(path, flags);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strcmp(path, texts[i].path) == 0)
			text = texts[i].text;
	}
	errno = ENOENT;
	fd = text ? open_text(text) : -1;
	if (strcmp(path, "/proc/4711/ns/uts") == 0)
		entered.other_fd = fd;
	return fd;
}

int __wrap_setns(int fd, int kind)
{
	bool is_other = fd == entered.other_fd;

	ck_assert_int_eq(kind, CLONE_NEWUTS);
	if (!is_other && !entered.may_enter_own)
		return -1;
	entered.is_in_other = is_other;
	entered.entries += is_other;
	return 0;
}

/* The file by which v2 shows, or its directory on a hybrid system. */
int __wrap_access(const char *path, int mode)
{
	size_t len = files.v2 ? strlen(files.v2) : 0;

	if (strncmp(path, "/sys/fs/cgroup", 14) != 0)
		return __real_access(path, mode);
	return len > 0 && strncmp(path, files.v2, len) == 0 &&
	               (strcmp(path + len, "/cgroup.controllers") == 0 || path[len] == '\0')
	           ? 0
	           : -1;
}

int __wrap_stat64(const char *path, struct stat *out)
{
	if (strncmp(path, "/sys/fs/cgroup", 14) != 0)
		return __real_stat64(path, out);
	if (!files.directory || strcmp(path, files.directory) != 0)
		return -1;
	*out = (struct stat){ .st_ino = INODE };
	return 0;
}

ssize_t __wrap_readlink(const char *path, char *out, size_t size)
{
	if (!strstr(path, "/ns/"))
		return __real_readlink(path, out, size);
	if (files.uts_link && strcmp(path, "/proc/4711/ns/uts") == 0)
		return snprintf(out, size, "%s", files.uts_link);
	if (!files.namespace_link)
		return -1;
	return snprintf(out, size, "%s", files.namespace_link);
}

int __wrap_getrlimit64(int what, struct rlimit *out)
{
	if (!files.descriptors)
		return -1;
	*out = (struct rlimit){ files.descriptors, files.descriptors };
	(void)what;
	return 0;
}

long __wrap_sysconf(int name)
{
	return name == _SC_CLK_TCK && files.ticks ? files.ticks : __real_sysconf(name);
}

/* As on a kernel before 6.13. */
int __wrap_rti_pidfd_cgroup_id(int pidfd, uint64_t *id)
{
	(void)pidfd;
	(void)id;
	return -EOPNOTSUPP;
}

static struct rti_trace_record fill(void)
{
	struct rtt_tracee tracee = { .tid = TID, .stat_fd = -1, .pidfd = -1 };
	struct rti_trace_record record = { 0 };

	rtt_identity_begin();
	rtt_identity_fill(&tracee, &record);
	rtt_identity_forget(&tracee);
	rti_pidfd_close(tracee.pidfd);
	return record;
}

static const struct {
	const char *v2, *cgroup, *directory;
	uint64_t id;
} cgroups[] = {
	{ "/sys/fs/cgroup", "0::/a/b\n", "/sys/fs/cgroup/a/b", INODE },
	{ "/sys/fs/cgroup", "0::/\n", "/sys/fs/cgroup/", INODE },
	{ "/sys/fs/cgroup/unified", "1:cpu:/c\n0::/a\n", "/sys/fs/cgroup/unified/a", INODE },
	{ "/sys/fs/cgroup/unified", "1:cpu:/c\n0::/a\n", NULL, 0 },
	{ NULL, "0::/a\n", "/sys/fs/cgroup/a", 0 },
	{ "/sys/fs/cgroup", NULL, "/sys/fs/cgroup/a", 0 },
	{ "/sys/fs/cgroup", "", "/sys/fs/cgroup/a", 0 },
	{ "/sys/fs/cgroup", "1:cpu:/a\n", "/sys/fs/cgroup/a", 0 },
	{ "/sys/fs/cgroup", "0::\n", "/sys/fs/cgroup/a", 0 },
	{ "/sys/fs/cgroup", "0::/a", "/sys/fs/cgroup/a", 0 }, /* it is cut */
};

START_TEST(cgroup_is_the_directory_that_proc_names_below_v2)
{
	files.status = "Name:\tx\nTgid:\t4711\nUid:\t1\t1\t1\t1\n";
	files.descriptors = 1000;
	files.v2 = cgroups[_i].v2;
	files.cgroup = cgroups[_i].cgroup;
	files.directory = cgroups[_i].directory;
	ck_assert_uint_eq(fill().cgroup_id, cgroups[_i].id);
}
END_TEST

/* A path that is too long for the buffer is not cut. */
START_TEST(cgroup_with_a_name_as_long_as_the_text_has_no_number)
{
	static char text[8192], directory[8300];

	memset(text, 'a', LONG_BYTES + 180);
	memcpy(text, "0::/", 4);
	strcat(text, "\n");
	snprintf(directory, sizeof(directory), "/sys/fs/cgroup/unified%.*s", LONG_BYTES + 177,
	         text + 3);
	files.status = "Name:\tx\nTgid:\t4711\nUid:\t1\t1\t1\t1\n";
	files.descriptors = 1000;
	files.v2 = "/sys/fs/cgroup/unified";
	files.cgroup = text;
	files.directory = directory;
	ck_assert_uint_eq(fill().cgroup_id, 0);
}
END_TEST

/* What cannot be read passes for no other process. */
static const struct {
	const char *status, *namespace_link;
	int32_t pid;
	uint32_t uid, pid_namespace;
} identities[] = {
	{ "Name:\tx\nTgid:\t4711\nUid:\t5\t6\t7\t8\n", "pid:[4026531836]", TID, 5, 4026531836u },
	{ "Name:\tx\nTgid:\t4711\nUid:\t5\t6\t7\t8\n", "pid:[4026532000]", TID, 5, 4026532000u },
	{ "Name:\tx\nTgid:\t4711\nUid:\t5\t6\t7\t8\n", "pid", TID, 5, 0 },
	{ "Name:\tx\nTgid:\t4711\nUid:\t5\t6\t7\t8\n", NULL, TID, 5, 0 },
	{ "Name:\tx\n", "pid:[4026531836]", 0, 0, 4026531836u },
	{ NULL, "pid:[4026531836]", 0, UINT32_MAX, 0 },
	{ "", "pid:[4026531836]", 0, UINT32_MAX, 0 },
};

static bool is_first_namespace(const char *link)
{
	return link && strcmp(link, "pid:[4026531836]") == 0;
}

START_TEST(identity_is_what_could_be_read)
{
	struct rti_trace_record record;

	files.descriptors = _i % 2 ? 0 : 1000000; /* 0: the limit is not known */
	files.status = identities[_i].status;
	files.namespace_link = identities[_i].namespace_link;
	record = fill();
	ck_assert_int_eq(record.tid, TID);
	ck_assert_int_eq(record.pid, identities[_i].pid);
	ck_assert_uint_eq(record.uid, identities[_i].uid);
	ck_assert_uint_eq(record.pid_namespace, identities[_i].pid_namespace);
	ck_assert_uint_eq(record.cpu, UINT32_MAX);
	/* the link of this process is the same, and 4026531836 is the first namespace */
	ck_assert_int_eq(record.host_tid, is_first_namespace(files.namespace_link) ? TID : 0);
}
END_TEST

/* The kernel shows /proc in ticks of 10 ms, whatever libc knows of it (USER_HZ). */
START_TEST(thread_has_what_its_stat_says)
{
	struct rti_trace_record record;

	files.descriptors = 1000;
	files.status = "Name:\tx\nTgid:\t4711\nUid:\t5\t6\t7\t8\n";
	files.stat = "4711 (a name) S 77 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 500 0 0 0 0 0 0 0 0 0 "
		     "0 0 0 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
	files.ticks = _i ? -1 : 100;
	record = fill();
	ck_assert_int_eq(record.ppid, 77);
	ck_assert_uint_eq(record.cpu, 3);
	ck_assert_str_eq(record.comm, "a name");
	ck_assert_uint_eq(record.thread_start_ns, UINT64_C(5000000000));
}
END_TEST

#define STAT(pid, ppid, start)                                                                     \
	pid " (name) S " ppid " 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 " start " 0 0 0 0 0 0 0 0 0 "  \
	    "0 0 0 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

START_TEST(process_and_parent_have_the_starts_in_their_stat)
{
	struct rti_trace_record record;

	files.descriptors = 1000;
	files.status = "Name:\tx\nTgid:\t4700\nUid:\t5\t6\t7\t8\n";
	files.stat = STAT("4711", "77", "500");
	files.leader_stat = _i ? NULL : STAT("4700", "77", "400");
	files.parent_stat = _i ? NULL : STAT("77", "1", "300");
	files.ticks = 100;
	record = fill();
	ck_assert_uint_eq(record.thread_start_ns, UINT64_C(5000000000));
	ck_assert_uint_eq(record.process_start_ns, _i ? 0 : UINT64_C(4000000000));
	ck_assert_uint_eq(record.parent_start_ns, _i ? 0 : UINT64_C(3000000000));
}
END_TEST

/* Each status has one number for each pid namespace, the innermost one last. */
static const struct {
	const char *numbers, *parent_numbers;
	int32_t pid, tid, ppid;
} inner[] = {
	{ "NStgid:\t4711\nNSpid:\t4711\n", "NStgid:\t77\n", 4711, 4711, 77 },
	{ "NStgid:\t4711\t7\nNSpid:\t4711\t8\n", "NStgid:\t77\t1\n", 7, 8, 1 },
	{ "NStgid:\t4711\t1\nNSpid:\t4711\t1\n", "NStgid:\t77\n", 1, 1, 0 },
	{ "NStgid:\t4711\t9\t1\nNSpid:\t4711\t9\t1\n", "NStgid:\t77\t5\n", 1, 1, 0 },
	{ "NStgid:\t4711\t7\nNSpid:\t4711\t8\n", "", 7, 8, 0 },
	{ "NStgid:\t4711\t7\nNSpid:\t4711\t8\n", NULL, 7, 8, 0 },
	{ "NStgid:\nNSpid:\n", "NStgid:\t77\n", 0, 0, 0 },
	{ "", "NStgid:\t77\n", 0, 0, 0 },
};

START_TEST(numbers_in_its_own_pid_namespace_are_the_last_ones)
{
	struct rti_trace_record record;
	char status[256], parent_status[256];

	snprintf(status, sizeof(status), "Name:\tx\nTgid:\t4711\nUid:\t5\t6\t7\t8\n%s",
	         inner[_i].numbers);
	snprintf(parent_status, sizeof(parent_status), "Name:\tx\n%s",
	         inner[_i].parent_numbers ? inner[_i].parent_numbers : "");
	files.descriptors = 1000;
	files.status = status;
	files.stat = STAT("4711", "77", "500");
	files.parent_status = inner[_i].parent_numbers ? parent_status : NULL;
	record = fill();
	ck_assert_int_eq(record.ns_pid, inner[_i].pid);
	ck_assert_int_eq(record.ns_tid, inner[_i].tid);
	ck_assert_int_eq(record.ns_ppid, inner[_i].ppid);
}
END_TEST

START_TEST(host_name_of_a_namespace_that_cannot_be_entered_is_unknown)
{
	struct rti_trace_record record;
	struct utsname host;

	files.descriptors = 1000;
	files.status = "Name:\tx\nTgid:\t4711\nUid:\t5\t6\t7\t8\n";
	files.namespace_link = "uts:[4026531838]";
	files.uts_link = _i ? "uts:[4026532000]" : "uts:[4026531838]";
	record = fill();
	ck_assert_int_eq(uname(&host), 0);
	host.nodename[15] = '\0';
	ck_assert_str_eq(record.host_name, _i ? "" : host.nodename);
}
END_TEST

/* E.g.: the thread made its namespace in a user namespace that the tracer is in, and that of the
 * tracer is from outside. */
START_TEST(tracer_enters_no_namespace_that_it_could_not_leave)
{
	struct rti_trace_record record;

	files.descriptors = 1000;
	files.status = "Name:\tx\nTgid:\t4711\nUid:\t5\t6\t7\t8\n";
	files.namespace_link = "uts:[4026531838]";
	files.uts_link = "uts:[4026532000]";
	files.uts = "";
	entered.may_enter_own = _i;
	record = fill();
	ck_assert(!entered.is_in_other);
	ck_assert_uint_eq(entered.entries, (unsigned)_i);
	ck_assert_uint_eq(strlen(record.host_name) > 0, (unsigned)_i);
}
END_TEST

START_TEST(tracer_of_a_process_is_in_its_status)
{
	files.status = "Name:\tx\nTgid:\t4711\nTracerPid:\t77\n";
	ck_assert_int_eq(rtt_identity_tracer_of(TID), 77);
	files.status = "Name:\tx\n";
	ck_assert_int_eq(rtt_identity_tracer_of(TID), 0);
	files.status = NULL;
	ck_assert_int_eq(rtt_identity_tracer_of(TID), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("identity_files");
	TCase *tests = suite_case(suite, "files");

	tcase_add_loop_test(tests, cgroup_is_the_directory_that_proc_names_below_v2, 0,
	                    sizeof(cgroups) / sizeof(cgroups[0]));
	tcase_add_test(tests, cgroup_with_a_name_as_long_as_the_text_has_no_number);
	tcase_add_loop_test(tests, identity_is_what_could_be_read, 0,
	                    sizeof(identities) / sizeof(identities[0]));
	tcase_add_loop_test(tests, thread_has_what_its_stat_says, 0, 2);
	tcase_add_loop_test(tests, process_and_parent_have_the_starts_in_their_stat, 0, 2);
	tcase_add_loop_test(tests, numbers_in_its_own_pid_namespace_are_the_last_ones, 0,
	                    sizeof(inner) / sizeof(inner[0]));
	tcase_add_loop_test(tests, host_name_of_a_namespace_that_cannot_be_entered_is_unknown, 0,
	                    2);
	tcase_add_loop_test(tests, tracer_enters_no_namespace_that_it_could_not_leave, 0, 2);
	tcase_add_test(tests, tracer_of_a_process_is_in_its_status);
	return suite_run(suite);
}
