/* SPDX-License-Identifier: MIT */
/** @file
 *  Devices of the system, in the last sample of a tracker. */
#ifndef RTRACK_SYSTEM_H
#define RTRACK_SYSTEM_H

#include <rtrack/common.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rt_tracker;

/** @defgroup lists Lists
 *  Figures of each item in the last sample, one flat row per item.
 *
 *  All these calls work alike:
 *  - `element_size` is sizeof of the row as the caller was compiled with. It is also the stride of
 *    @p array.
 *  - On entry, `*count` is the number of rows that @p array has room for. On return, it is the
 *    number of items, which may be more than were written.
 *  - @p array may be NULL if `*count` is 0.
 *
 *  They read no file. They return 0, -EFAULT (an argument is NULL), -EINVAL (the row has a wrong
 *  size), -EOPNOTSUPP (this kind of tracker has no such list, or it was not requested), or
 *  -ENODATA (no sample yet, or the list could not be read).
 *  @{ */

/** One CPU. The modes are disjoint, as in rt_metrics. @since 0.1 */
struct rt_cpu {
	uint32_t size;          /**< Bytes of this struct that the library filled. */
	uint32_t id;            /**< The kernel's number of the CPU. Numbers may have gaps. */
	uint64_t user_ns;       /**< Counter, RT_HAS_CPU_MODES, without guest time. */
	uint64_t nice_ns;       /**< Counter, RT_HAS_CPU_MODES, without guest_nice time. */
	uint64_t system_ns;     /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t idle_ns;       /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t iowait_ns;     /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t irq_ns;        /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t softirq_ns;    /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t steal_ns;      /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t guest_ns;      /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t guest_nice_ns; /**< Counter, RT_HAS_CPU_MODES. */
	/** RT_HAS_CPU_MODES, if the counters are exact. @since 0.3 */
	uint64_t valid;
	/** The same, if a counter has fallen since the sample before, e.g. as the CPU went offline:
	 * its growth since then is not in it. @since 0.3 */
	uint64_t partial;
	uint64_t estimated; /**< None so far. @since 0.3 */
};

/** rt_disk.flags, rt_network.flags, rt_filesystem.flags, rt_gpu.flags: the item is part of the
 * total. @since 0.1 */
#define RT_ITEM_IN_TOTAL 0x1U
/** rt_disk.flags, rt_gpu.flags: a partition of another device. E.g.: a MIG instance. @since 0.1
 * @since 0.3 Of GPUs. */
#define RT_ITEM_PARTITION 0x2U
/** rt_disk.flags, rt_network.flags: without hardware of its own (dm, md, loop, zram; bridge, veth,
 * tunnel). @since 0.1 */
#define RT_ITEM_VIRTUAL 0x4U
/** rt_filesystem.flags: it did not answer in time. The figures are the last known ones, or 0.
 * @since 0.1 */
#define RT_ITEM_STALLED 0x8U
/** rt_filesystem.flags: served over a network. @since 0.1 */
#define RT_ITEM_NETWORK 0x10U

/** One block device. Counters continue when the device is reset, or removed and added again.
 * @since 0.1 */
struct rt_disk {
	uint32_t size;        /**< Bytes of this struct that the library filled. */
	uint32_t flags;       /**< RT_ITEM_ bits. */
	uint32_t major;       /**< Device number. */
	uint32_t minor;       /**< Device number. */
	char name[64];        /**< Kernel name, as in `diskstats`. */
	uint64_t read_bytes;  /**< Counter. */
	uint64_t write_bytes; /**< Counter. */
	uint64_t reads;       /**< Counter. Operations completed. */
	uint64_t writes;      /**< Counter. Operations completed. */
	uint64_t busy_ns;     /**< Counter. Time with I/O in flight. */
	uint64_t in_flight;   /**< Gauge. Operations in flight. */
};

/** One file system, each superblock once. @since 0.1 */
struct rt_filesystem {
	uint32_t size;            /**< Bytes of this struct that the library filled. */
	uint32_t flags;           /**< RT_ITEM_ bits. */
	uint32_t major;           /**< Device number of the superblock. */
	uint32_t minor;           /**< Device number of the superblock. */
	char type[32];            /**< Type, as in `mountinfo`. Truncated to 31 bytes. */
	char source[128];         /**< What is mounted, decoded. Truncated to 127 bytes. */
	char mount_point[256];    /**< Mount point, decoded. Truncated to 255 bytes. */
	uint64_t total_bytes;     /**< Gauge. Size. */
	uint64_t used_bytes;      /**< Gauge. Total - free. */
	uint64_t free_bytes;      /**< Gauge. Free for root (f_bfree). */
	uint64_t available_bytes; /**< Gauge. Free for users (f_bavail). */
};

