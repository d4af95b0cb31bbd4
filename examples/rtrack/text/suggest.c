/* SPDX-License-Identifier: MIT */
/* What the user may have meant by an unknown word. */
#include "suggest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* What follows the first difference must be equal, with one character left out on either side or
 * both, or with two swapped. */
bool is_near(const char *word, const char *other)
{
	while (*word && *word == *other) {
		word++;
		other++;
	}
	if (*word && strcmp(word + 1, other) == 0)
		return true;
	if (!*other)
		return false;
	if (strcmp(word, other + 1) == 0)
		return true;
	if (!*word)
		return false;
	return strcmp(word + 1, other + 1) == 0 ||
	       (word[1] && word[0] == other[1] && word[1] == other[0] &&
	        strcmp(word + 2, other + 2) == 0);
}

/* Distances, from near to far. The characters that are missing are added. */
enum {
	DISTANCE_NEAR = 1,
	DISTANCE_OTHER_WORD = 10,
	DISTANCE_FIRST_PART = 100,
	DISTANCE_INNER_PART = 200,
	DISTANCE_BEGINNING = 300,
	DISTANCE_OTHER_UNIT = 400,
	PART_BYTES_MIN = 3,
};

/* Words that no name has. A series has one of the names, or a template. The first one is meant. */
static const struct {
	const char *word, *name;
} other_words[] = {
	{ "memory", "memory_used_bytes" }, { "memory", "cgroup_memory_bytes" },
	{ "memory", "footprint_bytes" },   { "memory", "peak_footprint_bytes" },
	{ "mem", "memory_used_bytes" },    { "mem", "cgroup_memory_bytes" },
	{ "mem", "footprint_bytes" },      { "mem", "peak_footprint_bytes" },
	{ "time", "timestamp" },           { "time", "wall_seconds" },
	{ "elapsed", "wall_seconds" },     { "maxrss", "peak_rss_bytes" },
	{ "cpu", "cpu_seconds" },          { "cpu_percent", "cores_used" },
	{ "user", "cpu_user_seconds" },    { "system", "cpu_system_seconds" },
	{ "sys", "cpu_system_seconds" },   { "peak", "peak_footprint_bytes" },
	{ "disk", "disk_read_bytes" },     { "net", "network_receive_bytes" },
};

/* Returns the distance of a name from a word that is a part of it, or SIZE_MAX. */
static size_t part_distance(const char *word, const char *name)
{
	size_t len = strlen(word), missing = strlen(name) - len;
	const char *at = strstr(name, word);
	bool begins = at == name;

	while (at && ((at > name && at[-1] != '_') || (at[len] && at[len] != '_')))
		at = strstr(at + 1, word);
	if (at == name)
		return DISTANCE_FIRST_PART + missing;
	if (at)
		return DISTANCE_INNER_PART + missing;
	return begins ? DISTANCE_BEGINNING + missing : SIZE_MAX;
}

static size_t distance_of(const char *word, const char *name)
{
	if (is_near(word, name))
		return DISTANCE_NEAR;
	for (size_t i = 0; i < sizeof(other_words) / sizeof(other_words[0]); i++) {
		if (strcmp(other_words[i].word, word) == 0 &&
		    strcmp(other_words[i].name, name) == 0)
			return DISTANCE_OTHER_WORD + i;
	}
	return strlen(word) < PART_BYTES_MIN ? SIZE_MAX : part_distance(word, name);
}

void suggest_closer(struct suggestion *best, const char *word, const char *name)
{
	size_t distance = distance_of(word, name);
	char part[sizeof(best->name)];
	char *unit;

	snprintf(part, sizeof(part), "%s", word);
	unit = strrchr(part, '_');
	if (distance == SIZE_MAX && unit) {
		*unit = '\0';
		distance = distance_of(part, name);
		if (distance != SIZE_MAX)
			distance += DISTANCE_OTHER_UNIT;
	}
	if (distance == SIZE_MAX || (best->name[0] && best->distance <= distance))
		return;
	best->distance = distance;
	snprintf(best->name, sizeof(best->name), "%s", name);
}
