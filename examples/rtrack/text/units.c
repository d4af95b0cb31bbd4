/* SPDX-License-Identifier: MIT */
/* Parses durations, sizes and counts, and formats amounts for people to read. */
#include "units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *name;
	double ns;
} time_units[] = {
	{ "", 1e9 },   { "s", 1e9 },    { "ms", 1e6 },   { "us", 1e3 },    { "ns", 1 },
	{ "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 },
};

/* Parse the digits that s begins with. strtod() alone would accept "inf", "0x10" and " 1". Returns
 * where they end, or NULL. */
static const char *parse_number(const char *s, double *value)
{
	size_t digits = strspn(s, "0123456789.");
	char *end;

	*value = strtod(s, &end);
	return digits == 0 || end != s + digits ? NULL : end;
}

int parse_duration(const char *s, int64_t *ns)
{
	size_t count = sizeof(time_units) / sizeof(time_units[0]);
	double value;
	const char *end = parse_number(s, &value);

	if (!end)
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(end, time_units[i].name) != 0)
			continue;
		value *= time_units[i].ns;
		if (value < 1 || value > 9e18)
			return -ERANGE;
		*ns = (int64_t)(value + 0.5);
		return 0;
	}
	return -EINVAL;
}

/* Get what the unit of a size multiplies. Returns 0 or -EINVAL. */
static int parse_size_unit(const char *s, double *factor)
{
	static const char letters[] = "kmgtp";
	const char *letter;
	double base = 1024;

	*factor = 1;
	if (strcasecmp(s, "") == 0 || strcasecmp(s, "b") == 0)
		return 0;
	letter = strchr(letters, *s | ('a' ^ 'A'));
	if (!letter)
		return -EINVAL;
	if (strcasecmp(s + 1, "b") == 0)
		base = 1000;
	else if (s[1] && strcasecmp(s + 1, "ib") != 0)
		return -EINVAL;
	for (const char *l = letters; l <= letter; l++)
		*factor *= base;
	return 0;
}

int parse_size(const char *s, uint64_t *bytes)
{
	double value, factor;
	const char *unit = parse_number(s, &value);

	if (!unit || parse_size_unit(unit, &factor) < 0)
		return -EINVAL;
	value *= factor;
	/* Half a byte is a unit that was forgotten. E.g.: "1.5". */
	if (value < 1 || value > 9e18 || (factor == 1 && value != (double)(uint64_t)value))
		return -EINVAL;
	*bytes = (uint64_t)(value + 0.5);
	return 0;
}

int parse_count(const char *s, uint64_t limit, uint64_t *out)
{
	uint64_t value = 0;

	if (!*s || strspn(s, "0123456789") != strlen(s))
		return -EINVAL;
	for (; *s; s++) {
		if (value > (limit - (uint64_t)(*s - '0')) / 10)
			return -ERANGE;
		value = value * 10 + (uint64_t)(*s - '0');
	}
	*out = value;
	return value > 0 ? 0 : -ERANGE;
}

double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

struct amount human_bytes(uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	struct amount out = { .is_zero = bytes == 0 };
	double value = (double)bytes;
	size_t unit = 0;

	/* 1023.95 would be shown as 1024.0 in the smaller unit. */
	while (value >= 1023.95 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	snprintf(out.s, sizeof(out.s), "%.*f %s", unit ? 1 : 0, value, units[unit]);
	return out;
}

struct amount human_time(uint64_t ns)
{
	struct amount out = { .is_zero = ns == 0 };
	uint64_t s = ns / (uint64_t)NS_PER_S;

	if (s < 60)
		snprintf(out.s, sizeof(out.s), "%.*f s", s < 1 ? 3 : 2, seconds(ns));
	else if (s < 3600)
		snprintf(out.s, sizeof(out.s), "%" PRIu64 ":%02u min", s / 60, (unsigned)(s % 60));
	else
		snprintf(out.s, sizeof(out.s), "%" PRIu64 ":%02u:%02u h", s / 3600,
		         (unsigned)(s / 60 % 60), (unsigned)(s % 60));
	return out;
}

struct amount human_count(uint64_t n)
{
	struct amount out = { .is_zero = n == 0 };
	char digits[24];
	size_t len, at = 0;

	len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, n);
	/* With more than 15 digits the separators would not fit. */
	for (size_t i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0 && len <= 15)
			out.s[at++] = ',';
		out.s[at++] = digits[i];
	}
	out.s[at] = '\0';
	return out;
}
