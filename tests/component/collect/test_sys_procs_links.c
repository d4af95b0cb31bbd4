/* SPDX-License-Identifier: MIT */
/* The collector of the process count where the kernel counts the processes as links of /proc: a
 * scripted /proc, the running system, and places where the links count something else. */
#include "collect/collector.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "fixture.h"
#include "sampler.h"
#include "suite.h"

extern const struct rti_sys_collector rti_sys_procs;

#define FIRST_PID_NAMESPACE "pid:[4026531836]"
#define SECOND_NS UINT64_C(1000000000)
#define MINUTE_NS (60 * SECOND_NS)

/* A /proc that says what the test wants. Its own directories stand first, as the kernel's do. */
static struct {
	unsigned own, processes; /* directories */
	int32_t first_pid;
	int64_t links_more; /* than own directories and processes */
	int64_t links_step; /* added after each look at the links */
	const char *pid_namespace;
	unsigned listed, looks; /* lists of names that ended, and looks at the links */
	unsigned refusals;      /* how many of the next lists cannot be opened */
	bool is_list_read;
	uint64_t now_ns;
} proc;

static size_t add_entry(char *out, const char *name)
{
	struct dirent64 *entry = (void *)out;
	size_t len = (sizeof(*entry) - sizeof(entry->d_name) + strlen(name) + 8) & ~(size_t)7;

	memset(entry, 0, len);
	entry->d_reclen = (unsigned short)len;
	entry->d_type = DT_DIR;
	memcpy(entry->d_name, name, strlen(name) + 1);
	return len;
}

static int scripted_open(int dirfd, const char *path, int flags)
{
	if (strcmp(path, ".") == 0 && proc.refusals > 0) {
		proc.refusals--;
		return -EMFILE;
	}
	if (strcmp(path, ".") == 0)
		proc.is_list_read = false;
	return rti_procfs_linux.open(dirfd, path, flags);
}

static ssize_t scripted_getdents(int fd, void *buf, size_t len)
{
	char name[16], *out = buf;

	(void)fd;
	ck_assert_uint_ge(len, 2048);
	if (proc.is_list_read)
		return 0;
	proc.is_list_read = true;
	proc.listed++;
	out += add_entry(out, ".");
	out += add_entry(out, "..");
	for (unsigned i = 0; i < proc.own; i++) {
		snprintf(name, sizeof(name), "own%u", i);
		out += add_entry(out, name);
	}
	for (unsigned i = 0; i < proc.processes; i++) {
		snprintf(name, sizeof(name), "%u", (unsigned)proc.first_pid + i);
		out += add_entry(out, name);
	}
	return out - (char *)buf;
}

static ssize_t scripted_readlink(int dirfd, const char *path, char *buf, size_t len)
{
	(void)dirfd;
	ck_assert_str_eq(path, "self/ns/pid");
	ck_assert_uint_gt(len, strlen(proc.pid_namespace));
	memcpy(buf, proc.pid_namespace, strlen(proc.pid_namespace));
	return (ssize_t)strlen(proc.pid_namespace);
}

static int64_t scripted_links(int fd)
{
	int64_t links = 2 + proc.own + proc.processes + proc.links_more;

	(void)fd;
	proc.looks++;
	proc.links_more += proc.links_step;
	return links;
}

static uint64_t scripted_monotonic_ns(void)
{
	return proc.now_ns;
}

static void open_scripted(struct sampler *s, struct fixture *f)
{
	static struct rti_procfs_ops ops;

	ops = rti_procfs_linux;
	ops.open = scripted_open;
	ops.open_in_root = NULL;
	ops.getdents = scripted_getdents;
	ops.readlink = scripted_readlink;
	ops.links = scripted_links;
	memset(&proc, 0, sizeof(proc));
	proc.own = 9;
	proc.processes = 5;
	proc.first_pid = 1;
	proc.pid_namespace = FIRST_PID_NAMESPACE;
	proc.now_ns = MINUTE_NS;
	fixture_new(f);
	fixture_mkdir(f, "proc/self");
	ck_assert_int_eq(sampler_open_with(s, &rti_sys_procs, f->root, &ops, 0), 0);
	s->platform.monotonic_ns = scripted_monotonic_ns;
}

static void close_scripted(struct sampler *s, struct fixture *f)
{
	sampler_close(s);
	fixture_free(f);
}

/* Returns how many lists of names the sample took. */
static unsigned take_count(struct sampler *s, uint64_t expected)
{
	unsigned before = proc.listed;

	ck_assert_int_eq(sampler_take(s), 0);
	ck_assert_uint_eq(s->out.valid, RT_HAS_PROCESSES);
	ck_assert_uint_eq(s->out.processes, expected);
	return proc.listed - before;
}

