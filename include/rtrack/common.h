/* SPDX-License-Identifier: MIT */
/** @file
 *  What all headers use: versions, errors, how sure a figure is, and the domains. */
#ifndef RTRACK_COMMON_H
#define RTRACK_COMMON_H

#include <stddef.h>
#include <stdint.h>

#include <rtrack/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Marks an exported function. @since 0.1 */
#if defined(__GNUC__)
#define RT_API __attribute__((visibility("default")))
#else
#define RT_API
#endif

/** @defgroup versioning Versions and errors
 *  The release of the loaded library, and the meaning of its error numbers.
 *  @{ */

/** Release of the loaded library.
 *
 *  @return the release, encoded as by RT_VERSION_ENCODE(). Cost: none.
 *  @since 0.1 */
RT_API uint32_t rt_version(void);

/** Text for an error number that this library returned.
 *
 *  @param err 0 or a negative errno value. A positive value is treated as its negative.
 *  @return a constant English phrase, never NULL. It does not depend on the locale. The caller
 *          must not free it.
 *  @since 0.1 */
RT_API const char *rt_strerror(int err);

/** Whether the library that filled a struct knew a field.
 *
 *  An older library does not know the later fields of a struct: they are 0 and mean nothing,
 *  whatever `valid` says of their bit. The same holds for a sample that another program has taken
 *  and stored. Figures that came after release 0.3 bring their own bits, so this is for fields
 *  without a bit, and for some that came under an older one (@ref abi_structs). E.g.:
 *
 *      if (RT_HAS_FIELD(&m, rt_metrics, cpu_late_ns))
 *              ...
 *
 *  @param s pointer to a struct that begins with `size`.
 *  @param tag its type, without `struct`.
 *  @param field name of the field.
 *  @return nonzero if it knew the field. Cost: none.
 *  @since 0.3 */
#define RT_HAS_FIELD(s, tag, field) ((s)->size >= offsetof(struct tag, field) + sizeof((s)->field))

/** RT_QUALITY(): there is no figure. @since 0.3 */
#define RT_QUALITY_UNKNOWN 0
/** RT_QUALITY(): about. The figure may be above or below the truth. @since 0.3 */
#define RT_QUALITY_ESTIMATE 1
/** RT_QUALITY(): at least. The figure is a lower bound. @since 0.3 */
#define RT_QUALITY_LOWER_BOUND 2
/** RT_QUALITY(): the figure is right, within the resolution of its source. @since 0.3 */
#define RT_QUALITY_EXACT 3

/** Whether there is a figure, however sure it is.
 *
 *  @param s pointer to a struct with `valid`, `partial` and `estimated`.
 *  @param has RT_HAS_ bit of the figure; of several bits, whether all are known.
 *  @return nonzero if it is known. Cost: none.
 *  @since 0.3 */
#define RT_IS_KNOWN(s, has) ((((s)->valid | (s)->partial | (s)->estimated) & (has)) == (has))

/** How sure a figure is. E.g.:
 *
 *      static const char *const words[] = { "unknown", "about", "at least", "exactly" };
 *
 *      printf("%s %.3f s\n", words[RT_QUALITY(&m, RT_HAS_CPU)], m.rusage.ru_utime);
 *
 *  @param s pointer to a struct with `valid`, `partial` and `estimated`.
 *  @param has RT_HAS_ bit of the figure; of several bits, the worst.
 *  @return RT_QUALITY_ value: the larger, the surer. Cost: none.
 *  @since 0.3 */
#define RT_QUALITY(s, has)                                                                         \
	(!RT_IS_KNOWN(s, has)       ? RT_QUALITY_UNKNOWN                                           \
	 : ((s)->estimated & (has)) ? RT_QUALITY_ESTIMATE                                          \
	 : ((s)->partial & (has))   ? RT_QUALITY_LOWER_BOUND                                       \
	                            : RT_QUALITY_EXACT)

/** @} */

/** @defgroup domains Domains
 *  Bits of `valid`, `partial` and `estimated` in the output structs, and of rt_opts.want. Each bit
 *  stands for the fields that name it in their documentation. A bit is in one of the three masks
 *  at most.
 *  @{ */
#define RT_HAS_CPU 0x1ULL      /**< CPU time in user and kernel mode. @since 0.1 */
#define RT_HAS_RSS 0x2ULL      /**< Resident memory. @since 0.1 */
#define RT_HAS_PSS 0x4ULL      /**< Proportional memory. @since 0.1 */
#define RT_HAS_PEAK_RSS 0x8ULL /**< Peak resident memory. @since 0.1 */
#define RT_HAS_IO 0x10ULL      /**< Bytes read and written by processes. @since 0.1 */
#define RT_HAS_FAULTS 0x20ULL  /**< Page faults. @since 0.1 */
/** Voluntary and involuntary context switches. @since 0.1 */
#define RT_HAS_CTXSW 0x40ULL
#define RT_HAS_PROCESSES 0x80ULL /**< Number of processes. @since 0.1 */
#define RT_HAS_THREADS 0x100ULL  /**< Number of threads. @since 0.1 */
/** rt_outcome: largest number of processes at the same time. @since 0.2 */
#define RT_HAS_PROCESSES_PEAK 0x200ULL
/** rt_outcome, and cgroups: memory, as the cgroup accounts for it.
 * @since 0.2
 * @since 0.3 Also of rt_cgroup_tracker_new(). */
#define RT_HAS_CGROUP_MEMORY 0x400ULL
/** rt_outcome, and cgroups: storage I/O, as the cgroup accounts for it.
 * @since 0.2
 * @since 0.3 Also of rt_cgroup_tracker_new(). */
