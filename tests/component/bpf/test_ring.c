/* SPDX-License-Identifier: MIT */
/* The reader's side of a ring buffer, on a file that is laid out as the kernel's map. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/ring.h"
#include "suite.h"

#define SIZE 65536u
#define BUSY (1u << 31)
#define DISCARDED (1u << 30)

/* The side that the kernel writes. */
struct writer {
	int fd;
	char *memory;
	uint64_t *produced;
	uint32_t *data;
};

static struct writer writer;
static struct rti_ring ring;

static void set_up(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 2 * page + 2 * SIZE;

	writer.fd = memfd_create("ring", MFD_CLOEXEC);
	ck_assert_int_ge(writer.fd, 0);
	ck_assert_int_eq(ftruncate(writer.fd, (off_t)size), 0);
	writer.memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, writer.fd, 0);
	ck_assert_ptr_ne(writer.memory, MAP_FAILED);
	writer.produced = (void *)(writer.memory + page);
	writer.data = (void *)(writer.memory + 2 * page);
	ck_assert_int_eq(rti_ring_open(&ring, writer.fd, SIZE), 0);
}

static void tear_down(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	rti_ring_close(&ring);
	rti_ring_close(&ring);
	munmap(writer.memory, 2 * page + 2 * SIZE);
	close(writer.fd);
}

/* Returns the header of the new record, which has a value of 32 bits. */
static uint32_t *write_record(uint32_t length_and_bits, uint32_t value)
{
	uint32_t *header = writer.data + *writer.produced % SIZE / 4;

	header[0] = length_and_bits;
	header[2] = value;
	*writer.produced += (8 + (length_and_bits & ~(BUSY | DISCARDED)) + 7) / 8 * 8;
	return header;
}

static void check_next(uint32_t value)
{
	const uint32_t *record = rti_ring_peek(&ring);

	ck_assert_ptr_nonnull(record);
	ck_assert_uint_eq(*record, value);
	rti_ring_take(&ring);
}

START_TEST(records_come_in_order_and_then_the_ring_is_empty)
{
	ck_assert(rti_ring_is_empty(&ring));
	ck_assert_ptr_null(rti_ring_peek(&ring));
	write_record(4, 1);
	write_record(21, 2);
	write_record(64, 3);
	for (uint32_t i = 1; i <= 3; i++)
		check_next(i);
	ck_assert(rti_ring_is_empty(&ring));
	ck_assert_ptr_null(rti_ring_peek(&ring));
}
END_TEST

START_TEST(busy_record_holds_up_those_behind_it)
{
	uint32_t *busy = write_record(8 | BUSY, 1);

	write_record(8, 2);
	ck_assert_ptr_null(rti_ring_peek(&ring));
	ck_assert(!rti_ring_is_empty(&ring));
	*busy &= ~BUSY;
	check_next(1);
	check_next(2);
}
END_TEST

START_TEST(discarded_record_is_skipped)
{
	write_record(8 | DISCARDED, 1);
	write_record(16, 2);
	write_record(8 | DISCARDED, 3);
	check_next(2);
	ck_assert_ptr_null(rti_ring_peek(&ring));
	ck_assert(rti_ring_is_empty(&ring));
}
END_TEST

START_TEST(reader_that_stops_at_a_mark_leaves_what_was_written_after_it)
{
	uint64_t mark;

	write_record(16, 1);
	write_record(16, 2);
	mark = rti_ring_mark(&ring);
	for (uint32_t i = 1; !rti_ring_has_reached(&ring, mark); i++) {
		write_record(16, i + 2);
		check_next(i);
	}
	check_next(3);
	check_next(4);
	ck_assert(rti_ring_is_empty(&ring));
}
END_TEST

START_TEST(ring_goes_round)
{
	for (uint32_t i = 0; i < 10 * SIZE / 24; i++) {
		write_record(16, i);
		check_next(i);
	}
	ck_assert(rti_ring_is_empty(&ring));
}
END_TEST

START_TEST(ring_of_no_map_fails)
{
	struct rti_ring none = { 0 };

	ck_assert_int_eq(rti_ring_open(&none, -1, SIZE), -EBADF);
	rti_ring_close(&none);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring");
	TCase *reader = suite_case(suite, "reader");

	tcase_add_checked_fixture(reader, set_up, tear_down);
	tcase_add_test(reader, records_come_in_order_and_then_the_ring_is_empty);
	tcase_add_test(reader, busy_record_holds_up_those_behind_it);
	tcase_add_test(reader, discarded_record_is_skipped);
	tcase_add_test(reader, reader_that_stops_at_a_mark_leaves_what_was_written_after_it);
	tcase_add_test(reader, ring_goes_round);
	tcase_add_test(reader, ring_of_no_map_fails);
	return suite_run(suite);
}
