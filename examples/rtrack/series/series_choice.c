/* SPDX-License-Identifier: MIT */
/* Which columns a series has, and in which order. */
#include "series_choice.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The default of the CSV. Counters are differences: their sum over the rows is the total. A name
 * that begins with '?' is left out if the first row does not know it. */
static const char tree_names[] =
    "timestamp,interval_seconds,pid,cores_used,d_cpu_user_seconds,d_cpu_system_seconds,"
    "footprint_bytes,needed_bytes,rss_bytes,peak_tree_bytes,d_read_bytes,d_write_bytes,"
    "d_minor_faults,d_major_faults,d_voluntary_switches,d_involuntary_switches,processes,threads,"
    "?gpus_busy,?gpus_used,?gpu_memory_bytes,partial,estimated";
/* The kernel's own account first. */
static const char cgroup_names[] =
    "timestamp,interval_seconds,cgroup,?pid,cores_used,d_cpu_user_seconds,d_cpu_system_seconds,"
    "cgroup_memory_bytes,cgroup_memory_anon_bytes,cgroup_memory_file_bytes,"
    "cgroup_memory_shmem_bytes,cgroup_memory_kernel_bytes,cgroup_swap_bytes,"
    "cgroup_memory_peak_bytes,cgroup_memory_limit_bytes,cgroup_memory_high_bytes,"
    "d_cgroup_memory_high_events,d_cgroup_memory_max_events,d_cgroup_memory_oom_events,"
    "d_cgroup_oom_kills,footprint_bytes,needed_bytes,rss_bytes,peak_tree_bytes,d_cgroup_read_bytes,"
    "d_cgroup_write_bytes,d_read_bytes,d_write_bytes,d_minor_faults,d_major_faults,processes,"
    "threads,cgroup_tasks,cgroup_tasks_limit,cgroup_cpu_limit_millicores,d_cgroup_cpu_periods,"
    "d_cgroup_cpu_throttled_periods,d_cgroup_cpu_throttled_seconds,d_pressure_cpu_some_seconds,"
    "d_pressure_memory_some_seconds,d_pressure_memory_full_seconds,d_pressure_io_some_seconds,"
    "d_pressure_io_full_seconds,?gpus_busy,?gpus_used,?gpu_memory_bytes,partial,estimated";
/* The kernel's counters of one process, and how much of them is new. */
#define MEMBER_NAMES                                                                               \
	"pid,ppid,start_timestamp,name,state,cores_used,cpu_seconds,d_cpu_user_seconds,"           \
	"d_cpu_system_seconds,rss_bytes,peak_rss_bytes,d_read_bytes,d_write_bytes,"                \
	"d_minor_faults,d_major_faults,d_voluntary_switches,d_involuntary_switches,threads,"       \
	"partial,estimated"
static const char member_names[] = "timestamp,interval_seconds,root_pid," MEMBER_NAMES;
static const char cgroup_member_names[] =
    "timestamp,interval_seconds,cgroup,?root_pid," MEMBER_NAMES;
static const char system_names[] =
    "timestamp,interval_seconds,cores_used,d_cpu_user_seconds,d_cpu_system_seconds,"
    "d_cpu_mode_iowait_seconds,d_cpu_mode_steal_seconds,memory_total_bytes,memory_used_bytes,"
    "memory_available_bytes,memory_free_bytes,memory_buffers_bytes,memory_cached_bytes,"
    "swap_used_bytes,d_disk_read_bytes,d_disk_write_bytes,filesystem_total_bytes,"
    "filesystem_used_bytes,filesystem_available_bytes,d_network_receive_bytes,"
    "d_network_transmit_bytes,processes,threads,load_1m,?hugepages_total_bytes,"
    "?hugepages_free_bytes,?zfs_arc_bytes,?zfs_arc_min_bytes,?d_cgroup_cpu_seconds,"
    "?cgroup_cpu_limit_millicores,?cgroup_memory_bytes,?cgroup_memory_limit_bytes,?gpus_busy,"
    "?gpus_used,?gpu_memory_bytes,?d_gpu_energy_uj,partial,estimated";

