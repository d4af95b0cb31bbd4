/* SPDX-License-Identifier: MIT */
/* I/O of block devices, from /proc/diskstats, and their kind, from /sys/class/block.
 *
 * The total counts every byte once, at the base devices. These are real devices (with `device` in
 * /sys) that are not partitions and not built from others (`slaves`). If there is no real device,
 * e.g. with the root on nbd, they are whole devices that are not built from others, from memory or
 * from files.
 *
 * If /sys does not have a device, as in some containers, its name decides. A name that is another
 * device's name and a number is a partition of that device. loop, ram, zram, dm and md are
 * virtual. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "collect/block_device.h"
#include "collect/collector.h"
#include "collect/device_table.h"
#include "collect/rows.h"
#include "os/procfs.h"
#include "parse/scan.h"
#include "util/visit.h"

/* For all hardware: Documentation/admin-guide/iostats.rst */
#define SECTOR_BYTES 512

enum counter { READ_SECTORS, WRITE_SECTORS, READS, WRITES, BUSY_MS };

/* rti_device.traits */
#define TRAIT_REAL (UINT32_C(1) << 0)      /* hardware */
#define TRAIT_COMPOSITE (UINT32_C(1) << 1) /* built from devices, memory or files */
#define TRAIT_NVME_HEAD (UINT32_C(1) << 2) /* multipath device of hidden paths */
#define TRAIT_NVME_PATH (UINT32_C(1) << 3) /* hidden path to an NVMe head */
#define TRAIT_BY_NAME (UINT32_C(1) << 4)   /* not in /sys, so known by name only */

struct state {
	struct rti_proc_file file;
	struct rti_device_table devices;
	struct rti_rows rows;
};

static int disk_open(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	st->file = (struct rti_proc_file)RTI_PROC_FILE_INIT;
	/* The kernel corrects no counter of a disk. One that falls is that of another medium. */
	for (size_t i = 0; i < RTI_DEVICE_COUNTERS; i++)
		st->devices.falls[i] = RTI_FALL_RESTART;
	for (size_t i = 0; i <= BUSY_MS; i++)
		if (i == BUSY_MS || ctx->platform->has_32_bit_kernel)
			st->devices.falls[i] |= RTI_FALL_WRAP;
	return 0;
}

static int update_disk(void *arg, const struct rti_diskstat *disk)
{
	struct state *st = arg;
	struct rti_device *device;
	int err = rti_device_table_find(&st->devices, disk->name,
	                                (uint64_t)disk->major << 32 | disk->minor, &device);

	if (err < 0)
		return err;
	device->now[READ_SECTORS] = disk->read_sectors;
	device->now[WRITE_SECTORS] = disk->write_sectors;
	device->now[READS] = disk->reads;
	device->now[WRITES] = disk->writes;
	device->now[BUSY_MS] = disk->busy_ms;
	device->gauge = disk->in_flight;
	return RTI_CONTINUE;
}

static bool has_file(const struct rti_procfs *procfs, const char *name, const char *file)
{
	return rti_block_device_access(procfs, name, file) == 0;
}

static int stop_at_first(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return RTI_STOP;
}

/* The NVMe device that combines several paths belongs to the subsystem, not to a controller. Older
 * kernels count nothing for it. Newer ones count what its paths already count. */
static bool is_nvme_head(const struct rti_procfs *procfs, const char *name)
{
	struct rti_path path = rti_class_path("block", name, "device");
	char target[256];

	return rti_procfs_readlink(procfs, RTI_SYS, path.text, target, sizeof(target)) > 0 &&
	       strstr(target, "/nvme-subsys") != NULL;
}

/* E.g.: "nvme0c1n2" is subsystem 0, controller 1, name space 2. */
static bool is_nvme_path(const char *name)
{
	struct rti_scan scan = rti_scan(name, strlen(name));
	uint64_t number;

	return rti_scan_literal(&scan, "nvme") && rti_scan_u64(&scan, &number) &&
	       rti_scan_literal(&scan, "c") && rti_scan_u64(&scan, &number) &&
	       rti_scan_literal(&scan, "n") && rti_scan_u64(&scan, &number);
}

static void classify(struct rti_device *device, const struct rti_procfs *procfs)
{
	static const char *const composites[] = { "loop", "ram", "zram", "dm-", "md" };
	const char *name = device->name;
	struct rti_path slaves = rti_class_path("block", name, "slaves");

	device->flags = 0;
	device->traits = 0;
	for (size_t i = 0; i < sizeof(composites) / sizeof(composites[0]); i++)
		if (strncmp(name, composites[i], strlen(composites[i])) == 0)
			device->traits = TRAIT_COMPOSITE;
	if (!has_file(procfs, name, "")) {
		device->traits |=
		    TRAIT_BY_NAME | (device->traits & TRAIT_COMPOSITE ? 0 : TRAIT_REAL);
	} else if (rti_block_device_is_partition(procfs, name) == 1) {
		device->flags = RT_ITEM_PARTITION;
	} else {
		device->traits |= has_file(procfs, name, "device") ? TRAIT_REAL : 0;
		if (rti_procfs_list(procfs, RTI_SYS, slaves.text, stop_at_first, NULL) == RTI_STOP)
			device->traits |= TRAIT_COMPOSITE;
		device->traits |= is_nvme_head(procfs, name) ? TRAIT_NVME_HEAD : 0;
		device->traits |= is_nvme_path(name) ? TRAIT_NVME_PATH : 0;
	}
	if (!(device->traits & TRAIT_REAL) && !(device->flags & RT_ITEM_PARTITION))
		device->flags |= RT_ITEM_VIRTUAL;
}

