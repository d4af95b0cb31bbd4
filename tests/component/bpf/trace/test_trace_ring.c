/* SPDX-License-Identifier: MIT */
/* The plug-in's part that traces calls, on programs and a ring of the test's own: the numbers that
 * it translates, how long it searches a tree, and when a trace is over. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/fake_programs.h"
#include "bpf/trace/trace_load.h"
#include "suite.h"
#include "trace.skel.h"

#define RING_BYTES 65536u
#define OFFSET_NS 1000u /* what the kernel's clocks are ahead of ours */
#define OVERFLOW_UID 65534u
#define SEED 77
#define ROOM 4

extern const struct rti_trace_ops rti_bpf_trace;

static struct {
	bool lacks_memory; /* of the programs */
	struct rti_trace_bpf programs;
	struct rti_trace_shared shared; /* the programs begin with it */
	struct rti_trace_settings settings;
	char *ring;
	size_t written;
	unsigned finds; /* searches that find a thread */
	int attaches, destroys;
} fake;

struct rti_trace_bpf *rti_trace_bpf__open(void)
{
	fake.programs.rodata = (void *)&fake.settings;
	return &fake.programs;
}

/* A ring has a page for each of its two positions. */
int rti_trace_bpf__load(struct rti_trace_bpf *programs)
{
	size_t bytes = 2 * (size_t)sysconf(_SC_PAGESIZE) + 2 * RING_BYTES;

	programs->links.seed_fd = SEED;
	programs->maps.ring.map_fd = fake_map(bytes);
	fake.ring =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, programs->maps.ring.map_fd, 0);
	ck_assert_ptr_ne(fake.ring, MAP_FAILED);
	programs->bss = fake.lacks_memory ? NULL : (void *)&fake.shared;
	return 0;
}

void rti_trace_bpf__destroy(struct rti_trace_bpf *programs)
{
	fake.destroys += programs != NULL;
}

static int attach(const struct rti_trace_bpf *programs)
{
	ck_assert_ptr_eq(programs, &fake.programs);
	return ++fake.attaches;
}

int rti_trace_bpf__on_exit__attach(struct rti_trace_bpf *programs)
{
	return attach(programs);
}

int rti_trace_bpf__on_fork__attach(struct rti_trace_bpf *programs)
{
	return attach(programs);
}

int rti_trace_bpf__on_exec__attach(struct rti_trace_bpf *programs)
{
	return attach(programs);
}

int rti_trace_bpf__on_entry__attach(struct rti_trace_bpf *programs)
{
	return attach(programs);
}

int rti_trace_bpf__on_return__attach(struct rti_trace_bpf *programs)
{
	return attach(programs);
}

int rti_trace_bpf__seed__attach(struct rti_trace_bpf *programs)
{
	return attach(programs);
}

static int attach_raw(void *skeleton, bool is_tree)
{
	(void)is_tree;
	return attach(skeleton) < 0 ? -1 : 0;
}

static void unload(void *skeleton)
{
	rti_trace_bpf__destroy(skeleton);
}

/* Raw tracepoints cannot search a tree. */
int rti_trace_load_raw(struct rti_trace_programs *out, const struct rti_trace_settings *settings,
                       uint32_t ring_bytes)
{
	struct rti_trace_bpf *programs = rti_trace_bpf__open();

	ck_assert_uint_eq(ring_bytes, RING_BYTES);
	fake.settings = *settings;
	rti_trace_bpf__load(programs);
	*out = (struct rti_trace_programs){ .skeleton = programs,
		                            .shared = &fake.shared,
		                            .ring = programs->maps.ring.map_fd,
		                            .attach = attach_raw,
		                            .unload = unload };
	return 0;
}

static void search(int link_fd)
{
	ck_assert_int_eq(link_fd, SEED);
	ck_assert_uint_eq(fake.shared.is_seeding, 1);
	if (fake.finds > 0) {
		fake.finds--;
		fake.shared.found = 1;
		fake.shared.threads = 1;
	}
}

static void set_up(void)
{
	fake.shared.began_ns = fake.shared.began_monotonic_ns = OFFSET_NS;
	fake_programs.on_iterate = search;
}

