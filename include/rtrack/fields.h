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
 *  Names, units and offsets of all fields, and the constants, so that bindings need not repeat
 *  them.
 *  @{ */

#define RT_STRUCT_RUSAGE 1           /**< struct rt_rusage. @since 0.1 */
#define RT_STRUCT_METRICS 2          /**< struct rt_metrics. @since 0.1 */
#define RT_STRUCT_DELTA 3            /**< struct rt_delta. @since 0.1 */
#define RT_STRUCT_OUTCOME 4          /**< struct rt_outcome. @since 0.1 */
#define RT_STRUCT_PROCESS 5          /**< struct rt_process. @since 0.1 */
#define RT_STRUCT_CPU 6              /**< struct rt_cpu. @since 0.1 */
#define RT_STRUCT_DISK 7             /**< struct rt_disk. @since 0.1 */
#define RT_STRUCT_FILESYSTEM 8       /**< struct rt_filesystem. @since 0.1 */
#define RT_STRUCT_NETWORK 9          /**< struct rt_network. @since 0.1 */
#define RT_STRUCT_ZPOOL 10           /**< struct rt_zpool. @since 0.1 */
#define RT_STRUCT_COMMAND_PROCESS 11 /**< struct rt_command_process. @since 0.2 */
#define RT_STRUCT_OPTS 12            /**< struct rt_opts. @since 0.3 */
#define RT_STRUCT_COMMAND_OPTS 13    /**< struct rt_command_opts. @since 0.3 */
#define RT_STRUCT_CONSTANT 14        /**< struct rt_constant. @since 0.3 */
#define RT_STRUCT_OBSTACLE 15        /**< struct rt_obstacle. @since 0.3 */
#define RT_STRUCT_TRACE_OPTS 16      /**< struct rt_trace_opts. @since 0.3 */
#define RT_STRUCT_TRACE_EVENT 17     /**< struct rt_trace_event. @since 0.3 */
#define RT_STRUCT_TRACE_TOTALS 18    /**< struct rt_trace_totals. @since 0.3 */
#define RT_STRUCT_GPU 19             /**< struct rt_gpu. @since 0.3 */
#define RT_STRUCT_GPU_PROCESS 20     /**< struct rt_gpu_process. @since 0.3 */
#define RT_STRUCT_COMMAND_INFO 21    /**< struct rt_command_info. @since 0.3 */
#define RT_STRUCT_RECORDER_OPTS 22   /**< struct rt_recorder_opts. @since 0.3 */
#define RT_STRUCT_RECORDER_TOTALS 23 /**< struct rt_recorder_totals. @since 0.3 */
#define RT_STRUCT_PEAKS 24           /**< struct rt_peaks. @since 0.3 */

#define RT_TYPE_U32 1    /**< uint32_t. @since 0.1 */
#define RT_TYPE_I32 2    /**< int32_t. @since 0.1 */
#define RT_TYPE_U64 3    /**< uint64_t. @since 0.1 */
#define RT_TYPE_I64 4    /**< int64_t. @since 0.1 */
#define RT_TYPE_DOUBLE 5 /**< double. @since 0.1 */
#define RT_TYPE_CHARS 6  /**< NUL-terminated char array of `length` bytes. @since 0.1 */
#define RT_TYPE_RUSAGE 7 /**< struct rt_rusage. @since 0.1 */
/** A pointer of the caller, in inputs alone. @since 0.3 */
#define RT_TYPE_POINTER 8

/** Describes the struct itself: sizes, masks, times, identity. @since 0.1 */
#define RT_FIELD_META 1
#define RT_FIELD_COUNTER 2 /**< Never falls. @since 0.1 */
#define RT_FIELD_GAUGE 3   /**< Holds for one instant. @since 0.1 */

/** One field of one struct. @since 0.1 */
struct rt_field {
	uint32_t size;     /**< Bytes of this struct that the library filled. */
	uint32_t offset;   /**< Offset of the field in the struct, in bytes. */
	uint32_t length;   /**< Length of the field, in bytes. */
	uint32_t type;     /**< RT_TYPE_ value. */
	uint32_t role;     /**< RT_FIELD_ value. */
	uint32_t reserved; /**< 0. */
	/** RT_HAS_ bits that must all be set for the field to be valid, or 0 if it needs none. For
	 * rt_rusage, the bit of rt_pid_getrusage(). */
	uint64_t has;
	char name[40]; /**< Name, as in the header. */
	/** "ns", "s", "By", "KiBy", "512By", "1" ...: UCUM, as in OpenTelemetry. */
	char unit[16];
	/** What it is, in English: part of a sentence, for people. Its wording may change. For a
	 * difference, what it is the difference of. @since 0.3 */
	char text[104];
};

/** Number of fields of a struct.
 *
 *  @param struct_id RT_STRUCT_ value.
 *  @return the number, or 0 for an unknown struct.
 *  @since 0.1 */
RT_API uint32_t rt_field_count(uint32_t struct_id);

/** Size of a struct in the loaded library.
 *
 *  @param struct_id RT_STRUCT_ value.
 *  @return the size in bytes, or 0 for an unknown struct.
 *  @since 0.1 */
RT_API uint32_t rt_field_struct_size(uint32_t struct_id);

/** Describe one field.
 *
 *  @param struct_id RT_STRUCT_ value.
 *  @param index number of the field, from 0, in the order of the struct.
 *  @param out receives the description.
 *  @param out_size sizeof(struct rt_field) as the caller was compiled with.
 *  @retval 0 success
 *  @retval -EINVAL the struct is unknown, @p index is past its end, or @p out has a wrong size
 *  @retval -EFAULT @p out is NULL
 *  @since 0.1 */
RT_API int rt_field_get(uint32_t struct_id, uint32_t index, struct rt_field *out, size_t out_size);

#define RT_CONSTANTS_HAS 1        /**< rt_constant.group: RT_HAS_ bits. @since 0.3 */
#define RT_CONSTANTS_REASON 2     /**< rt_constant.group: RT_REASON_ bits. @since 0.3 */
#define RT_CONSTANTS_OPT 3        /**< rt_constant.group: RT_OPT_ bits. @since 0.3 */
#define RT_CONSTANTS_ACCOUNTING 4 /**< rt_constant.group: RT_ACCOUNTING_ values. @since 0.3 */
#define RT_CONSTANTS_OTHER 5      /**< rt_constant.group: all others. @since 0.3 */

/** One constant of the header. @since 0.3 */
struct rt_constant {
	uint32_t size;  /**< Bytes of this struct that the library filled. */
	uint32_t group; /**< RT_CONSTANTS_ value. */
	int64_t value;  /**< Its value. */
	char name[48];  /**< Name, as in the header. E.g.: "RT_REASON_UNWAITED". */
	char text[144]; /**< What it means, in English: part of a sentence, for people. */
};

/** Describe one constant of the header that the library was built with.
 *
 *  All but the version macros are there, so a binding need not repeat them, and a program can name
 *  bits that it does not know.
 *
 *  @param index number of the constant, from 0. The order is not fixed.
 *  @param out receives the description.
 *  @param out_size sizeof(struct rt_constant) as the caller was compiled with.
 *  @retval 0 success
 *  @retval -EINVAL @p index is past the last constant, or @p out has a wrong size
 *  @retval -EFAULT @p out is NULL
 *
 *  Cost: none. @since 0.3 */
RT_API int rt_constant_get(uint32_t index, struct rt_constant *out, size_t out_size);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
