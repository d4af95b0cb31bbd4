/* SPDX-License-Identifier: MIT */
/* The judgement of a tree's memory: when what was read is exact, when it is an estimate, when the
 * model is, and the bounds of all three. */
#include "suite.h"

#include <errno.h>

#include <rtrack/rtrack.h>

#include "tree/member/memory_judge.h"

#define PAGE UINT64_C(4096)
#define SECOND UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define NOW (1000 * SECOND)
#define OPEN UINT64_MAX /* a bound that is not known */

/* Pages of the usual facts. The model has its own estimate, so that a figure shows its origin. */
#define READ 1000
#define ANON 700
#define ANON_MIN 600
#define ANON_MAX 900
#define FILES 250
#define SHARED 300
#define SHMEM 50
#define MODEL (ANON + FILES)
#define LOW (ANON_MIN + SHMEM)
#define HIGH (ANON_MAX + SHARED)

#define HUNDREDTH (READ * PAGE / 100)
#define TWENTIETH (READ * PAGE / 20)

static const struct rti_memory_sums usual_sums = {
	.rss_pages = 2000,
	.anon_pages = ANON,
	.anon_pages_min = ANON_MIN,
	.anon_pages_max = ANON_MAX,
	.shared_pages = SHARED,
	.shared_pages_max = 200,
	.shmem_pages_max = SHMEM,
};

/* Facts that differ from the usual ones: all was read, now, and nothing has changed. */
struct judge_case {
	const char *name;
	uint64_t age_ns, doubt_bytes, read_pages; /* 0 pages: the usual ones */
	uint64_t outside_bytes;
	bool lacks_member, has_unknown, has_no_known;
	bool needs_fresh_reads, has_outside_shmem, is_contradicted, has_skipped;
	int read_error;
	uint64_t model_files; /* 0: the usual ones */
	/* What is expected. source: 0 is RT_PSS_ESTIMATED. */
	uint32_t source;
	uint64_t pages, low, high;
	int error;
};

static uint64_t to_bytes(uint64_t pages)
{
	return pages == OPEN ? OPEN : pages * PAGE;
}

static struct rti_pss_sum make_read(const struct judge_case *c)
{
	return (struct rti_pss_sum){
		.has_all = !c->lacks_member && !c->has_unknown,
		.known = c->has_no_known ? 0 : 3,
		.unknown = c->has_unknown,
		.bytes = to_bytes(c->read_pages ? c->read_pages : READ),
		.doubt_bytes = c->doubt_bytes,
		.outside_bytes = c->outside_bytes,
		.oldest_ns = NOW - c->age_ns,
		.error = c->read_error,
	};
}

static struct rti_memory_moment judge(const struct judge_case *c)
{
	const struct rti_pss_sum read = make_read(c);

	return rti_memory_judge(&(struct rti_memory_facts){
	    .read = &read,
	    .sums = &usual_sums,
	    .file_pages = c->model_files ? c->model_files : FILES,
	    .now_ns = NOW,
	    .page_size = PAGE,
	    .needs_fresh_reads = c->needs_fresh_reads,
	    .has_outside_shmem = c->has_outside_shmem,
	    .is_contradicted = c->is_contradicted,
	    .has_skipped = c->has_skipped,
	});
}

static void check_case(const struct judge_case *c)
{
	struct rti_memory_moment m = judge(c);
	uint32_t source = c->source ? c->source : RT_PSS_ESTIMATED;

	ck_assert_msg(m.source == source && m.is_exact == (source != RT_PSS_ESTIMATED),
	              "%s: source %u", c->name, m.source);
	ck_assert_msg(m.bytes == to_bytes(c->pages), "%s: %llu pages", c->name,
	              (unsigned long long)(m.bytes / PAGE));
	ck_assert_msg(m.low_bytes == to_bytes(c->low), "%s: at least %llu pages", c->name,
	              (unsigned long long)(m.low_bytes / PAGE));
	ck_assert_msg(m.high_bytes == to_bytes(c->high), "%s: at most %llu pages", c->name,
	              (unsigned long long)(m.high_bytes / PAGE));
	ck_assert_msg(m.error == c->error, "%s: error %d", c->name, m.error);
	ck_assert_uint_eq(m.rss_bytes, 2000 * PAGE);
	ck_assert_uint_eq(m.shared_max_bytes, 200 * PAGE);
}

/* --- Exact. --- */

