/* SPDX-License-Identifier: MIT */
/* A locale with a decimal comma changes neither how the library parses nor what it returns. */
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "fixture.h"
#include "suite.h"

/* Switch to a locale with a decimal comma. Returns false if this system has none. */
static bool set_comma_locale(void)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8",
		                             "es_ES.UTF-8" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (setlocale(LC_ALL, names[i]) && strcmp(localeconv()->decimal_point, ",") == 0)
			return true;
	}
	return false;
}

START_TEST(sample_in_comma_locale_parses_decimal_points)
{
	struct fixture f;
	struct rt_opts o = { .size = sizeof(o),
		             .root = f.root,
		             .want = RT_HAS_LOAD | RT_HAS_THREADS };
	struct rt_tracker *t;
	struct rt_metrics m;
	char text[8];

	snprintf(text, sizeof(text), "%.1f", 0.5);
	ck_assert_str_eq(text, "0,5");
	fixture_new(&f);
	fixture_write(&f, "proc/loadavg", "0.25 11.50 2.75 3/456 7890\n");

	ck_assert_int_eq(rt_system_tracker_new(&t, &o), 0);
	ck_assert_int_eq(rt_sample(t, &m, sizeof(m)), 0);

	ck_assert_uint_eq(m.valid & RT_HAS_LOAD, RT_HAS_LOAD);
	ck_assert_double_eq(m.load_1m, 0.25);
	ck_assert_double_eq(m.load_5m, 11.5);
	ck_assert_double_eq(m.load_15m, 2.75);
	rt_tracker_free(t);
	fixture_free(&f);
}
END_TEST

START_TEST(strerror_in_comma_locale_is_the_same)
{
	char in_locale[128];

	snprintf(in_locale, sizeof(in_locale), "%s", rt_strerror(-2));
	setlocale(LC_ALL, "C");
	ck_assert_str_eq(in_locale, rt_strerror(-2));
}
END_TEST

int main(void)
{
	Suite *suite;
	TCase *tcase;

	if (!set_comma_locale())
		return suite_skip("this system has no locale with a decimal comma");
	suite = suite_create("locale");
	tcase = suite_case(suite, "comma locale");
	tcase_add_test(tcase, sample_in_comma_locale_parses_decimal_points);
	tcase_add_test(tcase, strerror_in_comma_locale_is_the_same);
	return suite_run(suite);
}
