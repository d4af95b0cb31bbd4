/* SPDX-License-Identifier: MIT */
/* The footprint of a tree: its parts, its bounds, and when it is exact. */
#include "suite.h"

#include <errno.h>

#include "tree/member/footprint.h"

#define PAGE UINT64_C(4096)
#define SECOND UINT64_C(1000000000)
#define NOW (1000 * SECOND)
#define OPEN UINT64_MAX /* a bound that is not known */

/* Pages of the usual facts: a pool that shares anonymous pages. The model has an estimate of its
 * own, so that a figure shows its origin. */
#define OWN 400    /* anonymous, of members that share none */
#define SHARED 600 /* likewise read of those that do */
#define READ (OWN + SHARED)
#define ANON 900
#define ANON_MIN 700
#define ANON_MAX 1500
#define COPIED 60
#define SHMEM 50
#define FILES 200
#define HUGE 1024
#define SHARERS 1800 /* as statm has them */

/* All that is mapped was read: there is nothing to estimate but anonymous pages. */
#define MAPPED (SHMEM + HUGE + FILES)

#define HUNDREDTH (READ * PAGE / 100)
#define TWENTIETH (READ * PAGE / 20)

static struct rti_memory_sums usual_sums(void)
{
	return (struct rti_memory_sums){
		.rss_pages = 5000,
		.anon_pages = ANON,
		.copied_pages = COPIED,
		.anon_pages_min = ANON_MIN,
		.anon_pages_max = ANON_MAX,
	};
}

static struct rti_memory_reads usual_reads(void)
{
	return (struct rti_memory_reads){
		.known = 3,
		.has_all = true,
		.has_all_swap = true,
		.swap_bytes = 30 * PAGE,
		.own_anon_bytes = OWN * PAGE,
		.shared_anon_bytes = SHARED * PAGE,
		.sharer_pages = SHARERS,
		.mapped_pages = 1000,
		.oldest_ns = NOW,
	};
}

static struct rti_mapped_sum usual_mapped(void)
{
	struct rti_mapped_sum sum = { 0 };

	sum.pages[RTI_MAPPED_SHMEM] = SHMEM;
	sum.pages[RTI_MAPPED_FILE] = FILES;
	sum.pages[RTI_MAPPED_HUGETLB] = HUGE;
	for (int i = 0; i < RTI_MAPPED_KINDS; i++)
		sum.low[i] = sum.high[i] = sum.pages[i];
	return sum;
}

/* Facts of a test. It changes some of them. */
static struct rti_memory_sums sums;
static struct rti_memory_reads reads;
static struct rti_mapped_sum mapped;
static struct rti_footprint_facts facts;

static void set_up(void)
{
	sums = usual_sums();
	reads = usual_reads();
	mapped = usual_mapped();
	facts = (struct rti_footprint_facts){
		.reads = &reads,
		.sums = &sums,
		.mapped = &mapped,
		.now_ns = NOW,
		.page_size = PAGE,
	};
}

static void check_bounds(const struct rti_bounds *b, uint64_t low, uint64_t pages, uint64_t high)
{
	ck_assert_uint_eq(b->low, low * PAGE);
	ck_assert_uint_eq(b->bytes, pages * PAGE);
	ck_assert_uint_eq(b->high, high == OPEN ? OPEN : high * PAGE);
}

/* --- Parts. --- */

START_TEST(footprint_is_the_sum_of_its_parts)
{
	struct rti_footprint f = rti_footprint_of(&facts);

	ck_assert_uint_eq(f.anon, READ * PAGE);
	ck_assert_uint_eq(f.shmem, SHMEM * PAGE);
	ck_assert_uint_eq(f.file, FILES * PAGE);
	ck_assert_uint_eq(f.hugetlb, HUGE * PAGE);
	ck_assert_uint_eq(f.swap, 30 * PAGE); /* beside it */
	ck_assert_uint_eq(f.rss_bytes, 5000 * PAGE);
	check_bounds(&f.all, READ + MAPPED, READ + MAPPED, READ + MAPPED);
	check_bounds(&f.needed, READ + SHMEM + HUGE, READ + SHMEM + HUGE, READ + SHMEM + HUGE);
	ck_assert_uint_eq(f.file_high, FILES * PAGE);
	ck_assert(f.is_known && f.is_exact && f.is_needed_exact);
	ck_assert_int_eq(f.error, 0);
	ck_assert_uint_eq(f.oldest_ns, NOW);
}
END_TEST