START_TEST(names_are_listed_once_if_the_links_agree)
{
	struct fixture f;
	struct sampler s;

	open_scripted(&s, &f);
	ck_assert_uint_eq(take_count(&s, 5), 1);
	proc.processes = 7;
	ck_assert_uint_eq(take_count(&s, 7), 0);
	proc.processes = 3;
	ck_assert_uint_eq(take_count(&s, 3), 0);

	close_scripted(&s, &f);
}
END_TEST

START_TEST(new_directory_of_a_module_is_no_process)
{
	struct fixture f;
	struct sampler s;

	open_scripted(&s, &f);
	take_count(&s, 5);
	proc.own++;
	proc.now_ns += SECOND_NS;
	ck_assert_uint_eq(take_count(&s, 5), 1);
	proc.now_ns += SECOND_NS - 1;
	ck_assert_uint_eq(take_count(&s, 5), 0);

	close_scripted(&s, &f);
}
END_TEST

START_TEST(links_that_do_not_agree_are_not_used)
{
	struct fixture f;
	struct sampler s;
	unsigned looks;

	open_scripted(&s, &f);
	proc.links_more = 1;
	for (int i = 0; i < 10; i++)
		ck_assert_uint_eq(take_count(&s, 5), 1);
	looks = proc.looks;
	take_count(&s, 5);
	ck_assert_uint_eq(proc.looks, looks);

	close_scripted(&s, &f);
}
END_TEST

START_TEST(links_that_disagree_later_are_given_up)
{
	struct fixture f;
	struct sampler s;

	open_scripted(&s, &f);
	take_count(&s, 5);
	proc.links_more = 3;
	proc.now_ns += MINUTE_NS;
	for (int i = 0; i < 5; i++)
		ck_assert_uint_eq(take_count(&s, 5), 1);

	close_scripted(&s, &f);
}
END_TEST

/* E.g.: a process has started and another has exited between two equal looks. */
START_TEST(links_that_disagree_a_few_times_are_compared_again)
{
	struct fixture f;
	struct sampler s;

	open_scripted(&s, &f);
	proc.links_more = 1;
	for (int i = 0; i < 9; i++)
		ck_assert_uint_eq(take_count(&s, 5), 1);
	proc.links_more = 0;
	ck_assert_uint_eq(take_count(&s, 5), 1);
	ck_assert_uint_eq(take_count(&s, 5), 0);

	close_scripted(&s, &f);
}
END_TEST

/* The links before are less than the names, and those after are more. */
START_TEST(links_that_move_around_the_names_agree)
{
	struct fixture f;
	struct sampler s;

	open_scripted(&s, &f);
	proc.links_more = -1;
	proc.links_step = 2;
	ck_assert_uint_eq(take_count(&s, 5), 1);
	proc.links_more = proc.links_step = 0;
	ck_assert_uint_eq(take_count(&s, 5), 0);

	close_scripted(&s, &f);
}
END_TEST

/* The links move past the names in each sample, which proves nothing. */
START_TEST(links_that_move_apart_are_compared_again)
{
	struct fixture f;
	struct sampler s;

	open_scripted(&s, &f);
	for (int i = 0; i < 10; i++) {
		proc.links_more = 1;
		proc.links_step = 1;
		ck_assert_uint_eq(take_count(&s, 5), 1);
	}
	proc.links_more = proc.links_step = 0;
	ck_assert_uint_eq(take_count(&s, 5), 1);
	ck_assert_uint_eq(take_count(&s, 5), 0);

	close_scripted(&s, &f);
}
END_TEST

/* Processes start, or exit, between the two looks at the links. There are 5 names. */
static const struct {
	int before, after;
	bool agrees;
} moves[] = {
	{ 5, 5, true },  { 4, 6, true },  { 5, 6, true },  { 4, 5, true },
	{ 6, 7, false }, { 3, 4, false }, { 6, 4, true },  { 5, 4, true },
	{ 6, 5, true },  { 7, 6, false }, { 4, 3, false }, { 0, 0, false },
};

START_TEST(links_agree_if_the_names_lie_between_two_looks)
{
	struct fixture f;
	struct sampler s;

	open_scripted(&s, &f);
	proc.links_more = moves[_i].before - 5;
	proc.links_step = moves[_i].after - moves[_i].before;
	ck_assert_uint_eq(take_count(&s, 5), 1);
	proc.links_more = proc.links_step = 0;
	ck_assert_uint_eq(take_count(&s, 5), moves[_i].agrees ? 0 : 1);

	close_scripted(&s, &f);
}
END_TEST

