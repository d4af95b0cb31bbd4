/* SPDX-License-Identifier: MIT */
/** @file
 *  Devices, in the last sample of a tracker. */
#ifndef RTRACK_SYSTEM_H
#define RTRACK_SYSTEM_H

#include <rtrack/common.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rt_tracker;

/** @defgroup lists Lists
 *  Items of the last sample, by the rules of rtrack.h. @sa @ref details_lists
 *  @{ */

/** One CPU. Counters, in disjoint modes. */
struct rt_cpu {
	uint32_t size; /**< Filled. */
	uint32_t id;   /**< The kernel's number; there may be gaps. */
	/** @{ */
	uint64_t user_ns; /**< RT_HAS_CPU_MODES. */
	uint64_t nice_ns;
	uint64_t system_ns;
	uint64_t idle_ns;
	uint64_t iowait_ns;
	uint64_t irq_ns;
	uint64_t softirq_ns;
	uint64_t steal_ns;
	uint64_t guest_ns;
	uint64_t guest_nice_ns;
	/** @} */

	/* Since 0.3. */
	uint64_t valid;     /**< RT_HAS_CPU_MODES, if exact. */
	uint64_t partial;   /**< The same, if a counter has fallen, e.g. offline. */
	uint64_t estimated; /**< None so far. */
};

/** @name Items
 *  `flags` of rows.
 *  @{ */
#define RT_ITEM_IN_TOTAL 0x1U  /**< Part of the total. */
#define RT_ITEM_PARTITION 0x2U /**< Partition of another device, e.g. a MIG instance. */
#define RT_ITEM_VIRTUAL 0x4U   /**< Without hardware of its own: dm, loop, bridge, veth. */
#define RT_ITEM_STALLED 0x8U   /**< Did not answer in time: the last figures, or 0. */
#define RT_ITEM_NETWORK 0x10U  /**< Served over a network. */
/** @} */

/** One block device; counters continue if it returns. */
struct rt_disk {
	uint32_t size;  /**< Filled. */
	uint32_t flags; /**< RT_ITEM_ bits. */
	uint32_t major; /**< Device number. */
	uint32_t minor; /**< Likewise. */
	char name[64];  /**< As in `diskstats`. */
	/** @{ */
	uint64_t read_bytes; /**< Counter. */
	uint64_t write_bytes;
	uint64_t reads;
	uint64_t writes;
	uint64_t busy_ns;
	/** @} */
	uint64_t in_flight; /**< Gauge. */
};

/** One file system, each superblock once. All gauges. */
struct rt_filesystem {
	uint32_t size;            /**< Filled. */
	uint32_t flags;           /**< RT_ITEM_ bits. */
	uint32_t major;           /**< Device number of the superblock. */
	uint32_t minor;           /**< Likewise. */
	char type[32];            /**< Cut to fit. */
	char source[128];         /**< What is mounted, decoded, cut to fit. */
	char mount_point[256];    /**< Decoded, cut to fit. */
	uint64_t total_bytes;     /**< Gauge. Size. */
	uint64_t used_bytes;      /**< Gauge. Total - free. */
	uint64_t free_bytes;      /**< Gauge. Free to root. */
	uint64_t available_bytes; /**< Gauge. Free to users. */
};

/** One network interface. */
struct rt_network {
	uint32_t size;  /**< Filled. */
	uint32_t flags; /**< RT_ITEM_ bits. */
	char name[32];  /**< Of the interface. */
	/** @{ */
	uint64_t receive_bytes; /**< Counter. */
	uint64_t transmit_bytes;
	uint64_t receive_packets;
	uint64_t transmit_packets;
	uint64_t receive_errors;
	uint64_t transmit_errors;
	uint64_t receive_drops;
	uint64_t transmit_drops;
	/** @} */
};

/** One ZFS pool, as `zpool list` has it. All gauges. */
struct rt_zpool {
	uint32_t size;  /**< Filled. */
	uint32_t flags; /**< 0. */
	char name[256]; /**< Of the pool. */
	/** @{ */
	uint64_t size_bytes; /**< Gauge. */
	uint64_t allocated_bytes;
	uint64_t free_bytes;
	/** @} */
};

#define RT_GPU_NVML 1 /**< rt_gpu.source: NVIDIA's libnvidia-ml.so.1. @since 0.3 */
#define RT_GPU_DRM 2  /**< rt_gpu.source: files below /sys/class/drm. @since 0.3 */

