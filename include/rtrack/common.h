/* SPDX-License-Identifier: MIT */
/** @file
 *  What all headers use: versions, errors, how sure a figure is, domains. */
#ifndef RTRACK_COMMON_H
#define RTRACK_COMMON_H

#include <stddef.h>
#include <stdint.h>

#include <rtrack/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Marks an exported function. */
#if defined(__GNUC__)
#define RT_API __attribute__((visibility("default")))
#else
#define RT_API
#endif

/** @defgroup versioning Versions and errors
 *  The loaded library, its errors, and how sure its figures are. All cost nothing.
 *  @{ */

/** Release of the loaded library, encoded as by RT_VERSION_ENCODE(). */
RT_API uint32_t rt_version(void);

/** Text for an error number of this library.
 *
 *  @param err 0, or an errno value of either sign.
 *  @return a constant English phrase, never NULL, whatever the locale. */
RT_API const char *rt_strerror(int err);

/** Whether the library that filled a struct knew a field. Only fields without a bit of their own
 *  need it: @ref abi_structs. E.g.: `RT_HAS_FIELD(&m, rt_metrics, cpu_late_ns)`.
 *
 *  @param s pointer to a struct that begins with `size`.
 *  @param tag its type, without `struct`.
 *  @param field name of the field.
 *  @return nonzero if it did.
 *  @since 0.3 */
#define RT_HAS_FIELD(s, tag, field) ((s)->size >= offsetof(struct tag, field) + sizeof((s)->field))

/** @name How sure
 *  @since 0.3
 *  @{ */
#define RT_QUALITY_UNKNOWN 0     /**< There is no figure. */
#define RT_QUALITY_ESTIMATE 1    /**< About: above or below the truth. */
#define RT_QUALITY_LOWER_BOUND 2 /**< At least. */
#define RT_QUALITY_EXACT 3       /**< Right, within the resolution of its source. */

/** Whether there is a figure, however sure.
 *
 *  @param s pointer to a struct with `valid`, `partial` and `estimated`.
 *  @param has RT_HAS_ bits; of several, all must be known.
 *  @return nonzero if it is known. */
#define RT_IS_KNOWN(s, has) ((((s)->valid | (s)->partial | (s)->estimated) & (has)) == (has))

/** How sure a figure is.
 *
 *  @param s as of RT_IS_KNOWN().
 *  @param has RT_HAS_ bits; of several, the worst counts.
 *  @return RT_QUALITY_ value: the larger, the surer. */
#define RT_QUALITY(s, has)                                                                         \
	(!RT_IS_KNOWN(s, has)       ? RT_QUALITY_UNKNOWN                                           \
	 : ((s)->estimated & (has)) ? RT_QUALITY_ESTIMATE                                          \
	 : ((s)->partial & (has))   ? RT_QUALITY_LOWER_BOUND                                       \
	                            : RT_QUALITY_EXACT)

/** RT_QUALITY() in words: "unknown", "about", "at least" or "exact". */
#define RT_QUALITY_TEXT(s, has)                                                                    \
	(!RT_IS_KNOWN(s, has)       ? "unknown"                                                    \
	 : ((s)->estimated & (has)) ? "about"                                                      \
	 : ((s)->partial & (has))   ? "at least"                                                   \
	                            : "exact")
/** @} */

/** @} */

/** @defgroup domains Domains
 *  Bits for `valid`, `partial`, `estimated` (each set in at most one) and rt_opts.want. Each covers
 *  the fields naming it. rt_domains() has those of a kind of tracker.
 *  @{ */