/* A file system that has no links to count has 0. */
START_TEST(links_that_are_none_after_the_names_are_not_used)
{
	struct fixture f;
	struct sampler s;
	unsigned looks;

	open_scripted(&s, &f);
	proc.links_step = -(int64_t)(2 + proc.own + proc.processes);
	ck_assert_uint_eq(take_count(&s, 5), 1);
	looks = proc.looks;
	proc.links_more = proc.links_step = 0;
	ck_assert_uint_eq(take_count(&s, 5), 1);
	ck_assert_uint_eq(proc.looks, looks);

	close_scripted(&s, &f);
}
END_TEST

/* The list of its own directories fails, or they are more than all links. */
START_TEST(links_without_a_count_of_their_own_give_way_to_the_names)
{
	struct fixture f;
	struct sampler s;

	open_scripted(&s, &f);
	take_count(&s, 5);
	proc.now_ns += SECOND_NS;
	proc.refusals = 1;
	ck_assert_uint_eq(take_count(&s, 5), 1);
	ck_assert_uint_eq(take_count(&s, 5), 0);
	proc.links_more = -5;
	ck_assert_uint_eq(take_count(&s, 5), 1);
	proc.links_more = 0;
	proc.refusals = 1;
	ck_assert_int_eq(sampler_take(&s), -EMFILE);
	ck_assert_uint_eq(s.out.valid | s.out.partial, 0);
	ck_assert_uint_eq(take_count(&s, 5), 1);

	close_scripted(&s, &f);
}
END_TEST

START_TEST(links_in_another_pid_namespace_are_not_used)
{
	struct fixture f;
	struct sampler s;

	open_scripted(&s, &f);
	proc.pid_namespace = "pid:[4026532001]";
	for (int i = 0; i < 5; i++)
		ck_assert_uint_eq(take_count(&s, 5), 1);

	close_scripted(&s, &f);
}
END_TEST

START_TEST(links_without_process_1_in_the_names_are_not_used)
{
	struct fixture f;
	struct sampler s;

	open_scripted(&s, &f);
	proc.first_pid = 2;
	for (int i = 0; i < 5; i++) {
		ck_assert_int_eq(sampler_take(&s), -EACCES);
		ck_assert_uint_eq(s.out.valid, 0);
		ck_assert_uint_eq(s.out.partial, RT_HAS_PROCESSES);
		ck_assert_uint_eq(s.out.processes, 5);
	}

	close_scripted(&s, &f);
}
END_TEST

/* Process 1 of a container may be of the caller's user, and so not be hidden. */
START_TEST(names_in_a_pid_namespace_with_hidepid_are_a_lower_bound)
{
	static const char *const options[] = { "proc proc rw,gid=7,hidepid=2",
		                               "proc proc rw,hidepid=ptraceable",
		                               "proc proc rw,hidepid=1",
		                               "tmpfs proc rw,hidepid=2" };
	struct fixture f;
	struct sampler s;

	open_scripted(&s, &f);
	proc.pid_namespace = "pid:[4026532001]";
	for (int i = 0; i < 4; i++) {
		int err = i < 2 ? -EACCES : 0;

		fixture_printf(&f, "proc/self/mountinfo",
		               "1 0 8:1 / / rw - ext4 /dev/sda rw\n"
		               "2 1 0:5 / %s/proc rw - %s\n",
		               f.root, options[i]);
		proc.now_ns += MINUTE_NS;
		for (int again = 0; again < 2; again++) {
			ck_assert_int_eq(sampler_take(&s), err);
			ck_assert_uint_eq(s.out.valid, err ? 0 : RT_HAS_PROCESSES);
			ck_assert_uint_eq(s.out.partial, err ? RT_HAS_PROCESSES : 0);
			ck_assert_uint_eq(s.out.processes, 5);
		}
	}

	close_scripted(&s, &f);
}
END_TEST

static unsigned listed_live;

static ssize_t count_getdents(int fd, void *buf, size_t len)
{
	listed_live++;
	return rti_procfs_linux.getdents(fd, buf, len);
}

static uint64_t count_with_opendir(void)
{
	DIR *dir = opendir("/proc");
	uint64_t count = 0;

	ck_assert_ptr_nonnull(dir);
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
		count += atoi(entry->d_name) > 0;
	closedir(dir);
	return count;
}

static bool is_first_pid_namespace(void)
{
	char name[64] = "";

	return readlink("/proc/self/ns/pid", name, sizeof(name) - 1) > 0 &&
	       strcmp(name, FIRST_PID_NAMESPACE) == 0;
}

/* Take samples until one lists no names. Returns false if none does. */
static bool take_until_by_links(struct sampler *s)
{
	for (int i = 0; i < 1000; i++) {
		unsigned before = listed_live;

		ck_assert_int_eq(sampler_take(s), 0);
		if (listed_live == before)
			return true;
	}
	return false;
}