/** One network interface of the caller's network namespace. @since 0.1 */
struct rt_network {
	uint32_t size;             /**< Bytes of this struct that the library filled. */
	uint32_t flags;            /**< RT_ITEM_ bits. */
	char name[32];             /**< Name of the interface. */
	uint64_t receive_bytes;    /**< Counter. */
	uint64_t transmit_bytes;   /**< Counter. */
	uint64_t receive_packets;  /**< Counter. */
	uint64_t transmit_packets; /**< Counter. */
	uint64_t receive_errors;   /**< Counter. */
	uint64_t transmit_errors;  /**< Counter. */
	uint64_t receive_drops;    /**< Counter. */
	uint64_t transmit_drops;   /**< Counter. */
};

/** One ZFS pool, as `zpool list` reports it. @since 0.1 */
struct rt_zpool {
	uint32_t size;            /**< Bytes of this struct that the library filled. */
	uint32_t flags;           /**< 0. */
	char name[256];           /**< Name of the pool. */
	uint64_t size_bytes;      /**< Gauge. */
	uint64_t allocated_bytes; /**< Gauge. */
	uint64_t free_bytes;      /**< Gauge. */
};

/** rt_gpu.source: the library of NVIDIA's driver, libnvidia-ml.so.1. @since 0.3 */
#define RT_GPU_NVML 1
/** rt_gpu.source: the files of a DRM driver below /sys/class/drm. @since 0.3 */
#define RT_GPU_DRM 2

/** One GPU, or one partition of the GPU that comes before it. Counters continue when the device is
 * removed and comes back, or its driver is loaded again. @since 0.3 */
struct rt_gpu {
	uint32_t size;  /**< Bytes of this struct that the library filled. */
	uint32_t flags; /**< RT_ITEM_ bits. */
	uint64_t valid; /**< RT_HAS_ bits of the exact figures of this row. */
	/** RT_HAS_ bits of the figures of this row that may be above or below the truth. */
	uint64_t estimated;
	uint32_t id;           /**< The same while the tracker lives; see rt_gpu_process.gpu_id. */
	uint32_t source;       /**< RT_GPU_ value. */
	uint32_t pci_domain;   /**< PCI address; all four are UINT32_MAX if there is none. */
	uint32_t pci_bus;      /**< PCI address. */
	uint32_t pci_device;   /**< PCI address. */
	uint32_t pci_function; /**< PCI address. */
	char name[64];         /**< As its driver calls it, or as in /sys/class/drm. */
	char uuid[64];         /**< As NVML has it; else empty. */
	char driver[32];       /**< E.g.: "nvidia", "amdgpu", "xe". */
	uint64_t busy_ns;      /**< Counter, RT_HAS_GPU. See rt_metrics.gpu_busy_ns. */
	/** Gauge, RT_HAS_GPU. Share of the last moments, 0 to 1, as the driver reports it. Tree: of
	 * the time since the previous sample; above 1 if several engines worked. */
	double busy_share;
	uint64_t memory_used_bytes;  /**< Gauge, RT_HAS_GPU_MEMORY. */
	uint64_t memory_total_bytes; /**< Gauge, RT_HAS_GPU_MEMORY. */
	uint64_t energy_uj;          /**< Counter, RT_HAS_GPU_ENERGY. Since it was loaded. */
	uint64_t partial;            /**< None so far. */
};

/** What one process uses of one GPU, or of one partition. Each time is estimated like
 * rt_metrics.gpu_busy_ns, since the process was first listed. @since 0.3 */
struct rt_gpu_process {
	uint32_t size;   /**< Bytes of this struct that the library filled. */
	uint32_t gpu_id; /**< rt_gpu.id. */
	int32_t pid;     /**< Process id. */
	/** Times that it has opened the device; 0: not known, as by NVML. */
	uint32_t clients;
	/** Start, in clock ticks since boot, as rt_process.start_ticks; 0: not known. */
	uint64_t start_ticks;
	uint64_t valid; /**< RT_HAS_ bits of the exact figures of this row. */
	/** RT_HAS_ bits of the figures of this row that may be above or below the truth. */
	uint64_t estimated;
	/** Counter, RT_HAS_GPU. Drawing. NVML: time of a process that only draws. */
	uint64_t render_ns;
	/** Counter, RT_HAS_GPU. Computing. NVML: time of any other process. */
	uint64_t compute_ns;
	uint64_t copy_ns;      /**< Counter, RT_HAS_GPU. Copying; 0 by NVML. */
	uint64_t decode_ns;    /**< Counter, RT_HAS_GPU. Decoding video. */
	uint64_t encode_ns;    /**< Counter, RT_HAS_GPU. Encoding video. */
	uint64_t other_ns;     /**< Counter, RT_HAS_GPU. Anything else; 0 by NVML. */
	uint64_t memory_bytes; /**< Gauge, RT_HAS_GPU_MEMORY. Memory of the device. */
	uint64_t partial;      /**< None so far. */
};

