/* SPDX-License-Identifier: MIT */
/* Traffic of network interfaces, from /proc/net/dev, and their kind, from /sys/class/net.
 *
 * The total counts what crosses hardware (interfaces with `device` in /sys). Bridges, bonds,
 * tunnels and VLANs see the same bytes again, so they add nothing. If the `master` of an interface
 * has a device too, the interface is a second path into its master, which counts for both. E.g.:
 * the virtual function behind a hypervisor's interface. If no interface has a device, as in
 * containers, the total is over all but loopback. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "collect/collector.h"
#include "collect/device_table.h"
#include "collect/rows.h"
#include "os/procfs.h"
#include "util/visit.h"

enum counter {
	RECEIVE_BYTES,
	TRANSMIT_BYTES,
	RECEIVE_PACKETS,
	TRANSMIT_PACKETS,
	RECEIVE_ERRORS,
	TRANSMIT_ERRORS,
	RECEIVE_DROPS,
	TRANSMIT_DROPS,
};

/* rti_device.traits */
#define TRAIT_NEW (UINT32_C(1) << 0)    /* not classified yet */
#define TRAIT_DEVICE (UINT32_C(1) << 1) /* hardware that no other interface counts for */

struct state {
	struct rti_proc_file file;
	const char *path;
	struct rti_device_table devices;
	struct rti_rows rows;
};

static int net_open(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	/* net/ shows the network namespace of the process that reads it. Below another root,
	 * process 1 has the right one. */
	st->path = ctx->procfs->is_foreign ? "1/net/dev" : "net/dev";
	st->file = (struct rti_proc_file)RTI_PROC_FILE_INIT;
	return 0;
}

static int update_device(void *arg, const struct rti_netdev *dev)
{
	struct state *st = arg;
	struct rti_device *device;
	bool is_new;
	int err = rti_device_table_find(&st->devices, dev->name, 0, &device, &is_new);

	if (err < 0)
		return err;
	if (is_new)
		device->traits = TRAIT_NEW;
	device->now[RECEIVE_BYTES] = dev->receive_bytes;
	device->now[TRANSMIT_BYTES] = dev->transmit_bytes;
	device->now[RECEIVE_PACKETS] = dev->receive_packets;
	device->now[TRANSMIT_PACKETS] = dev->transmit_packets;
	device->now[RECEIVE_ERRORS] = dev->receive_errors;
	device->now[TRANSMIT_ERRORS] = dev->transmit_errors;
	device->now[RECEIVE_DROPS] = dev->receive_drops;
	device->now[TRANSMIT_DROPS] = dev->transmit_drops;
	return RTI_CONTINUE;
}

static bool has_file(const struct rti_procfs *procfs, const char *name, const char *file)
{
	return rti_procfs_access(procfs, RTI_SYS, rti_class_path("net", name, file).text) == 0;
}

/* Set RT_ITEM_IN_TOTAL of all listed interfaces. */
static void choose_total(struct state *st, const struct rti_procfs *procfs)
{
	uint32_t all_traits = 0;
	struct rti_device *device;

	for (device = rti_device_table_next(&st->devices, NULL); device;
	     device = rti_device_table_next(&st->devices, device)) {
		if (device->traits & TRAIT_NEW) {
			bool has_device = has_file(procfs, device->name, "device");
			bool is_second =
			    has_device && has_file(procfs, device->name, "master/device");

			device->flags = has_device ? 0 : RT_ITEM_VIRTUAL;
			device->traits = has_device && !is_second ? TRAIT_DEVICE : 0;
		}
		all_traits |= device->traits;
	}
	for (device = rti_device_table_next(&st->devices, NULL); device;
	     device = rti_device_table_next(&st->devices, device)) {
		bool is_chosen = all_traits & TRAIT_DEVICE ? (device->traits & TRAIT_DEVICE) != 0
		                                           : strcmp(device->name, "lo") != 0;

		device->flags &= ~RT_ITEM_IN_TOTAL;
		device->flags |= is_chosen ? RT_ITEM_IN_TOTAL : 0;
	}
}