static void *open_trace(uint32_t kind, bool is_raw)
{
	const struct rti_trace_target target = { .kind = kind,
		                                 .pid = kind == RTI_TARGET_PID ? 4711 : 0,
		                                 .calls = RTI_TRACE_GETRUSAGE,
		                                 .ring_bytes = RING_BYTES,
		                                 .is_raw = is_raw };
	void *trace;

	ck_assert_int_eq(rti_bpf_trace.open(&trace, &target), 0);
	return trace;
}

START_TEST(programs_without_memory_to_share_leave_nothing)
{
	const struct rti_trace_target target = { .kind = RTI_TARGET_ALL, .ring_bytes = RING_BYTES };
	void *trace = NULL;

	fake.lacks_memory = true;
	ck_assert_int_eq(rti_bpf_trace.open(&trace, &target), -ENOMEM);
	ck_assert_ptr_null(trace);
	ck_assert_int_eq(fake.destroys, 1);
	ck_assert_int_eq(fake.attaches, 0);
}
END_TEST

static const struct {
	unsigned finds;
	int iterate_error, err;
	unsigned searches;
} trees[] = {
	{ 1, 0, 0, 2 },      { 5, 0, 0, 6 },
	{ 1000, 0, 0, 64 }, /* it forks for ever: what is new is marked at its fork */
	{ 0, 0, -ESRCH, 1 }, { 5, -EMFILE, -EMFILE, 1 },
};

START_TEST(tree_is_searched_until_no_thread_is_found_or_long_enough)
{
	const struct rti_trace_target target = { .kind = RTI_TARGET_PID,
		                                 .pid = 4711,
		                                 .ring_bytes = RING_BYTES };
	void *trace = NULL;

	fake.finds = trees[_i].finds;
	fake_programs.iterate_error = trees[_i].iterate_error;
	ck_assert_int_eq(rti_bpf_trace.open(&trace, &target), trees[_i].err);
	ck_assert_uint_eq(fake_programs.iterations, trees[_i].searches);
	ck_assert_uint_eq(fake.shared.is_seeding, 0);
	ck_assert(!trace == (trees[_i].err < 0));
	if (trace)
		rti_bpf_trace.close(trace);
	ck_assert_int_eq(fake.destroys, 1);
}
END_TEST

static void add_path(void *arg, uint64_t device, uint64_t inode, const char *path)
{
	(void)arg;
	ck_abort_msg("%s: %lu, %lu", path, (unsigned long)device, (unsigned long)inode);
}

static int read_ring(void *trace, struct rti_trace_record records[ROOM])
{
	return rti_bpf_trace.read(trace, records, ROOM, add_path, NULL);
}

/* Write a record as the kernel does. */
static void put(const void *record, uint32_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = fake.ring + 2 * page + fake.written;
	uint32_t header[2] = { bytes };

	memcpy(at, header, sizeof(header));
	memcpy(at + sizeof(header), record, bytes);
	fake.written += sizeof(header) + (bytes + 7) / 8 * 8;
	*(uint64_t *)(void *)(fake.ring + page) = fake.written;
}

static struct rti_trace_record read_back(const struct rti_trace_record *record)
{
	struct rti_trace_record out[ROOM];
	void *trace = open_trace(RTI_TARGET_ALL, false);

	put(record, sizeof(*record));
	ck_assert_int_eq(read_ring(trace, out), 1);
	rti_bpf_trace.close(trace);
	return out[0];
}

/* A user namespace with two ranges of user ids, as rootless containers have it. */
static const struct {
	uint32_t kernel, own;
} users[] = {
	{ 1000, 0 },           { 100000, 1 },
	{ 165534, 65535 },     { 165535, OVERFLOW_UID },
	{ 999, OVERFLOW_UID }, { 1001, OVERFLOW_UID },
	{ 0, OVERFLOW_UID },   { UINT32_MAX, OVERFLOW_UID },
};

START_TEST(user_id_is_that_of_the_namespace_of_the_reader)
{
	const struct rti_trace_record record = { .call = RTI_TRACE_GETRUSAGE,
		                                 .uid = users[_i].kernel };

	fake.shared.uid_extents = 2;
	fake.shared.uid_extent[0] = (struct rti_uid_extent){ 0, 1000, 1 };
	fake.shared.uid_extent[1] = (struct rti_uid_extent){ 1, 100000, 65535 };
	ck_assert_uint_eq(read_back(&record).uid, users[_i].own);
}
END_TEST

