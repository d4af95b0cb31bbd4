/* SPDX-License-Identifier: MIT */
/* The ring between the tracer and the library: what is lost, and when the reader is woken. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "os/protocol/trace_ring.h"
#include "suite.h"

#define CAPACITY 40u
#define MANY 200000u
#define TAKEN_MAX 7

static struct rti_trace_ring *ring;
static struct rti_trace_end reader, writer;

static void set_up(void)
{
	const size_t bytes = CAPACITY * sizeof(struct rti_trace_record);

	ring = aligned_alloc(64, (RTI_TRACE_RING_HEAD_BYTES + bytes + 63) / 64 * 64);
	ck_assert_ptr_nonnull(ring);
	memset((void *)ring, 0, RTI_TRACE_RING_HEAD_BYTES + bytes);
	ck_assert(rti_trace_end_init(&reader, ring, RTI_TRACE_RING_HEAD_BYTES + bytes));
	ck_assert(rti_trace_end_init(&writer, ring, RTI_TRACE_RING_HEAD_BYTES + bytes));
	ring->is_asleep = 1;
}

static void tear_down(void)
{
	free(ring);
}

static bool put(uint64_t number)
{
	const struct rti_trace_record record = { .entry_ns = number };

	return rti_trace_ring_put(&writer, &record);
}

static void check_next(uint64_t number)
{
	struct rti_trace_record record;

	ck_assert_int_eq(rti_trace_ring_take(&reader, &record, 1), 1);
	ck_assert_uint_eq(record.entry_ns, number);
}

START_TEST(records_come_in_order_round_and_round)
{
	for (uint64_t i = 0; i < 10 * CAPACITY + 3; i += 3) {
		for (uint64_t k = i; k < i + 3; k++)
			put(k);
		for (uint64_t k = i; k < i + 3; k++)
			check_next(k);
	}
	ck_assert(rti_trace_ring_is_empty(&reader));
}
END_TEST

START_TEST(full_ring_loses_new_records_and_the_next_one_says_so)
{
	struct rti_trace_record records[CAPACITY + 1];

	for (uint64_t i = 0; i < CAPACITY; i++)
		put(i);
	ck_assert(rti_trace_ring_is_full(&writer));
	ck_assert(!put(CAPACITY));
	rti_trace_ring_lose(&writer);
	ck_assert_uint_eq(ring->lost, 2);
	check_next(0);
	ck_assert(!rti_trace_ring_is_full(&writer));
	put(99);
	ck_assert_int_eq(rti_trace_ring_take(&reader, records, CAPACITY + 1), CAPACITY);
	ck_assert_uint_eq(records[CAPACITY - 2].lost, 0);
	ck_assert_uint_eq(records[CAPACITY - 1].entry_ns, 99);
	ck_assert_uint_eq(records[CAPACITY - 1].lost, 2);
}
END_TEST

START_TEST(reader_that_sleeps_is_woken_once)
{
	ck_assert(put(0)); /* as a new ring begins */
	ck_assert(!put(1));
	ring->is_asleep = 1;
	ck_assert(put(2));
	ck_assert(!put(3));
}
END_TEST

START_TEST(reader_that_is_awake_is_woken_at_a_quarter)
{
	put(0);
	for (uint64_t i = 1; i < CAPACITY; i++)
		ck_assert_int_eq(put(i), i + 1 == CAPACITY / 4);
}
END_TEST

/* Positions that another process has written. The ring has 4 records from position 10 on. */
static const uint64_t positions[] = { 0, 9, 15, 10 + CAPACITY + 1, UINT64_MAX };

static void move_to_ten(void)
{
	struct rti_trace_record records[10];

	for (uint64_t i = 0; i < 10; i++)
		put(i);
	ck_assert_int_eq(rti_trace_ring_take(&reader, records, 10), 10);
	for (uint64_t i = 10; i < 14; i++)
		put(i);
}

START_TEST(reader_keeps_its_own_position)
{
	move_to_ten();
	ring->read = positions[_i];
	for (uint64_t i = 10; i < 14; i++)
		check_next(i);
	ck_assert(rti_trace_ring_is_empty(&reader));
	ck_assert_uint_eq(ring->read, 14);
}
END_TEST

START_TEST(writer_keeps_its_own_position)
{
	move_to_ten();
	ring->written = positions[_i];
	put(14);
	ck_assert_uint_eq(ring->written, 15);
	for (uint64_t i = 10; i < 15; i++)
		check_next(i);
}
END_TEST

START_TEST(more_records_than_the_ring_holds_are_none)
{
	struct rti_trace_record record = { .entry_ns = 99 };

	move_to_ten();
	ring->written = 10 + CAPACITY + 1;
	ck_assert_int_eq(rti_trace_ring_take(&reader, &record, 1), -EPROTO);
	ring->written = 9;
	ck_assert_int_eq(rti_trace_ring_take(&reader, &record, 1), -EPROTO);
	ck_assert_uint_eq(record.entry_ns, 99);
	ring->written = 14;
	check_next(10);
}
END_TEST

/* The writer would overwrite what was not read yet, or what is not there. */
START_TEST(reader_that_is_ahead_of_the_writer_leaves_no_room)
{
	move_to_ten();
	ring->read = 15;
	ck_assert(rti_trace_ring_is_full(&writer));
	put(14);
	ck_assert_uint_eq(ring->lost, 1);
	ck_assert_uint_eq(ring->written, 14);
}
END_TEST

START_TEST(memory_without_room_for_a_record_is_no_ring)
{
	struct rti_trace_end end;

	ck_assert(!rti_trace_end_init(&end, ring, 0));
	ck_assert(!rti_trace_end_init(
	    &end, ring, RTI_TRACE_RING_HEAD_BYTES + sizeof(struct rti_trace_record) - 1));
}
END_TEST

static void *write_many(void *unused)
{
	for (uint64_t i = 0; i < MANY; i++)
		put(i);
	return unused;
}

/* Those that are read are whole, in order, and all but the lost ones. */
START_TEST(records_of_a_writer_that_does_not_wait_are_read_or_lost)
{
	struct rti_trace_record records[TAKEN_MAX];
	uint64_t next = 0, read = 0;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, write_many, NULL), 0);
	while (read + ring->lost < MANY || !rti_trace_ring_is_empty(&reader)) {
		int count = rti_trace_ring_take(&reader, records, TAKEN_MAX);

		for (int i = 0; i < count; i++) {
			ck_assert_uint_ge(records[i].entry_ns, next);
			next = records[i].entry_ns + 1;
		}
		read += (uint64_t)count;
	}
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_uint_eq(read + ring->lost, MANY);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_ring");
	TCase *tests = suite_case(suite, "ring");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, records_come_in_order_round_and_round);
	tcase_add_test(tests, full_ring_loses_new_records_and_the_next_one_says_so);
	tcase_add_test(tests, reader_that_sleeps_is_woken_once);
	tcase_add_test(tests, reader_that_is_awake_is_woken_at_a_quarter);
	tcase_add_loop_test(tests, reader_keeps_its_own_position, 0,
	                    sizeof(positions) / sizeof(positions[0]));
	tcase_add_loop_test(tests, writer_keeps_its_own_position, 0,
	                    sizeof(positions) / sizeof(positions[0]));
	tcase_add_test(tests, more_records_than_the_ring_holds_are_none);
	tcase_add_test(tests, reader_that_is_ahead_of_the_writer_leaves_no_room);
	tcase_add_test(tests, memory_without_room_for_a_record_is_no_ring);
	tcase_add_test(tests, records_of_a_writer_that_does_not_wait_are_read_or_lost);
	return suite_run(suite);
}