/* What is mapped has bounds of its own. Those of files are not in what is needed. */
START_TEST(bounds_of_what_is_mapped_add_up)
{
	struct rti_footprint f;

	mapped.low[RTI_MAPPED_SHMEM] = SHMEM - 10;
	mapped.high[RTI_MAPPED_SHMEM] = SHMEM + 20;
	mapped.low[RTI_MAPPED_FILE] = FILES - 100;
	mapped.high[RTI_MAPPED_FILE] = FILES + 200;
	f = rti_footprint_of(&facts);
	check_bounds(&f.all, READ + MAPPED - 110, READ + MAPPED, READ + MAPPED + 220);
	check_bounds(&f.needed, READ + HUGE + SHMEM - 10, READ + HUGE + SHMEM,
	             READ + HUGE + SHMEM + 20);
	ck_assert_uint_eq(f.file_high, (FILES + 200) * PAGE);
}
END_TEST

START_TEST(part_outside_of_its_bounds_is_moved_into_them)
{
	struct rti_footprint f;

	mapped.pages[RTI_MAPPED_FILE] = FILES + 30;
	mapped.low[RTI_MAPPED_SHMEM] = SHMEM + 5;
	mapped.high[RTI_MAPPED_SHMEM] = SHMEM + 7;
	/* What was read is more than what members have by now. */
	mapped.low[RTI_MAPPED_HUGETLB] = HUGE + 9;
	f = rti_footprint_of(&facts);
	ck_assert_uint_eq(f.file, FILES * PAGE);
	ck_assert_uint_eq(f.shmem, (SHMEM + 5) * PAGE);
	ck_assert_uint_eq(f.hugetlb, HUGE * PAGE);
	ck_assert_uint_le(f.all.low, f.all.bytes);
}
END_TEST

/* The kernel takes such pages back as it does those of clean files. */
START_TEST(pages_that_were_freed_lazily_are_not_needed)
{
	struct rti_footprint f;

	reads.lazy_free_bytes = 100 * PAGE;
	f = rti_footprint_of(&facts);
	check_bounds(&f.all, READ + MAPPED, READ + MAPPED, READ + MAPPED);
	/* A process may write to them at any time: then they are needed once more. */
	check_bounds(&f.needed, READ + SHMEM + HUGE - 100, READ + SHMEM + HUGE - 100,
	             READ + SHMEM + HUGE);
	ck_assert(f.is_exact && !f.is_needed_exact);
	reads.lazy_free_bytes = OPEN;
	f = rti_footprint_of(&facts);
	ck_assert_uint_eq(f.needed.bytes + f.needed.low, 0);
}
END_TEST

/* --- Anonymous pages. --- */

struct anon_case {
	const char *name;
	uint64_t shared_pages; /* read of those that share; 0: the usual ones */
	uint64_t doubt_bytes, age_ns;
	bool lacks_member, has_outside_sharer;
	int read_error;
	/* What is expected. */
	uint64_t low, pages, high, copied;
	int error; /* 0: exact */
};

