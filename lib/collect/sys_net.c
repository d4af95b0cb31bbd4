/* SPDX-License-Identifier: MIT */
/* Traffic of network interfaces, from /proc/net/dev, and their kind, from /sys/class/net.
 *
 * The total counts what crosses hardware (interfaces with `device` in /sys). Bridges, bonds,
 * tunnels and VLANs see the same bytes again, so they add nothing. If the `master` of an interface
 * has a device too, the interface is a second path into its master, which counts for both. E.g.:
 * the virtual function behind a hypervisor's interface. If no interface has a device, as in
 * containers, the total is over all but loopback.
 *
 * On this system the kernel lists the interfaces of the namespace that net/dev is of, by rtnetlink.
 * An interface is its index there, since names are given out again. /sys may be of another
 * namespace. So it is believed only where it has the index and the address that the kernel lists.
 * E.g.: `nsenter -n` leaves the /sys of the host in place. Else the kernel's list has the kind. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collector.h"
#include "collect/device_table.h"
#include "collect/rows.h"
#include "os/links.h"
#include "os/procfs.h"
#include "parse/scan.h"
#include "util/array.h"
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
#define TRAIT_DEVICE (UINT32_C(1) << 0) /* hardware that no other interface counts for */

struct state {
	struct rti_proc_file file;
	const char *path;
	struct rti_device_table devices;
	struct rti_rows rows;
	bool is_of_hardware; /* the total was, in the last sample */
	int links;           /* see os/links.h; below 0: none */
	int links_error;     /* why the list is not that of the last sample: -errno */
	bool is_listed;      /* it is */
	bool
	    has_passed; /* an interface came and went since the last sample, and was in the total */
	struct rti_link *link;
	size_t count, room;
	size_t next; /* where the next search is likely to succeed */
};

static int net_open(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	/* net/ shows the network namespace of the process that reads it. Below another root,
	 * process 1 has the right one. A socket is in the namespace of its thread. */
	st->path = ctx->procfs->is_foreign ? "1/net/dev" : "thread-self/net/dev";
	st->file = (struct rti_proc_file)RTI_PROC_FILE_INIT;
	st->links = -1;
	st->devices.is_by_number = !ctx->procfs->is_foreign;
	for (size_t i = 0; i < RTI_DEVICE_COUNTERS; i++)
		st->devices.falls[i] = ctx->platform->has_32_bit_kernel ? RTI_FALL_WRAP : 0;
	return 0;
}

static int add_link(void *arg, const struct rti_link *link)
{
	struct state *st = arg;
	struct rti_link *grown =
	    rti_array_grow(st->link, &st->room, st->count + 1, sizeof(*st->link));

	if (!grown)
		return -ENOMEM;
	st->link = grown;
	st->link[st->count++] = *link;
	return RTI_CONTINUE;
}

/* One that the last list did not have has come and gone since. */
static void set_gone(void *arg, const struct rti_link *link)
{
	struct state *st = arg;

	if (!rti_device_table_set_gone(&st->devices, link->index) &&
	    (link->is_hardware || !st->is_of_hardware))
		st->has_passed = true;
}

/* List the interfaces again if they have changed. To be called after net/dev was read, of which the
 * changes are reported by then.
 *
 * E.g.: veth0 has been removed and made again since the last sample. Its line looks as before, and
 * its index is new. If it is made again between the two reads, the second look for changes says
 * so, and the figures of this sample are estimates. */
static void list_links(struct state *st)
{
	enum rti_link_changes changes = rti_links_take_changes(st->links, set_gone, st);
	int err;

	if (changes == RTI_LINKS_SAME && st->is_listed)
		return;
	st->count = 0;
	err = rti_links_list(st->links, add_link, st);
	if (err < 0)
		st->count = 0;
	else if (rti_links_take_changes(st->links, set_gone, st) != RTI_LINKS_SAME)
		err = -EAGAIN;
	else if (changes == RTI_LINKS_UNKNOWN)
		err = -ENOBUFS;
	st->is_listed = err == 0;
	st->links_error = err;
}

/* Returns NULL if the kernel has not listed it. */
static const struct rti_link *find_link(struct state *st, const char *name)
{
	for (size_t i = 0; i < st->count; i++) {
		size_t at = (st->next + i) % st->count;

		if (strcmp(st->link[at].name, name) == 0) {
			st->next = at + 1;
			return &st->link[at];
		}
	}
	return NULL;
}

