/* SPDX-License-Identifier: MIT */
/* /proc/PID/fdinfo/FD of a GPU that a driver of the kernel's DRM subsystem serves: what one client,
 * which is one opening of the device, has used. See Documentation/gpu/drm-usage-stats.rst. */
#ifndef RTI_DRM_FDINFO_H
#define RTI_DRM_FDINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Engines and memory regions of one client. A driver has a dozen at most; more are left out. */
#define RTI_DRM_ENGINES_MAX 24
#define RTI_DRM_REGIONS_MAX 12

/* What kind of work an engine does, by the name that its driver gives it. */
enum rti_drm_engine_kind {
	RTI_DRM_RENDER,
	RTI_DRM_COMPUTE,
	RTI_DRM_COPY,
	RTI_DRM_DECODE,
	RTI_DRM_ENCODE,
	RTI_DRM_OTHER,
	RTI_DRM_ENGINE_KINDS
};

#define RTI_DRM_TIME (1u << 0)         /* busy_ns */
#define RTI_DRM_CYCLES (1u << 1)       /* cycles */
#define RTI_DRM_TOTAL_CYCLES (1u << 2) /* total_cycles */

/* One engine, or a group of engines of the same kind. */
struct rti_drm_engine {
	char name[24];
	enum rti_drm_engine_kind kind;
	uint32_t has;          /* RTI_DRM_ bits */
	uint32_t capacity;     /* engines in the group, 1 or more */
	uint64_t busy_ns;      /* sum over the group; may fall for a while */
	uint64_t cycles;       /* likewise, in cycles of the engine */
	uint64_t total_cycles; /* cycles that have passed since the same moment */
};

struct rti_drm_fdinfo {
	char driver[32];
	bool has_pci_address, has_client_id;
	uint32_t pci_domain, pci_bus, pci_device, pci_function;
	uint64_t client_id; /* the same in all descriptors that share one opening of the device */
	unsigned engine_count;
	struct rti_drm_engine engines[RTI_DRM_ENGINES_MAX];
	bool has_memory;
	bool has_device_region;       /* the GPU has memory of its own */
	bool may_share;               /* others may have some of it mapped, too */
	uint64_t device_memory_bytes; /* resident in memory of the GPU */
	uint64_t system_memory_bytes; /* resident in memory of the machine */
};

/* Parse such a file. A key that is unknown, or has a value that is none, is left out. Returns 0, or
 * -EBADMSG if the key drm-driver is missing: the descriptor is of something else. *out is then
 * unspecified. */
int rti_parse_drm_fdinfo(const char *data, size_t len, struct rti_drm_fdinfo *out);

#endif