static const struct anon_case anon_cases[] = {
	{ "read now", .low = READ, .pages = READ, .high = READ },
	{ "read before", .age_ns = 5 * SECOND, .low = READ, .pages = READ, .high = READ },
	{ "in doubt by 5 pages", .doubt_bytes = 5 * PAGE, .age_ns = SECOND, .low = READ - 5,
	  .pages = READ, .high = READ + 5 },
	{ "in doubt by a twentieth", .doubt_bytes = TWENTIETH, .age_ns = SECOND,
	  .low = READ - READ / 20, .pages = READ, .high = READ + READ / 20, .error = -EDQUOT },
	{ "changed by a twentieth while it was read", .doubt_bytes = TWENTIETH,
	  .low = READ - READ / 20, .pages = READ, .high = READ + READ / 20, .error = -EBUSY },
	/* The read still bounds it. */
	{ "in doubt by 60 pages", .doubt_bytes = 60 * PAGE, .age_ns = SECOND, .low = READ - 60,
	  .pages = READ - 60, .high = READ + 60, .copied = COPIED, .error = -EDQUOT },
	{ "in doubt by 200 pages", .doubt_bytes = 200 * PAGE, .age_ns = SECOND, .low = READ - 200,
	  .pages = ANON, .high = READ + 200, .copied = COPIED, .error = -EDQUOT },
	{ "in doubt by all", .doubt_bytes = OPEN, .age_ns = SECOND, .low = ANON_MIN, .pages = ANON,
	  .high = ANON_MAX, .copied = COPIED, .error = -EDQUOT },
	{ "a member was not read", .lacks_member = true, .low = ANON_MIN, .pages = ANON,
	  .high = ANON_MAX, .copied = COPIED, .error = -EDQUOT },
	{ "a member cannot be read", .lacks_member = true, .read_error = -EACCES, .low = ANON_MIN,
	  .pages = ANON, .high = ANON_MAX, .copied = COPIED, .error = -EACCES },
	/* Its PSS is less than what the members map. */
	{ "others share", .has_outside_sharer = true, .low = ANON_MIN, .pages = ANON,
	  .high = ANON_MAX, .copied = COPIED, .error = -ENODATA },
	/* Either may be wrong: what was read, or the model. */
	{ "less than they hold", .shared_pages = ANON_MIN - OWN - 100, .low = ANON_MIN - 100,
	  .pages = ANON, .high = ANON_MAX, .copied = COPIED, .error = -ENODATA },
	{ "more than they can hold", .shared_pages = ANON_MAX - OWN + 100, .low = ANON_MIN,
	  .pages = ANON, .high = ANON_MAX + 100, .copied = COPIED, .error = -ENODATA },
	/* By a hundredth and 16 pages at most: statm lags. */
	{ "a little less than they hold", .shared_pages = ANON_MIN - OWN - 20, .low = ANON_MIN,
	  .pages = ANON_MIN, .high = ANON_MIN },
	{ "a little more than they can hold", .shared_pages = ANON_MAX - OWN + 20,
	  .low = ANON_MAX + 20, .pages = ANON_MAX + 20, .high = ANON_MAX + 20 },
};

START_TEST(anonymous_pages_are_those_read_within_what_may_have_changed)
{
	const struct anon_case *c = &anon_cases[_i];
	struct rti_footprint f;

	reads.doubt_bytes = c->doubt_bytes;
	reads.oldest_ns = NOW - c->age_ns;
	reads.has_all = !c->lacks_member;
	reads.error = c->read_error;
	if (c->shared_pages)
		reads.shared_anon_bytes = c->shared_pages * PAGE;
	facts.has_outside_sharer = c->has_outside_sharer;
	mapped = (struct rti_mapped_sum){ 0 };
	f = rti_footprint_of(&facts);

	ck_assert_msg(f.all.low == c->low * PAGE, "%s: at least %llu pages", c->name,
	              (unsigned long long)(f.all.low / PAGE));
	ck_assert_msg(f.all.bytes == c->pages * PAGE, "%s: %llu pages", c->name,
	              (unsigned long long)(f.all.bytes / PAGE));
	ck_assert_msg(f.all.high == c->high * PAGE, "%s: at most %llu pages", c->name,
	              (unsigned long long)(f.all.high / PAGE));
	ck_assert_msg(f.suspected_bytes == c->copied * PAGE, "%s: %llu pages copied", c->name,
	              (unsigned long long)(f.suspected_bytes / PAGE));
	ck_assert_msg(f.error == c->error, "%s: error %d", c->name, f.error);
	ck_assert_int_eq(f.is_exact, c->error == 0);
	ck_assert_int_eq(f.is_needed_exact, f.is_exact);
	ck_assert_uint_eq(f.anon, f.all.bytes);
	ck_assert_uint_eq(f.needed.bytes, f.all.bytes);
	ck_assert_uint_eq(f.oldest_ns, c->lacks_member ? 0 : NOW - c->age_ns);
}
END_TEST