static void fill_rows(struct state *st)
{
	struct rt_network *row = st->rows.data;

	for (struct rti_device *device = rti_device_table_next(&st->devices, NULL); device;
	     device = rti_device_table_next(&st->devices, device)) {
		const struct rti_counter *counter = device->counter;

		row[st->rows.count] = (struct rt_network){
			.size = sizeof(*row),
			.flags = device->flags,
			.receive_bytes = counter[RECEIVE_BYTES].total,
			.transmit_bytes = counter[TRANSMIT_BYTES].total,
			.receive_packets = counter[RECEIVE_PACKETS].total,
			.transmit_packets = counter[TRANSMIT_PACKETS].total,
			.receive_errors = counter[RECEIVE_ERRORS].total,
			.transmit_errors = counter[TRANSMIT_ERRORS].total,
			.receive_drops = counter[RECEIVE_DROPS].total,
			.transmit_drops = counter[TRANSMIT_DROPS].total,
		};
		memcpy(row[st->rows.count++].name, device->name, sizeof(row->name) - 1);
	}
}

static int set_figures(struct state *st, struct rt_metrics *out)
{
	const uint64_t *total = st->devices.total;
	struct rti_device *device;

	if (rti_rows_reserve(&st->rows, st->devices.count, sizeof(struct rt_network)) < 0)
		return -ENOMEM;
	st->rows.is_due = true;
	out->network_interfaces = 0;
	for (device = rti_device_table_next(&st->devices, NULL); device;
	     device = rti_device_table_next(&st->devices, device))
		out->network_interfaces += (device->flags & RT_ITEM_IN_TOTAL) != 0;
	out->network_receive_bytes = total[RECEIVE_BYTES];
	out->network_transmit_bytes = total[TRANSMIT_BYTES];
	out->network_receive_packets = total[RECEIVE_PACKETS];
	out->network_transmit_packets = total[TRANSMIT_PACKETS];
	out->network_receive_errors = total[RECEIVE_ERRORS];
	out->network_transmit_errors = total[TRANSMIT_ERRORS];
	out->network_receive_drops = total[RECEIVE_DROPS];
	out->network_transmit_drops = total[TRANSMIT_DROPS];
	out->valid |= RT_HAS_NETWORK;
	return 0;
}

static int net_collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct state *st = state;
	int err;

	st->rows.count = 0;
	st->rows.is_due = false;
	rti_device_table_begin(&st->devices);
	err = rti_procfs_read_proc_file(ctx->procfs, st->path, RTI_SEQ_FILE, &st->file, ctx->buf);
	if (err == -ENOENT && ctx->procfs->is_foreign)
		err = rti_procfs_read_proc_file(ctx->procfs, "net/dev", RTI_SEQ_FILE, &st->file,
		                                ctx->buf);
	if (err == 0)
		err = rti_parse_netdev(ctx->buf->data, ctx->buf->len, update_device, st);
	if (err < 0)
		return err;
	choose_total(st, ctx->procfs);
	rti_device_table_advance(&st->devices);
	return set_figures(st, out);
}

static void net_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	rti_procfs_close_file(ctx->procfs, &st->file.file);
	rti_device_table_free(&st->devices);
	rti_rows_free(&st->rows);
}

static const void *net_rows(void *state, size_t *count)
{
	struct state *st = state;

	if (st->rows.is_due)
		fill_rows(st);
	st->rows.is_due = false;
	return rti_rows_get(&st->rows, count);
}

const struct rti_sys_collector rti_sys_net = {
	.provides = RT_HAS_NETWORK,
	.files = { "net/dev" },
	.state_size = sizeof(struct state),
	.open = net_open,
	.collect = net_collect,
	.close = net_close,
	.rows = net_rows,
};
