/* SPDX-License-Identifier: MIT */
/** @file
 *  Tables of all fields and constants, for bindings. */
#ifndef RTRACK_FIELDS_H
#define RTRACK_FIELDS_H

#include <rtrack/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup fields Field tables
 *  Names, units and offsets of all fields, and the constants. All cost nothing. A call is -EINVAL
 *  past the last one. @sa @ref details_fields
 *  @{ */

/** @name Structs
 *  @{ */
#define RT_STRUCT_RUSAGE 1           /**< struct rt_rusage. */
#define RT_STRUCT_METRICS 2          /**< struct rt_metrics. */
#define RT_STRUCT_DELTA 3            /**< struct rt_delta. */
#define RT_STRUCT_OUTCOME 4          /**< struct rt_outcome. */
#define RT_STRUCT_PROCESS 5          /**< struct rt_process. */
#define RT_STRUCT_CPU 6              /**< struct rt_cpu. */
#define RT_STRUCT_DISK 7             /**< struct rt_disk. */
#define RT_STRUCT_FILESYSTEM 8       /**< struct rt_filesystem. */
#define RT_STRUCT_NETWORK 9          /**< struct rt_network. */
#define RT_STRUCT_ZPOOL 10           /**< struct rt_zpool. */
#define RT_STRUCT_COMMAND_PROCESS 11 /**< struct rt_command_process. @since 0.2 */
/** @} */
/** @name Structs since 0.3
 *  @since 0.3
 *  @{ */
#define RT_STRUCT_OPTS 12            /**< struct rt_opts. */
#define RT_STRUCT_COMMAND_OPTS 13    /**< struct rt_command_opts. */
#define RT_STRUCT_CONSTANT 14        /**< struct rt_constant. */
#define RT_STRUCT_OBSTACLE 15        /**< struct rt_obstacle. */
#define RT_STRUCT_TRACE_OPTS 16      /**< struct rt_trace_opts. */
#define RT_STRUCT_TRACE_EVENT 17     /**< struct rt_trace_event. */
#define RT_STRUCT_TRACE_TOTALS 18    /**< struct rt_trace_totals. */
#define RT_STRUCT_GPU 19             /**< struct rt_gpu. */
#define RT_STRUCT_GPU_PROCESS 20     /**< struct rt_gpu_process. */
#define RT_STRUCT_COMMAND_INFO 21    /**< struct rt_command_info. */
#define RT_STRUCT_RECORDER_OPTS 22   /**< struct rt_recorder_opts. */
#define RT_STRUCT_RECORDER_TOTALS 23 /**< struct rt_recorder_totals. */
#define RT_STRUCT_PEAKS 24           /**< struct rt_peaks. */
/** @} */

#define RT_TYPE_U32 1     /**< uint32_t. */
#define RT_TYPE_I32 2     /**< int32_t. */
#define RT_TYPE_U64 3     /**< uint64_t. */
#define RT_TYPE_I64 4     /**< int64_t. */
#define RT_TYPE_DOUBLE 5  /**< double. */
#define RT_TYPE_CHARS 6   /**< NUL-terminated char array. */
#define RT_TYPE_RUSAGE 7  /**< struct rt_rusage. */
#define RT_TYPE_POINTER 8 /**< Pointer of the caller, in inputs. @since 0.3 */

#define RT_FIELD_META 1    /**< Of the struct itself: sizes, masks, times, identity. */
#define RT_FIELD_COUNTER 2 /**< Never falls. */
#define RT_FIELD_GAUGE 3   /**< Holds for one instant. */

/** One field of one struct. */
struct rt_field {
	uint32_t size;     /**< Filled. */
	uint32_t offset;   /**< Of the field, bytes. */
	uint32_t length;   /**< Of the field, bytes. */
	uint32_t type;     /**< RT_TYPE_ value. */
	uint32_t role;     /**< RT_FIELD_ value. */
	uint32_t reserved; /**< 0. */
	uint64_t has;      /**< RT_HAS_ bits that it needs; rt_rusage: bit of rt_pid_getrusage(). */
	char name[40];     /**< As in the header. */
	char unit[16];     /**< UCUM: "ns", "By", "1" ... */

	/* Since 0.3. */
	char text[104]; /**< What it is, for people. */
};

/** Number of fields of a struct, by RT_STRUCT_ value; 0: unknown. */
RT_API uint32_t rt_field_count(uint32_t struct_id);

/** Size of a struct in the loaded library, in bytes; 0: unknown. */
RT_API uint32_t rt_field_struct_size(uint32_t struct_id);

/** Describe field @p index, from 0, in the order of the struct. @return 0 or -EINVAL. */
RT_API int rt_field_get(uint32_t struct_id, uint32_t index, struct rt_field *out, size_t out_size);

/** @name Groups
 *  Of rt_constant.group.
 *  @since 0.3
 *  @{ */
#define RT_CONSTANTS_HAS 1        /**< RT_HAS_ bits. */
#define RT_CONSTANTS_REASON 2     /**< RT_REASON_ bits. */
#define RT_CONSTANTS_OPT 3        /**< RT_OPT_ bits. */
#define RT_CONSTANTS_ACCOUNTING 4 /**< RT_ACCOUNTING_ values. */
#define RT_CONSTANTS_OTHER 5      /**< All others. */
/** @} */

/** One constant. @since 0.3 */
struct rt_constant {
	uint32_t size;  /**< Filled. */
	uint32_t group; /**< RT_CONSTANTS_ value. */
	int64_t value;  /**< Its value. */
	char name[48];  /**< E.g. "RT_REASON_UNWAITED". */
	char text[144]; /**< What it means, for people. */
};

/** Describe constant @p index, from 0, in any order. All but the version macros are there.
 *  @return 0 or -EINVAL.
 *  @since 0.3 */
RT_API int rt_constant_get(uint32_t index, struct rt_constant *out, size_t out_size);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