/* --- When it is exact. --- */

/* Bounds within a hundredth of the upper one. */
START_TEST(footprint_is_exact_up_to_a_hundredth)
{
	struct rti_footprint f;
	uint64_t others = READ + SHMEM + HUGE, high = 100 * (others + FILES) / 99;

	mapped.high[RTI_MAPPED_FILE] = high - others;
	ck_assert(rti_footprint_of(&facts).is_exact);
	mapped.high[RTI_MAPPED_FILE] += 2;
	f = rti_footprint_of(&facts);
	ck_assert(!f.is_exact && f.is_needed_exact);
	ck_assert_int_eq(f.error, -ENODATA);
	mapped = usual_mapped();
	mapped.high[RTI_MAPPED_SHMEM] += 100;
	f = rti_footprint_of(&facts);
	ck_assert(!f.is_exact && !f.is_needed_exact);
}
END_TEST

START_TEST(footprint_with_unknown_processes_has_no_upper_bound)
{
	struct rti_footprint f;

	if (_i)
		facts.has_skipped = true; /* processes of the tree are no members yet */
	else
		reads.unknown = 1; /* a member cannot be looked at */
	f = rti_footprint_of(&facts);
	check_bounds(&f.all, READ + MAPPED, READ + MAPPED, OPEN);
	check_bounds(&f.needed, READ + SHMEM + HUGE, READ + SHMEM + HUGE, OPEN);
	ck_assert(f.is_known && !f.is_exact && !f.is_needed_exact);
	reads.has_pss = true;
	ck_assert(!rti_footprint_of(&facts).is_pss_read);
}
END_TEST

START_TEST(tree_of_which_no_member_could_be_looked_at_is_unknown)
{
	reads.known = 0;
	ck_assert(rti_footprint_of(&facts).is_known); /* no member has memory */
	reads.unknown = 1;
	ck_assert(!rti_footprint_of(&facts).is_known);
	reads.known = 1;
	ck_assert(rti_footprint_of(&facts).is_known);
}
END_TEST

/* Of forked members that were not read, each counts what all share. What could not be read is not
 * 0. */
START_TEST(swap_is_exact_of_members_that_share_nothing_and_were_read)
{
	ck_assert(rti_footprint_of(&facts).is_swap_exact);
	reads.has_all_swap = false;
	ck_assert(!rti_footprint_of(&facts).is_swap_exact);
	reads.has_all_swap = true;
	reads.unknown = 1;
	ck_assert(!rti_footprint_of(&facts).is_swap_exact);
	reads.unknown = 0;
	reads.without_status = 1;
	ck_assert(!rti_footprint_of(&facts).is_swap_exact);
	ck_assert(!rti_footprint_of(&facts).is_exact); /* nor are huge pages known */
	ck_assert(!rti_footprint_of(&facts).is_needed_exact);
}
END_TEST

/* --- PSS, and what one member has. --- */

START_TEST(pss_is_the_footprint_unless_it_was_read)
{
	struct rti_footprint f = rti_footprint_of(&facts);

	ck_assert(!f.is_pss_read);
	ck_assert_uint_eq(f.pss_bytes, f.all.bytes);
	reads.has_pss = reads.has_all_pss = true;
	reads.pss_bytes = 77 * PAGE;
	f = rti_footprint_of(&facts);
	ck_assert(f.is_pss_read);
	ck_assert_uint_eq(f.pss_bytes, 77 * PAGE);
	ck_assert_uint_eq(f.all.bytes, (READ + MAPPED) * PAGE); /* it says nothing of that */
}
END_TEST

START_TEST(shares_of_members_divide_what_they_share)
{
	struct rti_footprint f = rti_footprint_of(&facts);

	ck_assert_double_eq_tol(f.anon_share, (double)SHARED / SHARERS, 1e-9);
	ck_assert_double_eq_tol(f.mapped_share, (double)(SHMEM + FILES) / 1000, 1e-9);
	/* One was read just now, and has 70 of its 100 pages. The others have the rest. */
	reads.fresh_pages = 100;
	reads.fresh_anon_bytes = 70 * PAGE;
	f = rti_footprint_of(&facts);
	ck_assert_double_eq_tol(f.anon_share, (double)(SHARED - 70) / (SHARERS - 100), 1e-9);
	reads.fresh_pages = reads.fresh_anon_bytes = 0;
	reads.sharer_pages = reads.mapped_pages = 0; /* nothing is shared, and nothing is mapped */
	f = rti_footprint_of(&facts);
	ck_assert_double_eq(f.anon_share, 1);
	ck_assert_double_eq(f.mapped_share, 1);
}
END_TEST

