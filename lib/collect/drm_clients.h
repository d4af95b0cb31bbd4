/* SPDX-License-Identifier: MIT */
/* The DRM clients that the members of a tree have had open, with their counters. Pure arithmetic.
 *
 * A client is one opening of a device. All descriptors that share it show the same figures, in
 * whichever process: so it is known by its device and its number, and counts once. */
#ifndef RTI_DRM_CLIENTS_H
#define RTI_DRM_CLIENTS_H

#include "parse/drm_fdinfo.h"
#include "parse/pci_address.h"

/* At this number, the one that has been closed longest is replaced. If none is closed, there is no
 * room for another. */
#define RTI_DRM_CLIENTS_MAX 1024

/* One engine of a client. */
struct rti_drm_known_engine {
	char name[24];
	enum rti_drm_engine_kind kind;
	bool has_cycles; /* and no time: it is converted */
	bool is_behind;  /* its clock was below total_cycles in the last look */
	uint64_t cycles, total_cycles;
	uint64_t shown_cycles;   /* of its clock, in the last look */
	uint64_t passed_cycles;  /* of its clock in all, also if that has begun anew */
	uint64_t pending_cycles; /* that no rate is known for yet */
	uint64_t converted_ns;   /* from cycles, over the whole group */
	uint64_t ns;             /* used, over its capacity. Never falls. */
};

/* Kept while it is closed, so that nothing is counted twice if it comes back. E.g.: it is on its
 * way to another process, through a socket. */
struct rti_drm_client {
	char driver[32];
	struct rti_pci_address pci;
	uint64_t client_id;
	uint64_t round, at_ns; /* of the look that found it last */
	bool has_time, has_memory, has_device_region, may_share;
	bool is_converted; /* some of its time is, from cycles */
	uint64_t device_memory_bytes;
	uint64_t ns[RTI_DRM_ENGINE_KINDS]; /* used so far */
	unsigned engine_count;
	struct rti_drm_known_engine engines[RTI_DRM_ENGINES_MAX];
};

/* Zeroed memory is a valid start. */
struct rti_drm_clients {
	struct rti_drm_client *client;
	size_t count, room;
	uint64_t round;
};

/* What a look at one descriptor adds. */
struct rti_drm_look {
	const struct rti_drm_client *client; /* until the next call */
	uint64_t grown_ns; /* used since the look before, or since it was opened */
	bool is_first;     /* the first descriptor of this client in this round */
};

/* Begin a look at all descriptors. */
void rti_drm_clients_begin(struct rti_drm_clients *table);

/* Take in what one descriptor shows at at_ns. Counters that have fallen are taken to be as before:
 * drivers let them lag. Returns 0; -EOPNOTSUPP if it has no number of the client; -ENOSPC; or
 * -ENOMEM. */
int rti_drm_clients_add(struct rti_drm_clients *table, const struct rti_drm_fdinfo *info,
                        uint64_t at_ns, struct rti_drm_look *out);

/* End a look. Returns true if a client of the look before was not found: what it has used since
 * then is unknown. */
bool rti_drm_clients_end(const struct rti_drm_clients *table);

void rti_drm_clients_free(struct rti_drm_clients *table);

#endif