static const struct judge_case exact_cases[] = {
	{ "read now", .source = RT_PSS_READ, .pages = READ, .low = READ, .high = READ },
	{ "read before", .age_ns = 1, .source = RT_PSS_CACHED, .pages = READ, .low = READ,
	  .high = READ },
	{ "as old as allowed", .age_ns = 30 * SECOND, .source = RT_PSS_CACHED, .pages = READ,
	  .low = READ, .high = READ },
	{ "in doubt by a hundredth", .age_ns = SECOND, .doubt_bytes = HUNDREDTH,
	  .source = RT_PSS_CACHED, .pages = READ, .low = READ, .high = READ },
	{ "others may change much, read 90 ms ago", .age_ns = 90 * MS, .outside_bytes = READ * PAGE,
	  .source = RT_PSS_CACHED, .pages = READ, .low = READ, .high = READ },
	{ "others may change a hundredth, old", .age_ns = 30 * SECOND, .outside_bytes = HUNDREDTH,
	  .source = RT_PSS_CACHED, .pages = READ, .low = READ, .high = READ },
	{ "shared with others, read now", .needs_fresh_reads = true, .source = RT_PSS_READ,
	  .pages = READ, .low = READ, .high = READ },
	{ "above the upper bound of the model", .read_pages = HIGH + 1, .source = RT_PSS_READ,
	  .pages = HIGH + 1, .low = HIGH + 1, .high = HIGH + 1 },
	{ "some processes are no members yet", .has_skipped = true, .source = RT_PSS_READ,
	  .pages = READ, .low = READ, .high = OPEN },
};

START_TEST(sum_that_has_hardly_changed_since_it_was_read_is_exact)
{
	check_case(&exact_cases[_i]);
	ck_assert_uint_eq(judge(&exact_cases[_i]).oldest_ns, NOW - exact_cases[_i].age_ns);
	ck_assert(judge(&exact_cases[_i]).is_known);
}
END_TEST

/* --- What was read as an estimate. --- */

static const struct judge_case read_cases[] = {
	{ "older than allowed", .age_ns = 30 * SECOND + 1, .pages = READ, .low = LOW, .high = HIGH,
	  .error = -EDQUOT },
	{ "in doubt by more than a hundredth", .age_ns = SECOND, .doubt_bytes = HUNDREDTH + 1,
	  .pages = READ, .low = LOW, .high = HIGH, .error = -EDQUOT },
	{ "others may change much, read more than 90 ms ago", .age_ns = 90 * MS + 1,
	  .outside_bytes = HUNDREDTH + 1, .pages = READ, .low = LOW, .high = HIGH,
	  .error = -EDQUOT },
	{ "members and others may change too much together", .age_ns = SECOND,
	  .doubt_bytes = HUNDREDTH / 2, .outside_bytes = HUNDREDTH, .pages = READ, .low = LOW,
	  .high = HIGH, .error = -EDQUOT },
	{ "others have mapped the shared memory", .age_ns = 30 * SECOND + 1,
	  .has_outside_shmem = true, .pages = READ, .low = ANON_MIN, .high = HIGH,
	  .error = -EDQUOT },
	{ "members changed while they were read", .doubt_bytes = HUNDREDTH + 1, .pages = READ,
	  .low = LOW, .high = HIGH, .error = -EBUSY },
	{ "in doubt by a twentieth", .age_ns = SECOND, .doubt_bytes = TWENTIETH, .pages = READ,
	  .low = LOW, .high = HIGH, .error = -EDQUOT },
	{ "shared with others, read before", .age_ns = 1, .needs_fresh_reads = true, .pages = READ,
	  .low = 0, .high = HIGH, .error = -EDQUOT },
	{ "shared with others, and in doubt by more than a twentieth", .age_ns = 1,
	  .doubt_bytes = TWENTIETH + 1, .needs_fresh_reads = true, .pages = READ, .low = 0,
	  .high = HIGH, .error = -EDQUOT },
	{ "below the lower bound", .age_ns = 30 * SECOND + 1, .read_pages = LOW - 100, .pages = LOW,
	  .low = LOW, .high = HIGH, .error = -EDQUOT },
	{ "above the upper bound", .age_ns = 30 * SECOND + 1, .read_pages = HIGH + 100,
	  .pages = HIGH, .low = LOW, .high = HIGH, .error = -EDQUOT },
	{ "some processes are no members yet", .age_ns = 30 * SECOND + 1, .has_skipped = true,
	  .pages = READ, .low = LOW, .high = OPEN, .error = -EDQUOT },
};

