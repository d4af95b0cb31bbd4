/* SPDX-License-Identifier: MIT */
/* The CPU collector with an array of CPUs that has room for more: what lies there is no CPU. */
#include <stdlib.h>

#include "fixture.h"
#include "sampler.h"
#include "suite.h"

#define BLOCK_MAX (1u << 16)

extern const struct rti_sys_collector rti_sys_cpu;

/* The linker calls this instead of realloc(3). New memory is full of words of 1, as if it had held
 * CPUs of the first sample. */
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_realloc(void *p, size_t size)
{
	uint64_t *block = __real_realloc(p, size);

	for (size_t i = 0; block && !p && size < BLOCK_MAX && i < size / sizeof(*block); i++)
		block[i] = 1;
	return block;
}

START_TEST(room_for_more_cpus_has_no_row)
{
	struct fixture f;
	struct sampler s;
	size_t count;

	fixture_new(&f);
	sampler_open(&s, &rti_sys_cpu, f.root);
	fixture_write(&f, "proc/stat", "cpu  10 2 5 100\ncpu0 10 2 5 100\nintr 1\nctxt 2\n");

	sampler_take(&s);

	ck_assert_ptr_nonnull(sampler_rows(&s, &count));
	ck_assert_uint_eq(count, 1);
	sampler_close(&s);
	fixture_free(&f);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_cpu_rows");

	tcase_add_test(suite_case(suite, "rows"), room_for_more_cpus_has_no_row);
	return suite_run(suite);
}