/** One GPU, or a partition of the one before; counters continue if it returns. @since 0.3 */
struct rt_gpu {
	uint32_t size;      /**< Filled. */
	uint32_t flags;     /**< RT_ITEM_ bits. */
	uint64_t valid;     /**< RT_HAS_ bits: exact. */
	uint64_t estimated; /**< RT_HAS_ bits: about. */
	uint32_t id;        /**< Of the device, in this tracker. */
	uint32_t source;    /**< RT_GPU_ value. */
	/** @{ */
	uint32_t pci_domain; /**< PCI address; UINT32_MAX: none. */
	uint32_t pci_bus;
	uint32_t pci_device;
	uint32_t pci_function;
	/** @} */
	char name[64];    /**< By its driver. */
	char uuid[64];    /**< By NVML; else empty. */
	char driver[32];  /**< E.g. "nvidia", "amdgpu". */
	uint64_t busy_ns; /**< RT_HAS_GPU: counter. */
	/** Gauge, RT_HAS_GPU: 0 to 1 of the last moments; tree: above 1 for several engines. */
	double busy_share;
	uint64_t memory_used_bytes;  /**< Gauge, RT_HAS_GPU_MEMORY. */
	uint64_t memory_total_bytes; /**< Gauge, RT_HAS_GPU_MEMORY. */
	uint64_t energy_uj;          /**< RT_HAS_GPU_ENERGY: counter. */
	uint64_t partial;            /**< None so far. */
};

/** What a process uses of a GPU, estimated like rt_metrics.gpu_busy_ns. @since 0.3 */
struct rt_gpu_process {
	uint32_t size;        /**< Filled. */
	uint32_t gpu_id;      /**< rt_gpu.id. */
	int32_t pid;          /**< Process id. */
	uint32_t clients;     /**< Times that it opened the device; 0: unknown. */
	uint64_t start_ticks; /**< As rt_process.start_ticks; 0: unknown. */
	uint64_t valid;       /**< RT_HAS_ bits: exact. */
	uint64_t estimated;   /**< RT_HAS_ bits: about. */
	/** @{ */
	/** RT_HAS_GPU: counter, by kind of work; NVML: other_ns and copy_ns are 0. */
	uint64_t render_ns;
	uint64_t compute_ns;
	uint64_t copy_ns;
	uint64_t decode_ns;
	uint64_t encode_ns;
	uint64_t other_ns;
	/** @} */
	uint64_t memory_bytes; /**< Gauge, RT_HAS_GPU_MEMORY. */
	uint64_t partial;      /**< None so far. */
};

/** Online CPUs, by number. */
RT_API int rt_tracker_cpus(const struct rt_tracker *t, struct rt_cpu *array, size_t element_size,
                           size_t *count);
/** Block devices, with partitions and virtual ones. */
RT_API int rt_tracker_disks(const struct rt_tracker *t, struct rt_disk *array, size_t element_size,
                            size_t *count);
/** File systems that hold blocks: not proc and the like. */
RT_API int rt_tracker_filesystems(const struct rt_tracker *t, struct rt_filesystem *array,
                                  size_t element_size, size_t *count);
/** Network interfaces, with loopback and virtual ones. */
RT_API int rt_tracker_networks(const struct rt_tracker *t, struct rt_network *array,
                               size_t element_size, size_t *count);
/** ZFS pools. */
RT_API int rt_tracker_zpools(const struct rt_tracker *t, struct rt_zpool *array,
                             size_t element_size, size_t *count);

/** GPUs; of a tree, those that its members have open. A thread of the tracker calls the driver: if
 *  that hangs, a sample takes 0.1 s longer, the first 1 s. @sa @ref details_gpus
 *  @since 0.3 */
RT_API int rt_tracker_gpus(const struct rt_tracker *t, struct rt_gpu *array, size_t element_size,
                           size_t *count);
/** Processes that use GPUs; of the system, by NVML alone; -ENODATA also: NVML in another pid
 *  namespace than the first. @since 0.3 */
RT_API int rt_tracker_gpu_processes(const struct rt_tracker *t, struct rt_gpu_process *array,
                                    size_t element_size, size_t *count);

/** Whether a block device is a partition, by /sys, not by its name.
 *
 *  @param name as in `diskstats`, without /dev/.
 *  @return 1: a partition; 0: another device; -ENODEV: no such device, e.g. in a container;
 *          -ENOENT: /sys does not show any. Cost: one or two system calls.
 *  @since 0.3 */
RT_API int rt_is_partition(const char *name);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
