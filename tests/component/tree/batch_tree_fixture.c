/* SPDX-License-Identifier: MIT */
#include "batch_tree_fixture.h"

#include "bpf/batch/loader.h"
#include "tree_inside.h"

struct batch_tree_fixture fix;

static void read_fake_clocks(struct rti_now *out)
{
	*out = (struct rti_now){ fix.now_ns, fix.now_ns, fix.now_ns };
}

static uint64_t read_fake_monotonic_ns(void)
{
	return fix.now_ns;
}

void track_family(uint32_t max_fds, uint64_t want)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .flags = RT_OPT_NO_PROCESS_EVENTS,
		                      .want = want,
		                      .max_fds = max_fds,
		                      .pss_share = 1000 };

	rt_tracker_free(fix.tracker);
	ck_assert_int_eq(rt_pid_tracker_new(&fix.tracker, fix.family.member[0].pid, &opts), 0);
	assume_nothing_unseen(fix.tracker);
	get_platform(fix.tracker)->now = read_fake_clocks;
	get_platform(fix.tracker)->monotonic_ns = read_fake_monotonic_ns;
}

static void set_up(void)
{
	fix.now_ns = 1000 * SECOND;
	fix.tracker = NULL;
	family_start(&fix.family, TREE);
	track_family(1024, 0);
}

static void tear_down(void)
{
	rt_tracker_free(fix.tracker);
	family_end(&fix.family);
}

bool has_bpf(void)
{
	struct rti_batch *batch;

	if (rti_batch_open(&batch) < 0)
		return false;
	rti_batch_close(batch);
	return true;
}

TCase *add_batch_case(Suite *suite, const char *name)
{
	TCase *tcase = suite_case(suite, name);

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	return tcase;
}

struct rt_metrics take_sample_after(uint64_t ns)
{
	struct rt_metrics m;

	fix.now_ns += ns;
	ck_assert_int_eq(rt_sample(fix.tracker, &m, sizeof(m)), 0);
	return m;
}

struct rt_metrics take_sample(void)
{
	return take_sample_after(SECOND);
}

void run_members(int round)
{
	for (size_t i = 0; i < fix.family.count; i++) {
		if (!fix.family.member[i].pid || (i + (size_t)round) % 3 == 0)
			continue;
		family_tell(&fix.family, i, FAMILY_RUN, 1 + (int32_t)(i % 5));
		family_tell(&fix.family, i, FAMILY_WRITE, 1000 * (int32_t)i);
		family_tell(&fix.family, i, FAMILY_GROW, 1);
	}
}

struct rt_metrics stop_and_batch_read(void)
{
	struct rt_metrics m;

	take_sample();
	use_batch_reader_now(fix.tracker);
	run_members(1);
	family_stop(&fix.family);
	take_sample();
	m = take_sample();
	ck_assert_uint_eq(m.source, RT_SOURCE_BPF);
	return m;
}

int32_t get_pid(size_t member)
{
	return fix.family.member[member].pid;
}

/* A peak is an estimate if it was seen before PSS was read. */
static void check_equal_masks(const struct rt_metrics *a, const struct rt_metrics *b)
{
	const uint64_t other = ~(RT_HAS_PEAK_FOOTPRINT | RT_HAS_PEAK_NEEDED);

	ck_assert_uint_eq(a->valid & other, b->valid & other);
	ck_assert_uint_eq(a->partial & other, b->partial & other);
	ck_assert_uint_eq(a->valid | a->partial | a->estimated,
	                  b->valid | b->partial | b->estimated);
}

void check_equal(const struct rt_metrics *a, const struct rt_metrics *b)
{
	check_equal_masks(a, b);
	ck_assert_uint_eq(a->processes, b->processes);
	ck_assert_uint_eq(a->threads, b->threads);
	ck_assert_uint_eq(a->cpu_user_ns, b->cpu_user_ns);
	ck_assert_uint_eq(a->cpu_system_ns, b->cpu_system_ns);
	ck_assert_uint_eq(a->rss_bytes, b->rss_bytes);
	/* Unrelated processes, which come and go, share the C library with the members. */
	ck_assert_uint_le(a->pss_bytes, b->pss_bytes + MIB);
	ck_assert_uint_ge(a->pss_bytes + MIB, b->pss_bytes);
	ck_assert_uint_eq(a->peak_rss_bytes, b->peak_rss_bytes);
	ck_assert_uint_eq(a->minor_faults, b->minor_faults);
	ck_assert_uint_eq(a->major_faults, b->major_faults);
	ck_assert_uint_eq(a->read_bytes, b->read_bytes);
	ck_assert_uint_eq(a->write_bytes, b->write_bytes);
	ck_assert_uint_eq(a->cancelled_write_bytes, b->cancelled_write_bytes);
	ck_assert_uint_eq(a->read_calls, b->read_calls);
	ck_assert_uint_eq(a->write_calls, b->write_calls);
	ck_assert_uint_eq(a->read_chars, b->read_chars);
	ck_assert_uint_eq(a->write_chars, b->write_chars);
	ck_assert_uint_eq(a->voluntary_switches, b->voluntary_switches);
	ck_assert_uint_eq(a->involuntary_switches, b->involuntary_switches);
	ck_assert_uint_eq(a->reasons, b->reasons);
}
