/* SPDX-License-Identifier: MIT */
/* Members that were read, and so are to be looked at for descriptors of GPUs. */
#include "tree/gpu/gpu_files.h"

#include "suite.h"
#include "tree/gpu/gpu_state.h"

#define MEMBERS 100

START_TEST(each_member_that_was_read_is_due_and_has_room)
{
	static struct rti_member members[MEMBERS];
	struct rti_tree_gpu gpu = { .files = { .is_present = true } };

	for (int i = 0; i < MEMBERS; i++) {
		members[i].pid = 100 + i;
		rti_gpu_files_note_read(&gpu, &members[i]);
		ck_assert_int_eq((int)gpu.files.due_count, i + 1);
		ck_assert_uint_ge(gpu.files.due_room, gpu.files.due_count);
	}

	for (int i = 0; i < MEMBERS; i++)
		ck_assert_int_eq(gpu.files.due[i], 100 + i);
	rti_gpu_files_free(&gpu.files);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gpu_files");
	TCase *tcase = suite_case(suite, "members that are due");

	tcase_add_test(tcase, each_member_that_was_read_is_due_and_has_room);
	return suite_run(suite);
}