/* --- What is possible. --- */

/* A hundredth of either bound, and 16 pages, are allowed for. */
static const struct {
	uint64_t anon_bytes;
	bool lacks_member, is_possible;
} possible_cases[] = {
	{ ANON * PAGE, .is_possible = true },
	{ (ANON_MIN - 7 - 16) * PAGE, .is_possible = true },
	{ (ANON_MIN - 7 - 16) * PAGE - 1, .is_possible = false },
	{ (ANON_MIN - 7 - 16) * PAGE - 1, .lacks_member = true, .is_possible = true },
	{ 0, .lacks_member = true, .is_possible = true },
	{ (ANON_MAX + 15 + 16) * PAGE, .is_possible = true },
	{ (ANON_MAX + 15 + 16) * PAGE + 1, .is_possible = false },
	{ (ANON_MAX + 15 + 16) * PAGE + 1, .lacks_member = true, .is_possible = false },
};

START_TEST(read_sum_is_possible_between_what_members_hold_alone_and_at_most)
{
	reads.has_all = !possible_cases[_i].lacks_member;
	reads.own_anon_bytes = possible_cases[_i].anon_bytes / 3;
	reads.shared_anon_bytes = possible_cases[_i].anon_bytes - reads.own_anon_bytes;
	ck_assert_int_eq(rti_reads_are_possible(&reads, &sums, PAGE),
	                 possible_cases[_i].is_possible);
}
END_TEST

START_TEST(read_sum_is_possible_below_an_upper_bound_beyond_the_largest_number)
{
	reads.shared_anon_bytes = OPEN / 2;
	sums.anon_pages_max = OPEN;
	ck_assert(rti_reads_are_possible(&reads, &sums, PAGE));
}
END_TEST

/* What is not exact is read again, so that nothing stays in between. */
START_TEST(sum_is_within_doubt_while_its_bounds_are_within_a_hundredth)
{
	mapped = (struct rti_mapped_sum){ 0 };
	reads.doubt_bytes = HUNDREDTH / 2;
	ck_assert(rti_reads_are_within_doubt(&reads));
	ck_assert(rti_footprint_of(&facts).is_needed_exact);
	reads.doubt_bytes += PAGE;
	ck_assert(!rti_reads_are_within_doubt(&reads));
	ck_assert(!rti_footprint_of(&facts).is_needed_exact);
	reads = (struct rti_memory_reads){ 0 };
	ck_assert(rti_reads_are_within_doubt(&reads));
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

	return pick < 5 ? random_below(limits[pick]) : pick == 5 ? OPEN : random_below(1000);
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
	return a > OPEN - b ? OPEN : a + b;
}

/* What a sum over members always is: bounds in their order. */
static void make_random_sums(void)
{
	sums.rss_pages = random_number();
	sums.copied_pages = random_number();
	sums.anon_pages_min = random_number();
	sums.anon_pages = add_up(sums.anon_pages_min, random_number());
	sums.anon_pages_max = add_up(sums.anon_pages, random_number());
}

static void make_random_reads(void)
{
	reads = (struct rti_memory_reads){
		.known = random_below(3),
		.unknown = random_below(4) ? 0 : 1,
		.has_all = random_below(4) > 0,
		.own_anon_bytes = random_number(),
		.doubt_bytes = random_below(2) ? 0 : random_number(),
		.sharer_pages = random_number(),
		.mapped_pages = random_number(),
		.lazy_free_bytes = random_below(2) ? 0 : random_number(),
		.oldest_ns = random_below(2) ? NOW : NOW - random_below(40 * SECOND),
		.error = random_below(4) ? 0 : -EACCES,
	};
	/* Of one member, the sum cannot pass the largest number. */
	reads.shared_anon_bytes = random_below(OPEN - reads.own_anon_bytes);
}