/* Other processes start and exit too. So one of many samples is exact: the names are counted before
 * and after it, and are as many. */
START_TEST(live_links_are_as_many_as_the_names)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct sampler s;
	unsigned checked = 0;

	if (!is_first_pid_namespace() || access("/proc/1", F_OK) < 0) {
		suite_skip_test("the links of /proc are not its processes here");
		return;
	}
	ops.getdents = count_getdents;
	ck_assert_int_eq(sampler_open_with(&s, &rti_sys_procs, NULL, &ops, 0), 0);
	ck_assert(take_until_by_links(&s));
	for (int i = 0; i < 20000 && checked < 20; i++) {
		uint64_t before = count_with_opendir(), after;

		ck_assert_int_eq(sampler_take(&s), 0);
		after = count_with_opendir();
		if (before != after)
			continue;
		checked += s.out.processes == before;
	}
	ck_assert_uint_eq(checked, 20);
	sampler_close(&s);
}
END_TEST

/* Runs in a child. Returns its exit status: 0, or what was wrong. 77: not possible here. */
static int sample_under_hidepid(void)
{
	uint64_t all = count_with_opendir();
	struct sampler s;
	int err;

	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, "hidepid=2") < 0 || setgroups(0, NULL) < 0 ||
	    setgid(65534) < 0 || setuid(65534) < 0)
		return 77;
	sampler_open(&s, &rti_sys_procs, NULL);
	err = sampler_take(&s);
	if (err == 0 && access("/proc/1", F_OK) == 0)
		return 77; /* the mount is an old one, with its old options */
	return err != -EACCES                         ? 1
	       : s.out.valid & RT_HAS_PROCESSES       ? 2
	       : !(s.out.partial & RT_HAS_PROCESSES)  ? 3
	       : s.out.processes == 0                 ? 4
	       : all > 5 && s.out.processes + 5 > all ? 5
	                                              : 0;
}

/* Runs in a child. Its own child is process 1 of a new pid namespace. */
static int sample_in_pid_namespace(void)
{
	struct sampler s;
	int status;
	pid_t init;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0 ||
	    mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0)
		return 77;
	init = fork();
	if (init == 0) {
		if (mount("proc", "/proc", "proc", 0, NULL) < 0)
			_exit(77);
		sampler_open(&s, &rti_sys_procs, NULL);
		for (int i = 0; i < 5; i++)
			if (sampler_take(&s) != 0 || s.out.processes != 1)
				_exit(1);
		_exit(0);
	}
	return init > 0 && waitpid(init, &status, 0) == init && WIFEXITED(status)
	           ? WEXITSTATUS(status)
	           : 6;
}

static void check_in_child(int (*sample)(void), const char *why_not)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(sample());
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		suite_skip_test(why_not);
	else
		ck_assert_int_eq(WEXITSTATUS(status), 0);
}

START_TEST(live_count_under_hidepid_is_a_lower_bound)
{
	check_in_child(sample_under_hidepid, "proc cannot be mounted with hidepid here");
}
END_TEST

START_TEST(live_count_in_a_pid_namespace_is_of_that_alone)
{
	check_in_child(sample_in_pid_namespace, "a pid namespace cannot be made here");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_procs_links");
	TCase *scripted = suite_case(suite, "scripted"), *live = suite_case(suite, "live");

	tcase_add_test(scripted, names_are_listed_once_if_the_links_agree);
	tcase_add_test(scripted, new_directory_of_a_module_is_no_process);
	tcase_add_test(scripted, links_that_do_not_agree_are_not_used);
	tcase_add_test(scripted, links_that_disagree_later_are_given_up);
	tcase_add_test(scripted, links_that_disagree_a_few_times_are_compared_again);
	tcase_add_test(scripted, links_that_move_around_the_names_agree);
	tcase_add_test(scripted, links_that_move_apart_are_compared_again);
	tcase_add_loop_test(scripted, links_agree_if_the_names_lie_between_two_looks, 0,
	                    sizeof(moves) / sizeof(moves[0]));
	tcase_add_test(scripted, links_that_are_none_after_the_names_are_not_used);
	tcase_add_test(scripted, links_without_a_count_of_their_own_give_way_to_the_names);
	tcase_add_test(scripted, links_in_another_pid_namespace_are_not_used);
	tcase_add_test(scripted, links_without_process_1_in_the_names_are_not_used);
	tcase_add_test(scripted, names_in_a_pid_namespace_with_hidepid_are_a_lower_bound);
	tcase_add_test(live, live_links_are_as_many_as_the_names);
	tcase_add_test(live, live_count_under_hidepid_is_a_lower_bound);
	tcase_add_test(live, live_count_in_a_pid_namespace_is_of_that_alone);
	return suite_run(suite);
}