/* The program has no more extents than there is room for, whatever it says. */
START_TEST(user_id_of_a_namespace_with_too_many_ranges_is_unknown)
{
	const struct rti_trace_record record = { .call = RTI_TRACE_GETRUSAGE, .uid = 7 };

	fake.shared.uid_extents = UINT32_MAX;
	ck_assert_uint_eq(read_back(&record).uid, OVERFLOW_UID);
}
END_TEST

START_TEST(time_that_is_not_known_is_not_translated)
{
	const struct rti_trace_record record = { .call = RTI_TRACE_GETRUSAGE,
		                                 .entry_ns = _i ? 5000 : 0,
		                                 .return_ns = 6000,
		                                 .thread_start_ns = _i ? 0 : 7000,
		                                 .process_start_ns = _i ? 0 : 8000,
		                                 .parent_start_ns = _i ? 9000 : 0 };
	struct rti_trace_record out = read_back(&record);

	ck_assert_uint_eq(out.entry_ns, _i ? 5000 - OFFSET_NS : 0);
	ck_assert_uint_eq(out.return_ns, 6000 - OFFSET_NS);
	ck_assert_uint_eq(out.thread_start_ns, _i ? 0 : 7000 - OFFSET_NS);
	ck_assert_uint_eq(out.process_start_ns, _i ? 0 : 8000 - OFFSET_NS);
	ck_assert_uint_eq(out.parent_start_ns, _i ? 9000 - OFFSET_NS : 0);
}
END_TEST

static bool is_over(void *trace)
{
	struct rti_trace_record records[ROOM];
	struct rti_trace_state_of_ring state;

	ck_assert_int_eq(read_ring(trace, records), 0);
	rti_bpf_trace.get_state(trace, &state);
	return state.is_over;
}

/* Before the program is forked, there is no thread of it. */
START_TEST(trace_of_a_command_is_not_over_while_its_thread_is_armed)
{
	void *trace = open_trace(RTI_TARGET_COMMAND, _i);

	fake.shared.armed = 1;
	ck_assert(!is_over(trace));
	fake.shared.threads = 1;
	ck_assert_int_eq(rti_bpf_trace.arm(trace, false), 0);
	ck_assert(!is_over(trace));
	fake.shared.threads = 0;
	ck_assert(is_over(trace));
	rti_bpf_trace.close(trace);
}
END_TEST

START_TEST(trace_of_the_machine_is_never_over)
{
	void *trace = open_trace(RTI_TARGET_ALL, false);

	ck_assert(!is_over(trace));
	rti_bpf_trace.close(trace);
}
END_TEST

/* A thread that was forked while memory was short is found by its parent. */
START_TEST(tree_is_searched_again_once_for_threads_that_were_not_marked)
{
	void *trace = open_trace(RTI_TARGET_COMMAND, _i);

	fake.shared.threads = 1;
	is_over(trace);
	ck_assert_uint_eq(fake_programs.iterations, 0);
	fake.shared.unmarked = 1;
	is_over(trace);
	is_over(trace);
	ck_assert_uint_eq(fake_programs.iterations, _i ? 0 : 1);
	rti_bpf_trace.close(trace);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

int main(void)
{
	Suite *suite = suite_create("trace_ring");
	TCase *tests = suite_case(suite, "trace");

	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_test(tests, programs_without_memory_to_share_leave_nothing);
	tcase_add_loop_test(tests, tree_is_searched_until_no_thread_is_found_or_long_enough, 0,
	                    COUNT(trees));
	tcase_add_loop_test(tests, user_id_is_that_of_the_namespace_of_the_reader, 0, COUNT(users));
	tcase_add_test(tests, user_id_of_a_namespace_with_too_many_ranges_is_unknown);
	tcase_add_loop_test(tests, time_that_is_not_known_is_not_translated, 0, 2);
	tcase_add_loop_test(tests, trace_of_a_command_is_not_over_while_its_thread_is_armed, 0, 2);
	tcase_add_test(tests, trace_of_the_machine_is_never_over);
	tcase_add_loop_test(tests, tree_is_searched_again_once_for_threads_that_were_not_marked, 0,
	                    2);
	return suite_run(suite);
}