/** Online CPUs, by number. @since 0.1 */
RT_API int rt_tracker_cpus(const struct rt_tracker *t, struct rt_cpu *array, size_t element_size,
                           size_t *count);
/** Block devices. Partitions and virtual devices are included and marked. @since 0.1 */
RT_API int rt_tracker_disks(const struct rt_tracker *t, struct rt_disk *array, size_t element_size,
                            size_t *count);
/** File systems that hold blocks: not proc and the like. @since 0.1 */
RT_API int rt_tracker_filesystems(const struct rt_tracker *t, struct rt_filesystem *array,
                                  size_t element_size, size_t *count);
/** Network interfaces. Loopback and virtual interfaces are included and marked. @since 0.1 */
RT_API int rt_tracker_networks(const struct rt_tracker *t, struct rt_network *array,
                               size_t element_size, size_t *count);
/** ZFS pools. @since 0.1 */
RT_API int rt_tracker_zpools(const struct rt_tracker *t, struct rt_zpool *array,
                             size_t element_size, size_t *count);

/** GPUs. Partitions come after their device, and are marked.
 *
 *  For a tree, the devices that its members have open, with what the members use of them: busy_ns,
 *  busy_share (which may be above 1 if several engines work) and memory_used_bytes add up to the
 *  figures of the sample, but for what departed members used on devices that are no longer listed.
 *  Energy is never known. The other fields are as for the system.
 *
 *  Devices of NVIDIA's driver are read through its library, libnvidia-ml.so.1, if it is installed
 *  and rt_opts.root is not set. A thread of the tracker calls it. So if the driver hangs, the
 *  figures are missing, and one sample takes 0.1 s longer (1 s if it is the first). The library and
 *  its descriptors stay in the process until rt_tracker_free(); for good if the driver hangs then.
 *  After fork() the child starts the library anew, which its vendor does not promise to work.
 *
 *  Devices of other drivers are found in /sys/class/drm, if they can render. Only amdgpu reports
 *  how busy a device is and how much memory is used. A card that NVML has, too, is listed once.
 *
 *  rt_tracker_status() of the three domains: -ENOENT (no GPU, or no driver), -EACCES, -ETIMEDOUT
 *  (the driver hangs), -ENODEV (a GPU is lost), -EOPNOTSUPP (a GPU or its driver does not report
 *  it), -EPROTONOSUPPORT (the library and the driver are of different releases). For a tree also
 *  -EXDEV (NVML, in any other pid namespace than the first) and -ENODATA (a process or a client has
 *  gone, or the figure is an estimate). There -EACCES may say that the descriptors of a member
 *  cannot be listed, and -ENOENT comes from NVML alone: without any GPU the figures are valid and
 *  0.
 *  @since 0.3 */
RT_API int rt_tracker_gpus(const struct rt_tracker *t, struct rt_gpu *array, size_t element_size,
                           size_t *count);
/** Processes that use GPUs. Needs RT_HAS_GPU or RT_HAS_GPU_MEMORY.
 *
 *  For the system, as NVML lists them; processes that use other drivers are not listed. NVML has
 *  process ids of the first pid namespace. In any other namespace the list cannot be read
 *  (-ENODATA), since these ids mean nothing there, or other processes.
 *
 *  For a tree, its members alone: from NVML, with the same limit, and from `/proc/PID/fdinfo` for
 *  the other drivers. A client that several members share is listed for one of them.
 *  @since 0.3 */
RT_API int rt_tracker_gpu_processes(const struct rt_tracker *t, struct rt_gpu_process *array,
                                    size_t element_size, size_t *count);

/** Whether a block device is a partition of another one, without a tracker.
 *
 *  Source: `/sys/class/block/NAME/partition`, not the name. E.g.: nvme0n1p1 is a partition,
 *  nvme0n10 is a disk; vda1 is a partition on most systems, and a disk on some.
 *
 *  @param name kernel name, as in `diskstats`; without "/dev/".
 *  @retval 1 a partition
 *  @retval 0 another block device
 *  @retval -ENODEV there is no such block device. This is not 0: in a container without the devices
 *          of its host, the partitions of a list would be added to their disks.
 *  @retval -ENOENT /sys does not show block devices
 *  @retval -EINVAL @p name is empty, ".", "..", contains a '/', or has more than 63 bytes
 *  @retval -EFAULT @p name is NULL
 *
 *  Cost: one or two system calls, which open nothing. @since 0.3 */
RT_API int rt_is_partition(const char *name);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
