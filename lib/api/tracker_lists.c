/* SPDX-License-Identifier: MIT */
/* The lists of a tracker: what its last sample has of CPUs, disks, processes and so on. */
#include <errno.h>
#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "api/struct_size.h"
#include "api/tracker.h"
#include "collect/process_row.h"
#include "util/visit.h"

/* What is listed: elements that were read by the last sample. */
struct list {
	uint64_t has;             /* domains, each of which brings the list */
	size_t v1_size, row_size; /* of an element: in its first version, and now */
	int (*find)(const struct rt_tracker *t, uint64_t has, const void **rows, size_t *count);
};

/* Whether the last sample has one of these domains. */
static bool is_known(const struct rt_tracker *t, uint64_t has)
{
	return t->samples && (t->last.valid | t->last.partial | t->last.estimated) & has;
}

static int find_rows(const struct rt_tracker *t, uint64_t has, const void **rows, size_t *count)
{
	if (!is_known(t, has))
		return -ENODATA;
	*rows = rti_system_rows(&t->system, has, count);
	return 0;
}

/* A tree that has no GPU open has an empty list. A GPU of the system is listed even if none of its
 * figures is known. */
static int find_gpus(const struct rt_tracker *t, uint64_t has, const void **rows, size_t *count)
{
	if (t->kind == RT_KIND_PID) {
		*rows = rti_tree_gpus(t->tree, count);
		return is_known(t, has) ? 0 : -ENODATA;
	}
	*rows = rti_system_rows(&t->system, has, count);
	return t->samples && *count > 0 ? 0 : -ENODATA;
}

static int find_gpu_processes(const struct rt_tracker *t, uint64_t has, const void **rows,
                              size_t *count)
{
	if (t->kind == RT_KIND_PID) {
		*rows = rti_tree_gpu_processes(t->tree, count);
		return is_known(t, has) ? 0 : -ENODATA;
	}
	return t->samples && rti_system_processes(&t->system, has, rows, count) == 0 ? 0 : -ENODATA;
}

static const struct list cpus = { RT_HAS_CPU_MODES, RTI_CPU_V1, sizeof(struct rt_cpu), find_rows };
static const struct list disks = { RT_HAS_DISK, RTI_DISK_V1, sizeof(struct rt_disk), find_rows };
static const struct list filesystems = { RT_HAS_FILESYSTEM, RTI_FILESYSTEM_V1,
	                                 sizeof(struct rt_filesystem), find_rows };
static const struct list networks = { RT_HAS_NETWORK, RTI_NETWORK_V1, sizeof(struct rt_network),
	                              find_rows };
static const struct list zpools = { RT_HAS_ZFS, RTI_ZPOOL_V1, sizeof(struct rt_zpool), find_rows };
static const struct list gpus = { RT_HAS_GPU | RT_HAS_GPU_MEMORY | RT_HAS_GPU_ENERGY, RTI_GPU_V1,
	                          sizeof(struct rt_gpu), find_gpus };
static const struct list gpu_processes = { RT_HAS_GPU | RT_HAS_GPU_MEMORY, RTI_GPU_PROCESS_V1,
	                                   sizeof(struct rt_gpu_process), find_gpu_processes };

static int check_list(const struct rt_tracker *t, uint64_t has, const void *array,
                      size_t element_size, size_t v1_size, const size_t *count)
{
	if (!t || !count || (!array && *count))
		return -EFAULT;
	if (rti_struct_check_size(element_size, v1_size) < 0)
		return -EINVAL;
	return t->want & has ? 0 : -EOPNOTSUPP;
}

/* Copy as many elements as fit into the array. *count becomes the number that there are. */
static int copy_list(const struct rt_tracker *t, const struct list *list, void *array,
                     size_t element_size, size_t *count)
{
	int err = check_list(t, list->has, array, element_size, list->v1_size, count);
	const void *rows;
	size_t there;

	if (err == 0)
		err = rti_tracker_take(t);
	if (err < 0)
		return err;
	err = list->find(t, list->has, &rows, &there);
	for (size_t i = 0; err == 0 && i < there && i < *count; i++)
		rti_struct_copy_out((char *)array + i * element_size, element_size,
		                    (const char *)rows + i * list->row_size, list->row_size);
	if (err == 0)
		*count = there;
	rti_lock_release(t->lock);
	return err;
}

int rt_tracker_cpus(const struct rt_tracker *t, struct rt_cpu *array, size_t element_size,
                    size_t *count)
{
	return copy_list(t, &cpus, array, element_size, count);
}

int rt_tracker_disks(const struct rt_tracker *t, struct rt_disk *array, size_t element_size,
                     size_t *count)
{
	return copy_list(t, &disks, array, element_size, count);
}

int rt_tracker_filesystems(const struct rt_tracker *t, struct rt_filesystem *array,
                           size_t element_size, size_t *count)
{
	return copy_list(t, &filesystems, array, element_size, count);
}

int rt_tracker_networks(const struct rt_tracker *t, struct rt_network *array, size_t element_size,
                        size_t *count)
{
	return copy_list(t, &networks, array, element_size, count);
}

int rt_tracker_zpools(const struct rt_tracker *t, struct rt_zpool *array, size_t element_size,
                      size_t *count)
{
	return copy_list(t, &zpools, array, element_size, count);
}

int rt_tracker_gpus(const struct rt_tracker *t, struct rt_gpu *array, size_t element_size,
                    size_t *count)
{
	return copy_list(t, &gpus, array, element_size, count);
}

int rt_tracker_gpu_processes(const struct rt_tracker *t, struct rt_gpu_process *array,
                             size_t element_size, size_t *count)
{
	return copy_list(t, &gpu_processes, array, element_size, count);
}

struct process_rows {
	const struct rt_tracker *tracker;
	char *array;
	size_t element_size, room, written;
};

static int copy_process_out(void *arg, const struct rt_process *row)
{
	struct process_rows *rows = arg;
	struct rt_process out = *row;

	if (rows->written == rows->room)
		return RTI_STOP;
	rti_process_row_set_start(rows->tracker->boot_ns, rows->tracker->platform.tick_ns, &out);
	rti_struct_copy_out(rows->array + rows->written * rows->element_size, rows->element_size,
	                    &out, sizeof(out));
	rows->written++;
	return RTI_CONTINUE;
}

/* A cgroup has no list of members if nothing of them is wanted. */
static int copy_processes(const struct rt_tracker *t, struct process_rows *rows, size_t *count)
{
	struct rti_tree *tree = rti_tracker_tree(t);

	if (!tree)
		return -EOPNOTSUPP;
	if (!is_known(t, t->want))
		return -ENODATA;
	*count = rti_tree_count(tree);
	rti_tree_each_sampled(tree, copy_process_out, rows);
	return 0;
}

int rt_tracker_processes(const struct rt_tracker *t, struct rt_process *array, size_t element_size,
                         size_t *count)
{
	int err = check_list(t, UINT64_MAX, array, element_size, RTI_PROCESS_V1, count);
	struct process_rows rows = { .tracker = t,
		                     .array = (char *)array,
		                     .element_size = element_size };

	if (err == 0)
		err = rti_tracker_take(t);
	if (err < 0)
		return err;
	rows.room = *count;
	err = copy_processes(t, &rows, count);
	rti_lock_release(t->lock);
	return err;
}