START_TEST(sum_that_has_changed_a_little_is_the_estimate_within_the_bounds)
{
	check_case(&read_cases[_i]);
	ck_assert_uint_eq(judge(&read_cases[_i]).oldest_ns, NOW - read_cases[_i].age_ns);
}
END_TEST

/* --- The model as an estimate. --- */

static const struct judge_case model_cases[] = {
	{ "in doubt by more than a twentieth", .age_ns = SECOND, .doubt_bytes = TWENTIETH + 1,
	  .pages = MODEL, .low = LOW, .high = HIGH, .error = -EDQUOT },
	{ "impossible though not in doubt", .is_contradicted = true, .pages = MODEL, .low = LOW,
	  .high = HIGH, .error = -EBUSY },
	{ "impossible, read before", .age_ns = SECOND, .is_contradicted = true, .pages = MODEL,
	  .low = LOW, .high = HIGH, .error = -EBUSY },
	{ "impossible, and shared with others", .is_contradicted = true, .needs_fresh_reads = true,
	  .pages = MODEL, .low = 0, .high = HIGH, .error = -EBUSY },
	{ "a member was not read", .lacks_member = true, .pages = MODEL, .low = LOW, .high = HIGH,
	  .error = -EDQUOT },
	{ "a member cannot be read", .lacks_member = true, .read_error = -EACCES, .pages = MODEL,
	  .low = LOW, .high = HIGH, .error = -EACCES },
	{ "a member was not read, others share", .lacks_member = true, .needs_fresh_reads = true,
	  .pages = MODEL, .low = 0, .high = HIGH, .error = -EDQUOT },
	{ "a member could not be looked at", .has_unknown = true, .pages = MODEL, .low = LOW,
	  .high = OPEN, .error = -EDQUOT },
	{ "above the upper bound", .lacks_member = true, .model_files = HIGH, .pages = HIGH,
	  .low = LOW, .high = HIGH, .error = -EDQUOT },
	{ "some processes are no members yet", .lacks_member = true, .has_skipped = true,
	  .pages = MODEL, .low = LOW, .high = OPEN, .error = -EDQUOT },
};

START_TEST(sum_that_was_not_read_or_has_changed_is_that_of_the_model)
{
	const struct judge_case *c = &model_cases[_i];

	check_case(c);
	ck_assert_uint_eq(judge(c).oldest_ns,
	                  c->lacks_member || c->has_unknown ? 0 : NOW - c->age_ns);
}
END_TEST

/* Pages of shared memory are in the lower bound, and the model may know less of files. */
START_TEST(estimate_below_the_lower_bound_is_that_bound)
{
	struct rti_memory_sums sums = usual_sums;
	struct rti_pss_sum read = { .known = 1 };
	struct rti_memory_moment m;

	sums.anon_pages = sums.anon_pages_min;
	m = rti_memory_judge(&(struct rti_memory_facts){
	    .read = &read, .sums = &sums, .file_pages = 10, .now_ns = NOW, .page_size = PAGE });
	ck_assert_uint_eq(m.bytes, LOW * PAGE);
}
END_TEST

START_TEST(tree_of_which_no_member_could_be_looked_at_is_unknown)
{
	struct judge_case c = { "no member", .has_unknown = true };

	ck_assert(judge(&c).is_known);
	c.has_no_known = true;
	ck_assert(!judge(&c).is_known);
	c.has_unknown = false;
	c.lacks_member = true; /* no member has memory: that is known */
	ck_assert(judge(&c).is_known);
}
END_TEST

/* --- Any facts. --- */

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return limit ? (random_state >> 20) % limit : 0;
}

