/* SPDX-License-Identifier: MIT */
#include "mapped_fixture.h"

struct rti_mapped mapped;

void mapped_set_up(void)
{
	mapped = (struct rti_mapped){ 0 };
}

void mapped_tear_down(void)
{
	rti_mapped_free(&mapped);
}

int enter(uint64_t key)
{
	int index = rti_program_enter(&mapped, key);

	ck_assert_int_ge(index, 0);
	return index;
}

struct rti_mapped_look look_of(int32_t pid, uint64_t shared, uint64_t shmem)
{
	return (struct rti_mapped_look){
		.pid = pid,
		.shared_pages = shared,
		.shmem_pages = shmem,
		.rss_pages = shared + 1000,
	};
}

void add(int program, int32_t pid, uint64_t shared, uint64_t shmem)
{
	struct rti_mapped_look look = look_of(pid, shared, shmem);

	rti_mapped_add(&mapped, program, &look, false);
}

struct rti_mapped_sum sum_up(int index, uint64_t first, uint64_t second, int other, uint64_t third)
{
	rti_mapped_open(&mapped);
	add(index, 1, first, 0);
	add(index, 2, second, 0);
	add(other, 3, third, 0);
	return rti_mapped_close(&mapped);
}

void check_files(struct rti_mapped_sum sum, uint64_t low, uint64_t pages, uint64_t high)
{
	ck_assert_uint_eq(sum.low[RTI_MAPPED_FILE], low);
	ck_assert_uint_eq(sum.pages[RTI_MAPPED_FILE], pages);
	ck_assert_uint_eq(sum.high[RTI_MAPPED_FILE], high);
}

void check_shmem(struct rti_mapped_sum sum, uint64_t low, uint64_t pages, uint64_t high)
{
	ck_assert_uint_eq(sum.low[RTI_MAPPED_SHMEM], low);
	ck_assert_uint_eq(sum.pages[RTI_MAPPED_SHMEM], pages);
	ck_assert_uint_eq(sum.high[RTI_MAPPED_SHMEM], high);
}

int add_range(struct rti_image *image, uint64_t key, enum rti_mapped_kind kind, uint64_t pages,
              uint64_t pss_pages)
{
	struct rti_image_part part = {
		.pages = (uint32_t)pages,
		.pss_pages = (float)pss_pages,
		.size_pages = UINT32_MAX,
	};

	return rti_image_add(&mapped, image, key, kind, &part);
}

void read_image(struct rti_image *image, const struct rti_mapped_look *look,
                const struct range *ranges)
{
	uint64_t named_shmem = 0;

	rti_image_begin(&mapped, image);
	for (; ranges->pages; ranges++) {
		ck_assert_int_eq(
		    add_range(image, ranges->key, ranges->kind, ranges->pages, ranges->pss_pages),
		    0);
		if (ranges->kind == RTI_MAPPED_SHMEM)
			named_shmem += ranges->pages;
	}
	rti_image_end(&mapped, image, look, named_shmem, 0);
}

void read_program(int program, int32_t pid, uint64_t libc, uint64_t data)
{
	const struct range ranges[] = {
		{ LIBC, RTI_MAPPED_FILE, libc, 0 },
		{ DATA + (uint64_t)program, RTI_MAPPED_FILE, data, 0 },
		{ 0 },
	};
	struct rti_mapped_look look = look_of(pid, libc + data, 0);

	read_image(&mapped.programs[program].image, &look, ranges);
}
