/* SPDX-License-Identifier: MIT */
/* The plug-in's part that watches a tree, on programs and maps of the test's own: what it takes
 * from them, and what it makes of numbers of the system that it cannot read. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/fake_programs.h"
#include "suite.h"
#include "watch.skel.h"

#define PID_MAX_FILE "/proc/sys/kernel/pid_max"
#define CPUS_FILE "/sys/devices/system/cpu/possible"
#define GROUPS_MAX (4194304u / RTI_WATCH_GROUP)
#define OFFSET_NS 1000u
#define ROOM (3 * RTI_WATCH_GROUP)

extern const struct rti_watch_ops rti_bpf_watch;

static struct {
	const char *pid_max, *cpus; /* texts of the two files; NULL: there is none */
	bool lacks_memory;          /* of the programs */
	int load_error;
	struct rti_watch_bpf programs;
	struct rti_watch_shared shared; /* the programs begin with it */
	struct rti_watch_settings settings;
	struct rti_watch_group *groups;
	uint64_t *summary;
	int attaches, destroys;
} fake;

/* The linker calls this instead of the function in its name. */
FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	const char *text = strcmp(path, PID_MAX_FILE) == 0 ? fake.pid_max
	                   : strcmp(path, CPUS_FILE) == 0  ? fake.cpus
	                                                   : NULL;

	if (strcmp(path, PID_MAX_FILE) != 0 && strcmp(path, CPUS_FILE) != 0)
		return __real_fopen64(path, mode);
	if (!text)
		return NULL;
	if (!*text)
		return __real_fopen64("/dev/null", mode);
	return fmemopen((void *)text, strlen(text), "r");
}

static void *map(struct skeleton_map *map, size_t row_bytes)
{
	size_t bytes = (map->max_entries * row_bytes + 4095) / 4096 * 4096;
	void *at;

	map->map_fd = fake_map(bytes);
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map->map_fd, 0);
	ck_assert_ptr_ne(at, MAP_FAILED);
	return at;
}

struct rti_watch_bpf *rti_watch_bpf__open(void)
{
	fake.programs.rodata = (void *)&fake.settings;
	return &fake.programs;
}

int rti_watch_bpf__load(struct rti_watch_bpf *programs)
{
	ck_assert_ptr_eq(programs, &fake.programs);
	fake.groups = map(&programs->maps.groups, sizeof(struct rti_watch_group));
	fake.summary = map(&programs->maps.summary, sizeof(uint64_t));
	programs->bss = fake.lacks_memory ? NULL : (void *)&fake.shared;
	return fake.load_error;
}

void rti_watch_bpf__destroy(struct rti_watch_bpf *programs)
{
	fake.destroys += programs != NULL;
}

static int attach(const struct rti_watch_bpf *programs)
{
	ck_assert_ptr_eq(programs, &fake.programs);
	return ++fake.attaches;
}

int rti_watch_bpf__on_switch__attach(struct rti_watch_bpf *programs)
{
	return attach(programs);
}

int rti_watch_bpf__on_reclaim__attach(struct rti_watch_bpf *programs)
{
	return attach(programs);
}

int rti_watch_bpf__on_exit__attach(struct rti_watch_bpf *programs)
{
	return attach(programs);
}

int rti_watch_bpf__on_new_thread__attach(struct rti_watch_bpf *programs)
{
	return attach(programs);
}

int rti_watch_bpf__on_fork__attach(struct rti_watch_bpf *programs)
{
	return attach(programs);
}

int rti_watch_bpf__search__attach(struct rti_watch_bpf *programs)
{
	return attach(programs);
}

static void *open_watch(void)
{
	void *watch;

	ck_assert_int_eq(rti_bpf_watch.open(&watch), 0);
	return watch;
}

static void set_up(void)
{
	fake.pid_max = "32768\n";
	fake.cpus = "0-3\n";
	fake.shared.began_ns = OFFSET_NS;
}

static const struct {
	const char *pid_max, *cpus;
	uint32_t groups, cpu_count;
} systems[] = {
	{ "32768\n", "0-15\n", 32768 / RTI_WATCH_GROUP, 16 },
	{ "32769\n", "0\n", 32768 / RTI_WATCH_GROUP + 1, 1 },
	{ "4194304\n", "0-3,8-11\n", GROUPS_MAX, 12 },
	{ "32768\n", "0-8192\n", 32768 / RTI_WATCH_GROUP, 8192 },
	/* What is not known is the most that there may be. */
	{ "4194305\n", "0-3\n", GROUPS_MAX, 4 },
	{ "0\n", "0-3\n", GROUPS_MAX, 4 },
	{ "", "", GROUPS_MAX, 8192 },
	{ "many\n", "all\n", GROUPS_MAX, 8192 },
	{ NULL, NULL, GROUPS_MAX, 8192 },
};