static int update_device(void *arg, const struct rti_netdev *dev)
{
	struct state *st = arg;
	const struct rti_link *link = find_link(st, dev->name);
	struct rti_device *device;
	int err = rti_device_table_find(&st->devices, dev->name, link ? link->index : 0, &device);

	if (err < 0)
		return err;
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

/* Whether /sys has the interface that the kernel lists, and not one of its name elsewhere. */
static bool is_in_sysfs(const struct rti_context *ctx, const struct rti_link *link)
{
	static const char digits[] = "0123456789abcdef";
	char address[3 * RTI_LINK_ADDRESS_MAX + 1] = { 0 };
	struct rti_scan scan;
	uint64_t index;

	if (rti_procfs_read(ctx->procfs, RTI_SYS, rti_class_path("net", link->name, "ifindex").text,
	                    RTI_SINGLE_RECORD, ctx->buf) < 0)
		return false;
	scan = rti_scan(ctx->buf->data, ctx->buf->len);
	if (!rti_scan_u64(&scan, &index) || index != link->index ||
	    rti_procfs_read(ctx->procfs, RTI_SYS, rti_class_path("net", link->name, "address").text,
	                    RTI_SINGLE_RECORD, ctx->buf) < 0)
		return false;
	for (size_t i = 0; i < link->address_len; i++) {
		address[3 * i] = digits[link->address[i] >> 4];
		address[3 * i + 1] = digits[link->address[i] & 0xf];
		address[3 * i + 2] = i + 1 < link->address_len ? ':' : '\n';
	}
	if (link->address_len == 0)
		address[0] = '\n';
	return strcmp(ctx->buf->data, address) == 0;
}

static bool has_master_in_hardware(const struct state *st, const struct rti_link *link)
{
	for (size_t i = 0; link->master && i < st->count; i++)
		if (st->link[i].index == link->master)
			return st->link[i].is_hardware;
	return false;
}

static void classify(struct state *st, const struct rti_context *ctx, struct rti_device *device)
{
	const struct rti_link *link = find_link(st, device->name);
	bool is_hardware, is_second;

	if (link && !is_in_sysfs(ctx, link)) {
		is_hardware = link->is_hardware;
		is_second = is_hardware && has_master_in_hardware(st, link);
	} else {
		is_hardware = has_file(ctx->procfs, device->name, "device");
		is_second = is_hardware && has_file(ctx->procfs, device->name, "master/device");
	}
	device->flags = is_hardware ? 0 : RT_ITEM_VIRTUAL;
	device->traits = is_hardware && !is_second ? TRAIT_DEVICE : 0;
}

/* Set RT_ITEM_IN_TOTAL of all listed interfaces. */
static void choose_total(struct state *st, const struct rti_context *ctx)
{
	uint32_t all_traits = 0;
	struct rti_device *device;

	for (device = rti_device_table_next(&st->devices, NULL); device;
	     device = rti_device_table_next(&st->devices, device)) {
		if (device->is_new)
			classify(st, ctx, device);
		all_traits |= device->traits;
	}
	st->is_of_hardware = all_traits & TRAIT_DEVICE;
	for (device = rti_device_table_next(&st->devices, NULL); device;
	     device = rti_device_table_next(&st->devices, device)) {
		bool is_chosen = st->is_of_hardware ? (device->traits & TRAIT_DEVICE) != 0
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

/* An interface that is known by its name alone may be another one of that name. Returns the reason
 * why the totals may lack something, or be of others: -errno, or 0. */
static int set_figures(struct state *st, const struct rti_context *ctx, bool is_partial,
                       struct rt_metrics *out)
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
	if (!ctx->procfs->is_foreign && !st->is_listed) {
		out->estimated |= RT_HAS_NETWORK;
		return st->links_error;
	}
	*(is_partial ? &out->partial : &out->valid) |= RT_HAS_NETWORK;
	return is_partial ? -ENODEV : 0;
}

static int net_collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct state *st = state;
	bool is_partial;
	int err;

	st->rows.count = 0;
	st->rows.is_due = false;
	st->has_passed = false;
	rti_device_table_begin(&st->devices);
	if (st->links < 0 && !ctx->procfs->is_foreign)
		st->links = st->links_error = rti_links_open();
	err = rti_procfs_read_proc_file(ctx->procfs, st->path, RTI_SEQ_FILE, &st->file, ctx->buf);
	if (err == -ENOENT)
		err = rti_procfs_read_proc_file(ctx->procfs, "net/dev", RTI_SEQ_FILE, &st->file,
		                                ctx->buf);
	if (err < 0)
		return err;
	if (st->links >= 0)
		list_links(st);
	st->next = 0;
	err = rti_parse_netdev(ctx->buf->data, ctx->buf->len, update_device, st);
	if (err < 0)
		return err;
	choose_total(st, ctx);
	is_partial = rti_device_table_advance(&st->devices);
	return set_figures(st, ctx, is_partial || st->has_passed, out);
}

static void net_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	rti_procfs_close_file(ctx->procfs, &st->file.file);
	if (st->links >= 0)
		rti_links_close(st->links);
	free(st->link);
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