#define RT_HAS_CPU 0x1ULL        /**< CPU time. */
#define RT_HAS_RSS 0x2ULL        /**< Resident memory. */
#define RT_HAS_PSS 0x4ULL        /**< Proportional memory. */
#define RT_HAS_PEAK_RSS 0x8ULL   /**< Peak resident memory. */
#define RT_HAS_IO 0x10ULL        /**< Bytes that processes read and wrote. */
#define RT_HAS_FAULTS 0x20ULL    /**< Page faults. */
#define RT_HAS_CTXSW 0x40ULL     /**< Context switches. */
#define RT_HAS_PROCESSES 0x80ULL /**< Number of processes. */
#define RT_HAS_THREADS 0x100ULL  /**< Number of threads. */
/** rt_outcome, marks: most processes at the same time. @since 0.2 */
#define RT_HAS_PROCESSES_PEAK 0x200ULL
/** rt_outcome, cgroups: memory, as the cgroup accounts for it. @since 0.2 */
#define RT_HAS_CGROUP_MEMORY 0x400ULL
/** rt_outcome, cgroups: storage I/O, likewise. @since 0.2 */
#define RT_HAS_CGROUP_IO 0x800ULL
/** rt_outcome, cgroups: tasks, likewise. @since 0.2 */
#define RT_HAS_CGROUP_TASKS 0x1000ULL
/** Processes so far; implied by RT_HAS_PROCESSES. @since 0.3 */
#define RT_HAS_PROCESSES_SEEN 0x2000ULL
/** Cgroup: limit of CPU time, throttling. @since 0.3 */
#define RT_HAS_CGROUP_CPU 0x4000ULL
#define RT_HAS_CPU_MODES 0x10000ULL         /**< System: CPU time by mode; CPUs. */
#define RT_HAS_ACTIVITY 0x20000ULL          /**< System: forks, switches, interrupts. */
#define RT_HAS_MEMORY 0x40000ULL            /**< System: memory. */
#define RT_HAS_MEMORY_AVAILABLE 0x80000ULL  /**< System: available memory. */
#define RT_HAS_SWAP 0x100000ULL             /**< System: swap space. */
#define RT_HAS_DISK 0x200000ULL             /**< System: block devices. */
#define RT_HAS_FILESYSTEM 0x400000ULL       /**< System: file systems. */
#define RT_HAS_NETWORK 0x800000ULL          /**< System: network interfaces. */
#define RT_HAS_LOAD 0x1000000ULL            /**< System: load averages. */
#define RT_HAS_PRESSURE_CPU 0x2000000ULL    /**< System, cgroup: CPU pressure. */
#define RT_HAS_PRESSURE_MEMORY 0x4000000ULL /**< System, cgroup: memory pressure. */
#define RT_HAS_PRESSURE_IO 0x8000000ULL     /**< System, cgroup: I/O pressure. */
#define RT_HAS_ZFS 0x10000000ULL            /**< System: ZFS pools. */
/** Time of GPUs, tree or system; may open their driver, so never a default. @since 0.3 */
#define RT_HAS_GPU 0x20000000ULL
/** Memory of GPUs, likewise. @since 0.3 */
#define RT_HAS_GPU_MEMORY 0x40000000ULL
/** System: energy of GPUs, likewise. @since 0.3 */
#define RT_HAS_GPU_ENERGY 0x80000000ULL
/** Tree: largest footprint so far. @since 0.3 */
#define RT_HAS_PEAK_FOOTPRINT 0x400000000ULL
#define RT_HAS_IO_CALLS 0x800000000ULL /**< Calls that read and wrote. @since 0.3 */
/** System with RT_OPT_OWN_LIMITS: CPU time of the own cgroup. @since 0.3 */
#define RT_HAS_CGROUP_CPU_TIME 0x1000000000ULL
#define RT_HAS_HUGEPAGES 0x2000000000ULL /**< System: huge pages of hugetlbfs. @since 0.3 */
#define RT_HAS_ZFS_ARC 0x4000000000ULL   /**< System: cache of ZFS (ARC). @since 0.3 */
/** Cgroup: kernel memory that can be dropped. @since 0.3 */
#define RT_HAS_CGROUP_MEMORY_SLAB 0x8000000000ULL
#define RT_HAS_RATE 0x10000000000ULL /**< rt_delta.cores_used. */
/** Cgroup: most memory that was charged. @since 0.3 */
#define RT_HAS_CGROUP_MEMORY_PEAK 0x20000000000ULL
/** Cgroup: memory that the kernel uses. @since 0.3 */
#define RT_HAS_CGROUP_MEMORY_KERNEL 0x40000000000ULL
/** Cgroup: how often it met its limits of memory. @since 0.3 */
#define RT_HAS_CGROUP_MEMORY_EVENTS 0x80000000000ULL
/** Cgroup: processes killed for lack of memory. @since 0.3 */
#define RT_HAS_CGROUP_OOM_KILLS 0x100000000000ULL
/** Cgroup: swap space. @since 0.3 */
#define RT_HAS_CGROUP_SWAP 0x200000000000ULL
/** Cgroup: most tasks. @since 0.3 */
#define RT_HAS_CGROUP_TASKS_PEAK 0x400000000000ULL
/** Rows: address space. In rt_metrics: every row has it; also the next three. @since 0.3 */
#define RT_HAS_VIRTUAL 0x800000000000ULL
/** Rows: memory that no other process maps; only if PSS is read. @since 0.3 */
#define RT_HAS_USS 0x1000000000000ULL
/** Rows: user, session, process group. @since 0.3 */
#define RT_HAS_IDS 0x2000000000000ULL
/** Rows: open descriptors. Never a default: a call for each. @since 0.3 */
#define RT_HAS_OPEN_FDS 0x4000000000000ULL
/** Tree: memory that its members map, each page once. @since 0.3 */
#define RT_HAS_FOOTPRINT 0x80000000000000ULL
/** Tree: footprint that the kernel cannot drop. @since 0.3 */
#define RT_HAS_NEEDED 0x100000000000000ULL
#define RT_HAS_TREE_SWAP 0x200000000000000ULL /**< Tree: swap space. @since 0.3 */
/** Tree: largest needed memory so far. @since 0.3 */
#define RT_HAS_PEAK_NEEDED 0x400000000000000ULL
/** @} */

#ifdef __cplusplus
}
#endif

#endif