/* Mostly small numbers, some of them huge, and some in between. */
static uint64_t random_number(void)
{
	static const uint64_t limits[] = {
		1, 100, 100000, UINT64_C(1) << 32, UINT64_C(1) << 44,
	};
	uint64_t pick = random_below(8);

	return pick < 5 ? random_below(limits[pick]) : pick == 5 ? UINT64_MAX : random_below(1000);
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* What a sum over members always is: bounds in their order, no more than all shared pages in one
 * member. */
static struct rti_memory_sums random_sums(void)
{
	struct rti_memory_sums sums = { .rss_pages = random_number() };

	sums.anon_pages_min = random_number();
	sums.anon_pages = add_up(sums.anon_pages_min, random_number());
	sums.anon_pages_max = add_up(sums.anon_pages, random_number());
	sums.shmem_pages_max = random_number();
	sums.shared_pages_max = add_up(sums.shmem_pages_max, random_number());
	sums.shared_pages = add_up(sums.shared_pages_max, random_number());
	return sums;
}

static struct rti_pss_sum random_read(void)
{
	return (struct rti_pss_sum){
		.has_all = random_below(4) > 0,
		.known = random_below(3),
		.unknown = random_below(4) ? 0 : 1,
		.bytes = random_number(),
		.doubt_bytes = random_below(2) ? 0 : random_number(),
		.outside_bytes = random_below(2) ? 0 : random_number(),
		.oldest_ns = random_below(2) ? NOW : NOW - random_below(40 * SECOND),
		.error = random_below(4) ? 0 : -EACCES,
	};
}

static void check_moment(const struct rti_memory_moment *m, bool has_skipped)
{
	ck_assert_uint_le(m->low_bytes, m->bytes);
	ck_assert_uint_le(m->bytes, m->high_bytes);
	ck_assert_int_eq(m->is_exact, m->error == 0);
	ck_assert_int_eq(m->is_exact, m->source != RT_PSS_ESTIMATED);
	if (m->is_exact)
		ck_assert_uint_eq(m->low_bytes, m->bytes);
	if (m->is_exact && !has_skipped)
		ck_assert_uint_eq(m->high_bytes, m->bytes);
	if (has_skipped)
		ck_assert_uint_eq(m->high_bytes, UINT64_MAX);
}

START_TEST(figure_of_any_facts_is_within_its_bounds)
{
	unsigned exact = 0;

	random_state = (uint64_t)_i + 5;
	for (int i = 0; i < 100000; i++) {
		struct rti_memory_sums sums = random_sums();
		struct rti_pss_sum read = random_read();
		struct rti_memory_facts facts = {
			.read = &read,
			.sums = &sums,
			.file_pages = random_number(),
			.now_ns = NOW,
			.page_size = random_below(2) ? PAGE : 16 * PAGE,
			.needs_fresh_reads = !random_below(4),
			.is_contradicted = !random_below(4),
			.has_skipped = !random_below(4),
		};
		struct rti_memory_moment m = rti_memory_judge(&facts);

		check_moment(&m, facts.has_skipped);
		exact += m.is_exact;
	}
	ck_assert_uint_gt(exact, 10000);
	ck_assert_uint_lt(exact, 90000);
}
END_TEST

START_TEST(sums_beyond_the_largest_number_stay_at_it)
{
	const struct rti_pss_sum read = { .known = 1 };
	struct rti_memory_sums sums = {
		.rss_pages = UINT64_MAX / 2,
		.anon_pages = UINT64_MAX - 1,
		.anon_pages_min = 1,
		.anon_pages_max = UINT64_MAX - 1,
		.shared_pages = 3,
		.shared_pages_max = UINT64_MAX / 2,
	};
	const struct rti_memory_facts facts = {
		.read = &read, .sums = &sums, .file_pages = 3, .now_ns = NOW, .page_size = PAGE
	};
	struct rti_memory_moment m = rti_memory_judge(&facts);

	ck_assert_uint_eq(m.low_bytes, PAGE);
	ck_assert_uint_eq(m.bytes, UINT64_MAX);
	ck_assert_uint_eq(m.high_bytes, UINT64_MAX);
	ck_assert_uint_eq(m.rss_bytes, UINT64_MAX);
	ck_assert_uint_eq(m.shared_max_bytes, UINT64_MAX);

	sums.shmem_pages_max = UINT64_MAX;
	ck_assert_uint_eq(rti_memory_judge(&facts).low_bytes, UINT64_MAX);
	sums.shmem_pages_max = UINT64_MAX / 2; /* pages, which are more bytes */
	ck_assert_uint_eq(rti_memory_judge(&facts).low_bytes, UINT64_MAX);
}
END_TEST

START_TEST(sums_without_pss_have_no_source)
{
	struct rti_memory_moment m = rti_memory_judge_rss(&usual_sums, PAGE);

	ck_assert_uint_eq(m.rss_bytes, 2000 * PAGE);
	ck_assert_uint_eq(m.shared_max_bytes, 200 * PAGE);
	ck_assert_uint_eq(m.source, 0);
	ck_assert(!m.is_exact && !m.is_known);
	ck_assert_uint_eq(m.bytes + m.low_bytes + m.high_bytes, 0);
}
END_TEST

/* --- What is possible. --- */

/* A hundredth of either bound, and 16 pages, are allowed for. */
static const struct {
	uint64_t anon_bytes;
	bool lacks_member, lacks_kinds, is_possible;
} possible_cases[] = {
	{ ANON * PAGE, .is_possible = true },
	{ (ANON_MIN - 6 - 16) * PAGE, .is_possible = true },
	{ (ANON_MIN - 6 - 16) * PAGE - 1, .is_possible = false },
	{ (ANON_MIN - 6 - 16) * PAGE - 1, .lacks_member = true, .is_possible = true },
	{ 0, .lacks_member = true, .is_possible = true },
	{ (ANON_MAX + 9 + 16) * PAGE, .is_possible = true },
	{ (ANON_MAX + 9 + 16) * PAGE + 1, .is_possible = false },
	{ (ANON_MAX + 9 + 16) * PAGE + 1, .lacks_member = true, .is_possible = false },
	{ 0, .lacks_kinds = true, .is_possible = true },
	{ UINT64_MAX / 2, .lacks_kinds = true, .is_possible = true },
};

START_TEST(read_sum_is_possible_between_what_members_hold_alone_and_at_most)
{
	const struct rti_pss_sum read = {
		.has_all = !possible_cases[_i].lacks_member,
		.has_kinds = !possible_cases[_i].lacks_kinds,
		.bytes = READ * PAGE,
		.anon_bytes = possible_cases[_i].anon_bytes,
	};

	ck_assert_int_eq(rti_memory_is_possible(&read, &usual_sums, PAGE),
	                 possible_cases[_i].is_possible);
}
END_TEST

START_TEST(read_sum_is_possible_below_an_upper_bound_beyond_the_largest_number)
{
	const struct rti_memory_sums sums = { .anon_pages_max = UINT64_MAX };
	const struct rti_pss_sum read = {
		.has_all = true,
		.has_kinds = true,
		.anon_bytes = UINT64_MAX / 2,
	};

	ck_assert(rti_memory_is_possible(&read, &sums, PAGE));
}
END_TEST

START_TEST(sum_is_within_doubt_up_to_a_hundredth)
{
	struct rti_pss_sum read = { .bytes = READ * PAGE, .doubt_bytes = HUNDREDTH };

	ck_assert(rti_memory_is_within_doubt(&read));
	read.doubt_bytes++;
	ck_assert(!rti_memory_is_within_doubt(&read));
	read = (struct rti_pss_sum){ 0 };
	ck_assert(rti_memory_is_within_doubt(&read));
}
END_TEST

#define COUNT(cases) ((int)(sizeof(cases) / sizeof((cases)[0])))

int main(void)
{
	Suite *suite = suite_create("memory_judge");
	TCase *cases = suite_case(suite, "cases"), *any = suite_case(suite, "any"),
	      *possible = suite_case(suite, "possible");

	tcase_add_loop_test(cases, sum_that_has_hardly_changed_since_it_was_read_is_exact, 0,
	                    COUNT(exact_cases));
	tcase_add_loop_test(cases, sum_that_has_changed_a_little_is_the_estimate_within_the_bounds,
	                    0, COUNT(read_cases));
	tcase_add_loop_test(cases, sum_that_was_not_read_or_has_changed_is_that_of_the_model, 0,
	                    COUNT(model_cases));
	tcase_add_test(cases, estimate_below_the_lower_bound_is_that_bound);
	tcase_add_test(cases, tree_of_which_no_member_could_be_looked_at_is_unknown);
	tcase_add_loop_test(any, figure_of_any_facts_is_within_its_bounds, 0, 4);
	tcase_add_test(any, sums_beyond_the_largest_number_stay_at_it);
	tcase_add_test(any, sums_without_pss_have_no_source);
	tcase_add_loop_test(possible,
	                    read_sum_is_possible_between_what_members_hold_alone_and_at_most, 0,
	                    COUNT(possible_cases));
	tcase_add_test(possible,
	               read_sum_is_possible_below_an_upper_bound_beyond_the_largest_number);
	tcase_add_test(possible, sum_is_within_doubt_up_to_a_hundredth);
	return suite_run(suite);
}