/* Bounds of what is mapped are in no order: each is of another moment. */
static void make_random_mapped(void)
{
	for (int i = 0; i < RTI_MAPPED_KINDS; i++) {
		mapped.pages[i] = random_number();
		mapped.low[i] = random_number();
		mapped.high[i] = random_below(2) ? random_number() : mapped.pages[i];
	}
}

static void check_order(const struct rti_bounds *b)
{
	ck_assert_uint_le(b->low, b->bytes);
	ck_assert_uint_le(b->bytes, b->high);
}

START_TEST(figure_of_any_facts_is_within_its_bounds)
{
	unsigned exact = 0;

	random_state = (uint64_t)_i + 5;
	for (int i = 0; i < 100000; i++) {
		struct rti_footprint f;

		make_random_sums();
		make_random_reads();
		make_random_mapped();
		facts.page_size = random_below(2) ? PAGE : 16 * PAGE;
		facts.has_outside_sharer = !random_below(4);
		facts.has_skipped = !random_below(4);
		f = rti_footprint_of(&facts);

		check_order(&f.all);
		check_order(&f.needed);
		ck_assert_uint_le(f.needed.bytes, f.all.bytes);
		ck_assert_uint_le(f.needed.high, f.all.high);
		ck_assert_int_eq(f.is_exact && f.is_needed_exact, f.error == 0);
		ck_assert(f.anon_share >= 0 && f.anon_share <= 1);
		ck_assert(f.mapped_share >= 0 && f.mapped_share <= 1);
		if (facts.has_skipped || reads.unknown)
			ck_assert_uint_eq(f.all.high, OPEN);
		exact += f.is_exact;
	}
	ck_assert_uint_gt(exact, 1000);
	ck_assert_uint_lt(exact, 90000);
}
END_TEST

#define COUNT(cases) ((int)(sizeof(cases) / sizeof((cases)[0])))

int main(void)
{
	Suite *suite = suite_create("footprint");
	TCase *parts = suite_case(suite, "parts"), *anon = suite_case(suite, "anon"),
	      *exact = suite_case(suite, "exact"), *possible = suite_case(suite, "possible"),
	      *any = suite_case(suite, "any");

	tcase_add_checked_fixture(parts, set_up, NULL);
	tcase_add_checked_fixture(anon, set_up, NULL);
	tcase_add_checked_fixture(exact, set_up, NULL);
	tcase_add_checked_fixture(possible, set_up, NULL);
	tcase_add_checked_fixture(any, set_up, NULL);
	tcase_add_test(parts, footprint_is_the_sum_of_its_parts);
	tcase_add_test(parts, bounds_of_what_is_mapped_add_up);
	tcase_add_test(parts, part_outside_of_its_bounds_is_moved_into_them);
	tcase_add_test(parts, pages_that_were_freed_lazily_are_not_needed);
	tcase_add_test(parts, pss_is_the_footprint_unless_it_was_read);
	tcase_add_test(parts, shares_of_members_divide_what_they_share);
	tcase_add_loop_test(anon, anonymous_pages_are_those_read_within_what_may_have_changed, 0,
	                    COUNT(anon_cases));
	tcase_add_test(exact, footprint_is_exact_up_to_a_hundredth);
	tcase_add_test(exact, swap_is_exact_of_members_that_share_nothing_and_were_read);
	tcase_add_loop_test(exact, footprint_with_unknown_processes_has_no_upper_bound, 0, 2);
	tcase_add_test(exact, tree_of_which_no_member_could_be_looked_at_is_unknown);
	tcase_add_loop_test(possible,
	                    read_sum_is_possible_between_what_members_hold_alone_and_at_most, 0,
	                    COUNT(possible_cases));
	tcase_add_test(possible,
	               read_sum_is_possible_below_an_upper_bound_beyond_the_largest_number);
	tcase_add_test(possible, sum_is_within_doubt_while_its_bounds_are_within_a_hundredth);
	tcase_add_loop_test(any, figure_of_any_facts_is_within_its_bounds, 0, 4);
	return suite_run(suite);
}