START_TEST(watch_has_room_for_all_pids_and_cpus_that_there_may_be)
{
	void *watch;

	fake.pid_max = systems[_i].pid_max;
	fake.cpus = systems[_i].cpus;
	watch = open_watch();
	ck_assert_uint_eq(fake.programs.maps.groups.max_entries, systems[_i].groups);
	ck_assert_uint_eq(fake.programs.maps.summary.max_entries,
	                  (systems[_i].groups + RTI_WATCH_GROUP - 1) / RTI_WATCH_GROUP);
	ck_assert_uint_eq(fake.programs.maps.cpus.max_entries, systems[_i].cpu_count);
	ck_assert_uint_eq(fake.settings.cpus, systems[_i].cpu_count);
	rti_bpf_watch.close(watch);
}
END_TEST

START_TEST(watch_without_programs_leaves_nothing)
{
	void *watch = NULL;

	fake.lacks_memory = _i == 0;
	fake.load_error = _i == 0 ? 0 : -EINVAL;
	ck_assert_int_eq(rti_bpf_watch.open(&watch), _i == 0 ? -ENOMEM : -EINVAL);
	ck_assert_ptr_null(watch);
	ck_assert_int_eq(fake.destroys, 1);
	ck_assert_int_eq(fake.attaches, 0);
}
END_TEST

/* A process has changed: it is noted in its group, and the group in the summary. */
static void note(int32_t pid, bool is_forked)
{
	uint32_t group = (uint32_t)pid / RTI_WATCH_GROUP;

	fake.groups[group].changed |= UINT64_C(1) << ((uint32_t)pid % RTI_WATCH_GROUP);
	if (is_forked)
		fake.groups[group].forked |= UINT64_C(1) << ((uint32_t)pid % RTI_WATCH_GROUP);
	fake.summary[group / RTI_WATCH_GROUP] |= UINT64_C(1) << (group % RTI_WATCH_GROUP);
}

/* Take until there is no more. Returns how many calls that took. */
static int take_all(void *watch, unsigned seen[], unsigned forked[])
{
	struct rti_watch_change changes[ROOM];
	bool has_more = true;
	int calls = 0;

	while (has_more) {
		int count = rti_bpf_watch.take(watch, changes, ROOM, &has_more);

		ck_assert_int_ge(count, 0);
		ck_assert_int_le(count, (int)ROOM);
		for (int i = 0; i < count; i++) {
			seen[changes[i].pid]++;
			forked[changes[i].pid] += changes[i].is_forked;
			ck_assert_uint_eq(changes[i].is_running, changes[i].pid == 5);
		}
		ck_assert_int_lt(++calls, 100);
	}
	return calls;
}

static bool is_noted(int32_t pid)
{
	return (pid >= 100 && pid < 300) || (pid >= 5000 && pid < 5300) || pid == 32767;
}

/* One that runs may come with each call. */
START_TEST(changes_that_do_not_fit_come_with_the_next_calls_each_once)
{
	static unsigned seen[32768], forked[32768];
	void *watch = open_watch();

	for (int32_t pid = 0; pid < 32768; pid++)
		if (is_noted(pid))
			note(pid, pid % 3 == 0);
	fake.shared.running[fake.shared.running_count++] = 5;
	ck_assert_int_gt(take_all(watch, seen, forked), 2);
	ck_assert_uint_ge(seen[5], 1);
	for (int32_t pid = 6; pid < 32768; pid++) {
		ck_assert_uint_eq(seen[pid], is_noted(pid));
		ck_assert_uint_eq(forked[pid], is_noted(pid) && pid % 3 == 0);
	}
	memset(seen, 0, sizeof(seen));
	ck_assert_int_eq(take_all(watch, seen, forked), 1);
	ck_assert_uint_eq(seen[5], 1); /* it still runs */
	ck_assert_uint_eq(seen[100], 0);
	rti_bpf_watch.close(watch);
}
END_TEST

/* What runs on more CPUs than there is room for comes as a change once it leaves its CPU. */
START_TEST(running_processes_leave_room_for_a_group)
{
	static struct rti_watch_change changes[2 * RTI_WATCH_GROUP];
	bool has_more;
	void *watch;

	fake.cpus = "0-99\n";
	watch = open_watch();
	for (uint32_t i = 0; i < 100; i++)
		fake.shared.running[i] = i + 1;
	fake.shared.running_count = 100;
	for (int32_t pid = 1000; pid < 1000 + (int32_t)RTI_WATCH_GROUP; pid++)
		note(pid, false);
	ck_assert_int_eq(rti_bpf_watch.take(watch, changes, 2 * RTI_WATCH_GROUP, &has_more),
	                 RTI_WATCH_GROUP + 1024 - 1000);
	ck_assert(has_more);
	ck_assert_int_eq(changes[RTI_WATCH_GROUP - 1].pid, RTI_WATCH_GROUP);
	ck_assert_int_eq(changes[RTI_WATCH_GROUP].pid, 1000);
	rti_bpf_watch.close(watch);
}
END_TEST