/* Returns true if name is a partition of the device whole by its name. E.g.: "sda1" is a partition
 * of "sda". "nvme0n1p2" is one of "nvme0n1", with a 'p' because that name ends in a digit. */
static bool is_partition_name(const char *name, const char *whole)
{
	size_t len = strlen(whole);

	if (len == 0 || strncmp(name, whole, len) != 0)
		return false;
	name += len;
	if (whole[len - 1] >= '0' && whole[len - 1] <= '9' && *name++ != 'p')
		return false;
	return *name != '\0' && strspn(name, "0123456789") == strlen(name);
}

static bool has_listed_whole(const struct rti_device_table *devices,
                             const struct rti_device *device)
{
	for (struct rti_device *other = rti_device_table_next(devices, NULL); other;
	     other = rti_device_table_next(devices, other))
		if (is_partition_name(device->name, other->name))
			return true;
	return false;
}

static void classify_new(struct state *st, const struct rti_procfs *procfs)
{
	struct rti_device *device;

	for (device = rti_device_table_next(&st->devices, NULL); device;
	     device = rti_device_table_next(&st->devices, device)) {
		if (!device->is_new)
			continue;
		classify(device, procfs);
		if (device->traits & TRAIT_BY_NAME && has_listed_whole(&st->devices, device)) {
			device->traits = TRAIT_BY_NAME;
			device->flags = RT_ITEM_PARTITION;
		}
	}
}

/* Set RT_ITEM_IN_TOTAL of all listed devices. */
static void choose_total(struct state *st)
{
	uint32_t all_traits = 0, needed;
	struct rti_device *device;

	for (device = rti_device_table_next(&st->devices, NULL); device;
	     device = rti_device_table_next(&st->devices, device))
		all_traits |= device->traits;
	needed = all_traits & TRAIT_REAL;
	for (device = rti_device_table_next(&st->devices, NULL); device;
	     device = rti_device_table_next(&st->devices, device)) {
		bool is_base = !(device->flags & RT_ITEM_PARTITION) &&
		               !(device->traits & TRAIT_COMPOSITE) &&
		               !(device->traits & TRAIT_NVME_HEAD && all_traits & TRAIT_NVME_PATH);

		device->flags &= ~RT_ITEM_IN_TOTAL;
		if (is_base && (device->traits & needed) == needed)
			device->flags |= RT_ITEM_IN_TOTAL;
	}
}

static void fill_rows(struct state *st)
{
	struct rt_disk *row = st->rows.data;

	for (struct rti_device *device = rti_device_table_next(&st->devices, NULL); device;
	     device = rti_device_table_next(&st->devices, device)) {
		row[st->rows.count] = (struct rt_disk){
			.size = sizeof(*row),
			.flags = device->flags,
			.major = (uint32_t)(device->number >> 32),
			.minor = (uint32_t)device->number,
			.read_bytes = device->counter[READ_SECTORS].total * SECTOR_BYTES,
			.write_bytes = device->counter[WRITE_SECTORS].total * SECTOR_BYTES,
			.reads = device->counter[READS].total,
			.writes = device->counter[WRITES].total,
			.busy_ns = device->counter[BUSY_MS].total * 1000000,
			.in_flight = device->gauge,
		};
		memcpy(row[st->rows.count++].name, device->name, sizeof(row->name));
	}
}

/* Returns -ENODEV if the totals lack something. */
static int set_figures(struct state *st, bool is_partial, struct rt_metrics *out)
{
	const uint64_t *total = st->devices.total;
	struct rti_device *device;

	if (rti_rows_reserve(&st->rows, st->devices.count, sizeof(struct rt_disk)) < 0)
		return -ENOMEM;
	st->rows.is_due = true;
	out->disks = 0;
	for (device = rti_device_table_next(&st->devices, NULL); device;
	     device = rti_device_table_next(&st->devices, device))
		out->disks += (device->flags & RT_ITEM_IN_TOTAL) != 0;
	out->disk_read_bytes = total[READ_SECTORS] * SECTOR_BYTES;
	out->disk_write_bytes = total[WRITE_SECTORS] * SECTOR_BYTES;
	out->disk_reads = total[READS];
	out->disk_writes = total[WRITES];
	out->disk_busy_ns = total[BUSY_MS] * 1000000;
	*(is_partial ? &out->partial : &out->valid) |= RT_HAS_DISK;
	return is_partial ? -ENODEV : 0;
}

static int disk_collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct state *st = state;
	int err;

	st->rows.count = 0;
	st->rows.is_due = false;
	rti_device_table_begin(&st->devices);
	err =
	    rti_procfs_read_proc_file(ctx->procfs, "diskstats", RTI_SEQ_FILE, &st->file, ctx->buf);
	if (err == 0)
		err = rti_parse_diskstats(ctx->buf->data, ctx->buf->len, update_disk, st);
	if (err < 0)
		return err;
	classify_new(st, ctx->procfs);
	choose_total(st);
	return set_figures(st, rti_device_table_advance(&st->devices), out);
}

static void disk_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	rti_procfs_close_file(ctx->procfs, &st->file.file);
	rti_device_table_free(&st->devices);
	rti_rows_free(&st->rows);
}

static const void *disk_rows(void *state, size_t *count)
{
	struct state *st = state;

	if (st->rows.is_due)
		fill_rows(st);
	st->rows.is_due = false;
	return rti_rows_get(&st->rows, count);
}

const struct rti_sys_collector rti_sys_disk = {
	.provides = RT_HAS_DISK,
	.files = { "diskstats" },
	.state_size = sizeof(struct state),
	.open = disk_open,
	.collect = disk_collect,
	.close = disk_close,
	.rows = disk_rows,
};
