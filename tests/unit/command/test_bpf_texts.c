/* SPDX-License-Identifier: MIT */
/* Texts as BPF programs send them. */
#include <stdlib.h>
#include <string.h>

#include "command/bpf_texts.h"
#include "suite.h"

static struct rti_bpf_texts texts;

static void set_up(void)
{
	texts = (struct rti_bpf_texts){ 0 };
}

static void tear_down(void)
{
	rti_bpf_texts_free(&texts);
}

#define KEEP(number, flags, command, cwd)                                                          \
	keep(number, flags, command, sizeof(command) - 1, cwd, sizeof(cwd) - 1)

/* The parts of cwd each have a NUL at their end, the last part comes first. */
static void keep(uint32_t number, uint32_t flags, const char *command, size_t command_bytes,
                 const char *cwd, size_t cwd_bytes)
{
	static struct rti_account_text text;

	text = (struct rti_account_text){ .kind = RTI_ACCOUNT_TEXT,
		                          .number = number,
		                          .flags = flags,
		                          .command_bytes = (uint32_t)command_bytes,
		                          .cwd_bytes = (uint32_t)cwd_bytes };
	memcpy(text.bytes, command, command_bytes);
	memcpy(text.bytes + command_bytes, cwd, cwd_bytes);
	rti_bpf_texts_keep(&texts, &text);
}

static void check(struct rti_record_text found, const char *expected, size_t length)
{
	ck_assert_uint_eq(found.len, length);
	ck_assert_uint_le(found.at + found.len, texts.used);
	if (length)
		ck_assert_mem_eq(texts.bytes + found.at, expected, length);
}

#define CHECK(found, expected) check(found, expected, sizeof(expected) - 1)

START_TEST(command_line_and_directory_are_found_by_number)
{
	struct rti_bpf_text text;

	KEEP(1, RTI_TEXT_HAS_CWD, "ls\0-l", "src\0home\0");
	KEEP(2, RTI_TEXT_HAS_CWD | RTI_TEXT_CUT, "make", "");
	text = rti_bpf_texts_find(&texts, 1);
	CHECK(text.command, "ls\0-l");
	CHECK(text.cwd, "/home/src");
	ck_assert(!text.is_cut);
	text = rti_bpf_texts_find(&texts, 2);
	CHECK(text.command, "make");
	CHECK(text.cwd, "/");
	ck_assert(text.is_cut);
}
END_TEST

START_TEST(number_that_did_not_come_has_no_text)
{
	struct rti_bpf_text text;

	KEEP(3, RTI_TEXT_HAS_CWD, "late", "");
	for (uint32_t number = 0; number <= 4; number++) {
		text = rti_bpf_texts_find(&texts, number);
		ck_assert_uint_eq(text.command.len, number == 3 ? 4 : 0);
		ck_assert_uint_eq(text.cwd.len, number == 3 ? 1 : 0);
	}
	KEEP(2, RTI_TEXT_HAS_CWD, "later", ""); /* of another CPU */
	text = rti_bpf_texts_find(&texts, 2);
	CHECK(text.command, "later");
	text = rti_bpf_texts_find(&texts, 3);
	CHECK(text.command, "late");
}
END_TEST

START_TEST(what_is_not_known_is_empty)
{
	struct rti_bpf_text text;

	KEEP(1, 0, "", "");
	text = rti_bpf_texts_find(&texts, 1);
	ck_assert_uint_eq(text.command.len, 0);
	ck_assert_uint_eq(text.cwd.len, 0);
	ck_assert(!text.is_cut);
}
END_TEST

START_TEST(removed_directory_is_marked_as_the_kernel_does)
{
	KEEP(1, RTI_TEXT_HAS_CWD | RTI_TEXT_CWD_DELETED, "ls", "gone\0tmp\0");
	CHECK(rti_bpf_texts_find(&texts, 1).cwd, "/tmp/gone (deleted)");
}
END_TEST

START_TEST(directory_of_many_texts_is_kept_once)
{
	struct rti_record_text first;

	KEEP(1, RTI_TEXT_HAS_CWD, "a", "tmp\0");
	first = rti_bpf_texts_find(&texts, 1).cwd;
	KEEP(2, RTI_TEXT_HAS_CWD, "b", "tmp\0");
	ck_assert_uint_eq(rti_bpf_texts_find(&texts, 2).cwd.at, first.at);
	ck_assert_uint_eq(texts.used, strlen("a/tmpb"));
	KEEP(3, RTI_TEXT_HAS_CWD, "c", "tmq\0");
	CHECK(rti_bpf_texts_find(&texts, 3).cwd, "/tmq");
}
END_TEST

/* The longest path is a part of a name each. */
START_TEST(longest_texts_are_kept)
{
	static char command[RTI_ACCOUNT_COMMAND_MAX], parts[RTI_ACCOUNT_CWD_MAX];
	struct rti_bpf_text text;

	memset(command, 'c', sizeof(command));
	for (size_t i = 0; i < sizeof(parts); i += 2)
		parts[i] = 'd';
	keep(1, RTI_TEXT_HAS_CWD | RTI_TEXT_CWD_DELETED, command, sizeof(command), parts,
	     sizeof(parts));
	text = rti_bpf_texts_find(&texts, 1);
	check(text.command, command, sizeof(command));
	ck_assert_uint_eq(text.cwd.len, sizeof(parts) + strlen(" (deleted)"));
	ck_assert_mem_eq(texts.bytes + text.cwd.at, "/d/d/d", 6);
}
END_TEST

START_TEST(text_beyond_the_room_of_all_is_empty_and_cut)
{
	static char command[RTI_ACCOUNT_COMMAND_MAX];
	const uint32_t fit = RTI_TEXT_BYTES_MAX / sizeof(command);
	struct rti_bpf_text text;

	for (uint32_t number = 1; number <= fit + 1; number++)
		keep(number, 0, command, sizeof(command), "", 0);
	text = rti_bpf_texts_find(&texts, fit);
	ck_assert_uint_eq(text.command.len, sizeof(command));
	ck_assert(!text.is_cut);
	text = rti_bpf_texts_find(&texts, fit + 1);
	ck_assert_uint_eq(text.command.len, 0);
	ck_assert(text.is_cut);
}
END_TEST

START_TEST(released_bytes_belong_to_the_caller)
{
	char *bytes;

	KEEP(1, 0, "ls", "");
	bytes = rti_bpf_texts_release(&texts);
	ck_assert_mem_eq(bytes, "ls", 2);
	ck_assert_uint_eq(rti_bpf_texts_find(&texts, 1).command.len, 2);
	ck_assert_ptr_null(rti_bpf_texts_release(&texts));
	free(bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bpf_texts");
	TCase *tc = suite_case(suite, "bpf_texts");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, command_line_and_directory_are_found_by_number);
	tcase_add_test(tc, number_that_did_not_come_has_no_text);
	tcase_add_test(tc, what_is_not_known_is_empty);
	tcase_add_test(tc, removed_directory_is_marked_as_the_kernel_does);
	tcase_add_test(tc, directory_of_many_texts_is_kept_once);
	tcase_add_test(tc, longest_texts_are_kept);
	tcase_add_test(tc, text_beyond_the_room_of_all_is_empty_and_cut);
	tcase_add_test(tc, released_bytes_belong_to_the_caller);
	return suite_run(suite);
}