/* What runs is not known then. What is noted stays. */
START_TEST(take_that_cannot_list_what_runs_has_its_error)
{
	static unsigned seen[32768], forked[32768];
	struct rti_watch_change changes[ROOM];
	void *watch = open_watch();
	bool has_more;

	note(70, false);
	fake_programs.run_error = -ENOMEM;
	ck_assert_int_eq(rti_bpf_watch.take(watch, changes, ROOM, &has_more), -ENOMEM);
	fake_programs.run_error = 0;
	take_all(watch, seen, forked);
	ck_assert_uint_eq(seen[70], 1);
	rti_bpf_watch.close(watch);
}
END_TEST

static void find(int link_fd)
{
	(void)link_fd;
	fake.shared.found = 3;
	for (uint32_t i = 0; i < fake.programs.maps.groups.max_entries; i++)
		fake.groups[i].marked = fake.groups[i].wanted;
}

START_TEST(search_marks_what_is_wanted_and_no_other)
{
	void *watch = open_watch();

	fake_programs.on_iterate = find;
	rti_bpf_watch.want(watch, 70);
	rti_bpf_watch.want(watch, INT32_MAX); /* above all pids */
	ck_assert_int_eq(rti_bpf_watch.search(watch, 5000), 3);
	ck_assert_uint_eq(fake.shared.before_ns, 5000 + OFFSET_NS);
	ck_assert(rti_bpf_watch.is_marked(watch, 70));
	ck_assert(!rti_bpf_watch.is_marked(watch, 71));
	ck_assert(!rti_bpf_watch.is_marked(watch, INT32_MAX));
	rti_bpf_watch.want(watch, 71);
	ck_assert_int_eq(rti_bpf_watch.search(watch, 5000), 3);
	ck_assert(!rti_bpf_watch.is_marked(watch, 70));
	ck_assert(rti_bpf_watch.is_marked(watch, 71));
	rti_bpf_watch.close(watch);
}
END_TEST

static void find_too_many(int link_fd)
{
	(void)link_fd;
	fake.shared.found = UINT64_C(1) << 40;
}

START_TEST(search_that_fails_has_its_error_and_one_that_finds_many_no_other)
{
	void *watch = open_watch();

	fake_programs.on_iterate = find_too_many;
	ck_assert_int_eq(rti_bpf_watch.search(watch, 0), INT32_MAX);
	fake_programs.iterate_error = -EMFILE;
	ck_assert_int_eq(rti_bpf_watch.search(watch, 0), -EMFILE);
	rti_bpf_watch.close(watch);
}
END_TEST

/* Returns the number of the first expectation that does not hold, or 0. */
static int use_copy(void *watch)
{
	struct rti_watch_change changes[ROOM];
	bool has_more = true;

	rti_bpf_watch.want(watch, 70);
	if (rti_bpf_watch.search(watch, 0) != -ESTALE)
		return 1;
	if (rti_bpf_watch.take(watch, changes, ROOM, &has_more) != -ESTALE || has_more)
		return 2;
	rti_bpf_watch.close(watch);
	return 0;
}

START_TEST(forked_child_changes_nothing_of_what_it_shares)
{
	void *watch = open_watch();

	note(70, true);
	ck_assert_int_eq(fake_programs_use_in_child(use_copy, watch), 0);
	ck_assert_uint_eq(fake.groups[1].wanted, 0);
	ck_assert_uint_eq(fake.groups[1].changed, 1u << (70 - RTI_WATCH_GROUP));
	rti_bpf_watch.close(watch);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("watch_plugin");
	TCase *tests = suite_case(suite, "watch");

	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_loop_test(tests, watch_has_room_for_all_pids_and_cpus_that_there_may_be, 0,
	                    sizeof(systems) / sizeof(systems[0]));
	tcase_add_loop_test(tests, watch_without_programs_leaves_nothing, 0, 2);
	tcase_add_test(tests, changes_that_do_not_fit_come_with_the_next_calls_each_once);
	tcase_add_test(tests, running_processes_leave_room_for_a_group);
	tcase_add_test(tests, take_that_cannot_list_what_runs_has_its_error);
	tcase_add_test(tests, search_marks_what_is_wanted_and_no_other);
	tcase_add_test(tests, search_that_fails_has_its_error_and_one_that_finds_many_no_other);
	tcase_add_test(tests, forked_child_changes_nothing_of_what_it_shares);
	return suite_run(suite);
}