static size_t name_length(const char *names)
{
	return strcspn(names, ",");
}

/* Returns the name after this one, or NULL. */
static const char *next_name(const char *name)
{
	name += name_length(name);
	return *name ? name + 1 : NULL;
}

const char *columns_find_unknown(const char *names, uint32_t kind, size_t *len)
{
	struct columns all;

	*len = 0;
	if (columns_all(&all, kind) < 0)
		return NULL;
	for (; names; names = next_name(names)) {
		*len = name_length(names);
		if (!columns_find(&all, names, *len))
			break;
	}
	columns_free(&all);
	return names;
}

void columns_find_closest(const char *name, size_t len, uint32_t kind, struct suggestion *out)
{
	struct columns all;
	char word[sizeof(out->name)];

	*out = (struct suggestion){ 0 };
	snprintf(word, sizeof(word), "%.*s", len < sizeof(word) ? (int)len : 0, name);
	if (!*word || columns_all(&all, kind) < 0)
		return;
	for (size_t i = 0; i < all.count; i++)
		suggest_closer(out, word, all.at[i].name);
	columns_free(&all);
}

/* Copy the columns with these names. Names that the library does not have are an error, unless they
 * may be left out. E.g.: an older library knows no figures of GPUs. */
static int copy_named(struct columns *c, const struct columns *all, const char *names)
{
	for (; names; names = next_name(names)) {
		bool is_optional = *names == '?';
		size_t len = name_length(names) - is_optional;
		const struct column *column = columns_find(all, names + is_optional, len);

		if (!column && is_optional)
			continue;
		if (!column)
			return -EINVAL;
		c->at[c->count] = *column;
		c->at[c->count++].is_optional = is_optional;
	}
	return 0;
}

static size_t count_names(const char *names)
{
	size_t count = 0;

	for (; names; names = next_name(names))
		count++;
	return count;
}

int columns_choose(struct columns *c, const char *names, uint32_t kind)
{
	struct columns all;
	int err = columns_all(&all, kind);

	if (err < 0)
		return err;
	*c = (struct columns){ .kind = kind };
	c->at = calloc(count_names(names), sizeof(*c->at));
	err = c->at ? copy_named(c, &all, names) : -ENOMEM;
	columns_free(&all);
	if (err < 0)
		columns_free(c);
	return err;
}

int columns_choose_csv(struct columns *c, uint32_t kind)
{
	const char *names = tree_names;

	switch (kind) {
	case RT_KIND_SYSTEM:
		names = system_names;
		break;
	case RT_KIND_CGROUP:
		names = cgroup_names;
		break;
	case KIND_MEMBERS:
		names = member_names;
		break;
	case KIND_CGROUP_MEMBERS:
		names = cgroup_member_names;
		break;
	}
	return columns_choose(c, names, kind);
}

int columns_choose_usual(struct columns *c, uint32_t kind)
{
	size_t kept = 0;
	int err = columns_all(c, kind);

	if (err < 0)
		return err;
	for (size_t i = 0; i < c->count; i++) {
		if (c->at[i].is_usual)
			c->at[kept++] = c->at[i];
	}
	c->count = kept;
	return 0;
}

/* Most systems have no huge pages, and no pool of ZFS even where its module is loaded. */
static bool is_in_use(const struct rt_metrics *m, uint64_t has)
{
	return !(has == RT_HAS_HUGEPAGES && m->hugepages_total_bytes == 0) &&
	       !(has == RT_HAS_ZFS_ARC && m->zfs_arc_bytes == 0);
}

/* The sample decides, since the first one has no difference yet. */
static bool has_figure(const struct row *row, const struct column *column)
{
	const struct rt_metrics *m = row_sample(row);

	if (!column->has)
		return column_value(column, row).type != VALUE_UNKNOWN;
	return is_known(metrics_marks(m), column->has) && is_in_use(m, column->has);
}

void columns_leave_out(struct columns *c, const struct row *first)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct column *column = &c->at[i];

		if (!column->is_optional || (first && has_figure(first, column)))
			c->at[kept++] = *column;
	}
	c->count = kept;
}
