/* SPDX-License-Identifier: MIT */
/* The GPUs of a tree: of a tracker that wants them. */
#ifndef RTI_GPU_STATE_H
#define RTI_GPU_STATE_H

#include "collect/drm_clients.h"
#include "collect/gpu_table.h"
#include "collect/nvml_thread.h"
#include "collect/rows.h"
#include "gpu/drm_card.h"

/* A descriptor of a DRM device. */
struct rti_gpu_file {
	int32_t pid;
	int32_t tid; /* the thread to ask if the leader has exited, or 0 */
	char fd[12];
};

/* A member that has a GPU open, or may have one. */
struct rti_gpu_member {
	int32_t pid;
	uint64_t starttime;
	int err;               /* its descriptors cannot be listed: -errno; else 0 */
	bool has_nvidia;       /* it has a device of NVIDIA's driver open */
	bool has_unreported;   /* it has a device open that no file reports the use of */
	uint64_t listed_at_ns; /* monotonic */
};

/* Written by gpu_files.c. */
struct rti_gpu_files {
	struct rti_gpu_member *member;
	size_t member_count, member_room;
	struct rti_gpu_file *file;
	size_t file_count, file_room;
	int32_t *due; /* pids of members to look at in this sample */
	size_t due_count, due_room;
	bool must_look_at_all; /* there was no room for some */
	size_t next;           /* member that is looked at next, in turn */
	uint64_t checked_at_ns;
	bool is_present;  /* the system has a driver of a GPU */
	bool was_present; /* it has, or has had one */
};

enum rti_gpu_domain { RTI_GPU_TIME, RTI_GPU_HELD, RTI_GPU_DOMAINS }; /* RT_HAS_GPU, _MEMORY */

/* What a sample does not know. */
struct rti_gpu_unknown {
	int err;     /* of the first; 0: none */
	int32_t pid; /* that it was met at; 0: no single one */
	uint64_t members;
};

/* A device that members have used, in the table by its id. */
struct rti_gpu_device {
	uint32_t id;
	uint64_t busy_ns;   /* by members, departed ones included */
	uint64_t before_ns; /* the same, in the sample before */
	unsigned sharers;   /* clients in this sample that may share memory */
	bool is_estimated;
};

/* Written by gpu.c, but for its parts. */
struct rti_tree_gpu {
	struct rti_gpu_files files;
	struct rti_drm_clients clients;
	struct rti_drm_cards cards;
	struct rti_gpu_readings drm;
	struct rti_drm_fdinfo *info; /* scratch: of one member */
	size_t info_count, info_room;
	const struct rti_nvml_setup *setup;
	struct rti_nvml_thread nvml;
	struct rti_gpu_table table;
	struct rti_gpu_device *device;
	size_t device_count, device_room;
	struct rti_rows gpus, processes;
	uint64_t total_ns; /* of all devices. Never falls. */
	uint64_t memory_peak_bytes;
	uint64_t sampled_at_ns; /* the sample before; 0: none */
	uint64_t elapsed_ns;    /* since then */
	bool is_estimated;      /* some time is, by NVML or from cycles */
	bool has_lost;          /* a client has gone after its last look */
	bool is_held_estimated; /* what members hold, in this sample */
	bool was_held_estimated;
	bool was_known[RTI_GPU_DOMAINS]; /* of some member, in some sample */
	struct rti_gpu_unknown unknown[RTI_GPU_DOMAINS];
};

#endif
