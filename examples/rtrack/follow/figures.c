/* SPDX-License-Identifier: MIT */
/* Names of the library's bits and constants: domains, reasons, accounting methods, sources. */
#include "figures.h"

#include <stdbool.h>
#include <string.h>

#include "text/json.h"

struct marks metrics_marks(const struct rt_metrics *m)
{
	return (struct marks){ m->valid, m->partial, m->estimated };
}

struct marks delta_marks(const struct rt_delta *d)
{
	return (struct marks){ d->valid, d->partial, d->estimated };
}

struct marks marks_replaced(struct marks marks, struct marks other, uint64_t bits)
{
	return (struct marks){
		(marks.valid & ~bits) | (other.valid & bits),
		(marks.partial & ~bits) | (other.partial & bits),
		(marks.estimated & ~bits) | (other.estimated & bits),
	};
}

bool is_known(struct marks marks, uint64_t bits)
{
	return ((marks.valid | marks.partial | marks.estimated) & bits) == bits;
}

bool is_informative(struct marks marks, uint64_t bits, uint64_t figure)
{
	return (marks.valid & bits) == bits || (figure > 0 && is_known(marks, bits));
}

/* E.g.: RT_HAS_GPU_MEMORY is "gpu_memory". */
static void set_name(struct named_bit *bit, const char *constant)
{
	const char *from = constant + strlen("RT_"); /* HAS_, REASON_ */
	size_t len = 0;

	if (strcmp(constant, "RT_HAS_CTXSW") == 0)
		from = "_CONTEXT_SWITCHES";
	for (from = strchr(from, '_') + 1; *from; from++)
		bit->name[len++] = (char)(*from >= 'A' && *from <= 'Z' ? *from - 'A' + 'a' : *from);
	bit->name[len] = '\0';
}

bool next_bit(uint32_t group, uint32_t *index, struct named_bit *bit)
{
	struct rt_constant constant;

	do {
		if (rt_constant_get((*index)++, &constant, sizeof(constant)) < 0)
			return false;
	} while (constant.group != group);
	bit->bit = (uint64_t)constant.value;
	set_name(bit, constant.name);
	memcpy(bit->about, constant.text, sizeof(bit->about));
	return true;
}

const char *accounting_name(uint32_t accounting)
{
	static const char *const names[] = {
		[RT_ACCOUNTING_AUTO] = "auto",      [RT_ACCOUNTING_POLL] = "poll",
		[RT_ACCOUNTING_WAIT] = "wait",      [RT_ACCOUNTING_CGROUP] = "cgroup",
		[RT_ACCOUNTING_WAIT_PERF] = "wait", /* as which it acts */
		[RT_ACCOUNTING_BPF] = "bpf",
	};

	return accounting < sizeof(names) / sizeof(names[0]) ? names[accounting] : NULL;
}

const char *pss_source_name(uint32_t pss_source)
{
	static const char *const names[] = {
		[RT_PSS_READ] = "read",
		[RT_PSS_CACHED] = "cached",
		[RT_PSS_ESTIMATED] = "estimated",
	};

	return pss_source < sizeof(names) / sizeof(names[0]) ? names[pss_source] : NULL;
}

const char *source_name(uint32_t source)
{
	static const char *const names[] = {
		[RT_SOURCE_PROC] = "proc",
		[RT_SOURCE_BPF] = "bpf",
		[RT_SOURCE_BPF_ACCOUNT] = "bpf-account",
	};

	return source < sizeof(names) / sizeof(names[0]) ? names[source] : NULL;
}

void text_bits(struct text *t, uint32_t group, uint64_t bits, const char *gap)
{
	struct named_bit bit;
	bool has_some = false;

	for (uint32_t i = 0; bits && next_bit(group, &i, &bit);) {
		if (!(bits & bit.bit))
			continue;
		text_add(t, has_some ? gap : "");
		text_add(t, bit.name);
		has_some = true;
	}
}

void json_bits(struct text *t, uint32_t group, const char *key, uint64_t bits)
{
	struct named_bit bit;

	json_begin(t, key, '[');
	for (uint32_t i = 0; bits && next_bit(group, &i, &bit);) {
		if (bits & bit.bit)
			json_string(t, NULL, bit.name);
	}
	json_end(t, ']');
}