#define RT_HAS_CGROUP_IO 0x800ULL
/** rt_outcome, and cgroups: tasks, as the cgroup accounts for them.
 * @since 0.2
 * @since 0.3 Also of rt_cgroup_tracker_new(). */
#define RT_HAS_CGROUP_TASKS 0x1000ULL
/** rt_metrics.processes_seen, rt_delta.processes_seen. RT_HAS_PROCESSES in rt_opts.want includes
 * it. @since 0.3 */
#define RT_HAS_PROCESSES_SEEN 0x2000ULL
/** Cgroup: its limit of CPU time, and how it was throttled. @since 0.3 */
#define RT_HAS_CGROUP_CPU 0x4000ULL
/** System: CPU time by mode, and the list of CPUs. @since 0.1 */
#define RT_HAS_CPU_MODES 0x10000ULL
/** System: forks, context switches, interrupts, running and blocked threads. @since 0.1 */
#define RT_HAS_ACTIVITY 0x20000ULL
/** System: memory, except available memory. @since 0.1 */
#define RT_HAS_MEMORY 0x40000ULL
#define RT_HAS_MEMORY_AVAILABLE 0x80000ULL /**< System: available memory. @since 0.1 */
#define RT_HAS_SWAP 0x100000ULL            /**< System: swap space. @since 0.1 */
#define RT_HAS_DISK 0x200000ULL            /**< System: block devices and their list. @since 0.1 */
/** System: file systems and their list. @since 0.1 */
#define RT_HAS_FILESYSTEM 0x400000ULL
/** System: network interfaces and their list. @since 0.1 */
#define RT_HAS_NETWORK 0x800000ULL
#define RT_HAS_LOAD 0x1000000ULL            /**< System: load averages. @since 0.1 */
#define RT_HAS_PRESSURE_CPU 0x2000000ULL    /**< System: CPU pressure. @since 0.1 */
#define RT_HAS_PRESSURE_MEMORY 0x4000000ULL /**< System: memory pressure. @since 0.1 */
#define RT_HAS_PRESSURE_IO 0x8000000ULL     /**< System: I/O pressure. @since 0.1 */
#define RT_HAS_ZFS 0x10000000ULL            /**< System: ZFS pools and their list. @since 0.1 */
/** Time for which GPUs were busy, and their list. Tree: what its members used. Never a default: it
 * may open the library of their driver. @since 0.3 */
#define RT_HAS_GPU 0x20000000ULL
/** Memory of GPUs. Tree: what its members hold. Never a default, likewise. @since 0.3 */
#define RT_HAS_GPU_MEMORY 0x40000000ULL
/** System: energy that GPUs have used. Never a default, likewise. @since 0.3 */
#define RT_HAS_GPU_ENERGY 0x80000000ULL
/** Tree: largest footprint so far, and the largest memory that was needed. @since 0.3 */
#define RT_HAS_PEAK_FOOTPRINT 0x400000000ULL
/** Calls with which processes read and wrote. @since 0.3 */
#define RT_HAS_IO_CALLS 0x800000000ULL
/** System with RT_OPT_OWN_LIMITS: CPU time of the caller's own cgroup. @since 0.3 */
#define RT_HAS_CGROUP_CPU_TIME 0x1000000000ULL
#define RT_HAS_HUGEPAGES 0x2000000000ULL /**< System: huge pages of hugetlbfs. @since 0.3 */
#define RT_HAS_ZFS_ARC 0x4000000000ULL   /**< System: the cache of ZFS (ARC). @since 0.3 */
/** Cgroup: reclaimable slab, the part of kernel memory that the kernel can drop. @since 0.3 */
#define RT_HAS_CGROUP_MEMORY_SLAB 0x8000000000ULL
#define RT_HAS_RATE 0x10000000000ULL /**< rt_delta only: figures per time. @since 0.1 */
/** Cgroup: the most memory that was charged to it. @since 0.3 */
#define RT_HAS_CGROUP_MEMORY_PEAK 0x20000000000ULL
/** Cgroup: memory that the kernel uses on its behalf. @since 0.3 */
#define RT_HAS_CGROUP_MEMORY_KERNEL 0x40000000000ULL
/** Cgroup: how often it reached its limits of memory. @since 0.3 */
#define RT_HAS_CGROUP_MEMORY_EVENTS 0x80000000000ULL
/** Cgroup: processes that were killed because memory ran out. @since 0.3 */
#define RT_HAS_CGROUP_OOM_KILLS 0x100000000000ULL
/** Cgroup: swap space that it uses. @since 0.3 */
#define RT_HAS_CGROUP_SWAP 0x200000000000ULL
/** Cgroup: the largest number of its tasks. @since 0.3 */
#define RT_HAS_CGROUP_TASKS_PEAK 0x400000000000ULL
/** Processes: size of the address space. In a sample: whether the rows of all members have it, as
 * for the next three. @since 0.3 */
#define RT_HAS_VIRTUAL 0x800000000000ULL
/** Processes: memory that no other maps, and swap space. Known if PSS is read. @since 0.3 */
#define RT_HAS_USS 0x1000000000000ULL
/** Processes: user, session and process group. @since 0.3 */
#define RT_HAS_IDS 0x2000000000000ULL
/** Processes: open descriptors. Never a default, since it takes a system call. @since 0.3 */
#define RT_HAS_OPEN_FDS 0x4000000000000ULL
/** Tree: the memory that its members map, each page once. @since 0.3 */
#define RT_HAS_FOOTPRINT 0x80000000000000ULL
/** Tree: the part of the footprint that the kernel cannot drop or write back. @since 0.3 */
#define RT_HAS_NEEDED 0x100000000000000ULL
/** Tree: swap space that its members use. @since 0.3 */
#define RT_HAS_TREE_SWAP 0x200000000000000ULL
/** @} */

#ifdef __cplusplus
}
#endif

#endif
