/* SPDX-License-Identifier: MIT */
/* The DRM clients that the members of a tree have had open, with their counters. */
#include "collect/drm_clients.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/arith.h"
#include "util/array.h"

void rti_drm_clients_begin(struct rti_drm_clients *table)
{
	table->round++;
}

static struct rti_pci_address address_of(const struct rti_drm_fdinfo *info)
{
	if (!info->has_pci_address)
		return (struct rti_pci_address)RTI_NO_PCI_ADDRESS;
	return (struct rti_pci_address){ info->pci_domain, info->pci_bus, info->pci_device,
		                         info->pci_function };
}

static struct rti_drm_client *find(const struct rti_drm_clients *table,
                                   const struct rti_drm_fdinfo *info)
{
	struct rti_pci_address pci = address_of(info);

	for (size_t i = 0; i < table->count; i++) {
		struct rti_drm_client *client = &table->client[i];

		if (client->client_id == info->client_id &&
		    memcmp(&client->pci, &pci, sizeof(pci)) == 0 &&
		    strcmp(client->driver, info->driver) == 0)
			return client;
	}
	return NULL;
}

static int make(struct rti_drm_clients *table, const struct rti_drm_fdinfo *info,
                struct rti_drm_client **out)
{
	struct rti_drm_client *client = table->client;

	if (table->count >= RTI_DRM_CLIENTS_MAX) {
		/* Replace the one that has been closed longest. */
		for (size_t i = 1; i < table->count; i++)
			if (table->client[i].round < client->round)
				client = &table->client[i];
		if (client->round + 1 >= table->round)
			return -ENOSPC;
	} else {
		client =
		    rti_array_grow(table->client, &table->room, table->count + 1, sizeof(*client));
		if (!client)
			return -ENOMEM;
		table->client = client;
		client = &table->client[table->count++];
	}
	*client = (struct rti_drm_client){ .pci = address_of(info), .client_id = info->client_id };
	memcpy(client->driver, info->driver, sizeof(client->driver));
	*out = client;
	return 0;
}

/* Returns NULL if there are too many. */
static struct rti_drm_known_engine *find_engine(struct rti_drm_client *client,
                                                const struct rti_drm_engine *shown)
{
	struct rti_drm_known_engine *e;

	for (unsigned i = 0; i < client->engine_count; i++)
		if (strcmp(client->engines[i].name, shown->name) == 0)
			return &client->engines[i];
	if (client->engine_count == RTI_DRM_ENGINES_MAX)
		return NULL;
	e = &client->engines[client->engine_count++];
	*e = (struct rti_drm_known_engine){ .kind = shown->kind };
	memcpy(e->name, shown->name, sizeof(e->name));
	return e;
}

/* Returns a * b / c. Only the result has to fit. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	const double largest = 9e18;
	double result = (double)a * ((double)b / (double)c);

	return (uint64_t)(result < largest ? result : largest);
}

/* Returns by how much the clock of an engine has grown since the look before. One that lags catches
 * up by the next look. One that is still behind then has begun anew. E.g.: the clock of xe does if
 * the device was off meanwhile. */
static uint64_t advance_clock(struct rti_drm_known_engine *e, uint64_t shown_cycles)
{
	bool is_behind = shown_cycles < e->total_cycles;
	uint64_t growth;

	if (is_behind && e->is_behind && shown_cycles > e->shown_cycles) {
		e->total_cycles = e->shown_cycles;
		is_behind = false;
	}
	growth = rti_subtract_saturated(shown_cycles, e->total_cycles);
	e->total_cycles += growth;
	e->passed_cycles = rti_add_saturated(e->passed_cycles, growth);
	e->shown_cycles = shown_cycles;
	e->is_behind = is_behind;
	return growth;
}

/* Cycles become time at the rate at which the engine's clock has gone since the look before. What
 * came before the first look waits for the second one. */
static void convert_cycles(struct rti_drm_known_engine *e, const struct rti_drm_engine *shown,
                           uint64_t elapsed_ns)
{
	uint64_t total = advance_clock(e, shown->total_cycles), longest_ns;

	if (shown->cycles > e->cycles)
		e->pending_cycles = rti_add_saturated(e->pending_cycles, shown->cycles - e->cycles);
	if (e->has_cycles && elapsed_ns && total) {
		longest_ns = rti_multiply_saturated(scale(e->passed_cycles, elapsed_ns, total),
		                                    shown->capacity);
		e->converted_ns =
		    rti_add_saturated(e->converted_ns, scale(e->pending_cycles, elapsed_ns, total));
		if (e->converted_ns > longest_ns)
			e->converted_ns = longest_ns;
		e->pending_cycles = 0;
	}
	e->has_cycles = true;
	if (shown->cycles > e->cycles)
		e->cycles = shown->cycles;
}

/* Returns by how much the time of the engine has grown. */
static uint64_t advance_engine(struct rti_drm_client *client, const struct rti_drm_engine *shown,
                               uint64_t elapsed_ns)
{
	const uint32_t in_cycles = RTI_DRM_CYCLES | RTI_DRM_TOTAL_CYCLES;
	struct rti_drm_known_engine *e;
	uint64_t before, ns;

	if (!(shown->has & RTI_DRM_TIME) && (shown->has & in_cycles) != in_cycles)
		return 0;
	e = find_engine(client, shown);
	if (!e)
		return 0;
	client->has_time = true;
	before = e->ns;
	if (shown->has & RTI_DRM_TIME) {
		ns = shown->busy_ns;
	} else {
		convert_cycles(e, shown, elapsed_ns);
		client->is_converted = true;
		ns = e->converted_ns;
	}
	ns /= shown->capacity;
	if (ns > e->ns)
		e->ns = ns;
	client->ns[e->kind] = rti_add_saturated(client->ns[e->kind], e->ns - before);
	return e->ns - before;
}

int rti_drm_clients_add(struct rti_drm_clients *table, const struct rti_drm_fdinfo *info,
                        uint64_t at_ns, struct rti_drm_look *out)
{
	struct rti_drm_client *client;
	uint64_t elapsed_ns;
	int err;

	if (!info->has_client_id)
		return -EOPNOTSUPP;
	client = find(table, info);
	if (!client) {
		err = make(table, info, &client);
		if (err < 0)
			return err;
	}
	*out = (struct rti_drm_look){ .client = client, .is_first = client->round != table->round };
	elapsed_ns = client->at_ns && at_ns > client->at_ns ? at_ns - client->at_ns : 0;
	/* amdgpu leaves out engines that were not used:
	 * drivers/gpu/drm/amd/amdgpu/amdgpu_fdinfo.c. */
	client->has_time = strcmp(info->driver, "amdgpu") == 0;
	for (unsigned i = 0; i < info->engine_count; i++)
		out->grown_ns = rti_add_saturated(
		    out->grown_ns, advance_engine(client, &info->engines[i], elapsed_ns));
	client->has_memory = info->has_memory;
	client->has_device_region = info->has_device_region;
	client->may_share = info->may_share;
	client->device_memory_bytes = info->device_memory_bytes;
	client->round = table->round;
	client->at_ns = at_ns;
	return 0;
}

bool rti_drm_clients_end(const struct rti_drm_clients *table)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->client[i].round + 1 == table->round)
			return true;
	return false;
}

void rti_drm_clients_free(struct rti_drm_clients *table)
{
	free(table->client);
	*table = (struct rti_drm_clients){ 0 };
}
