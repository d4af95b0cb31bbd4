/* SPDX-License-Identifier: MIT */
/* Bytes of the kernel's struct rusage, of a 64-bit or a 32-bit process.
 *
 * Both are two timevals and 14 counters, all of the size of the process's long: see struct rusage
 * in include/uapi/linux/resource.h and struct compat_rusage in include/linux/compat.h. */
#include "parse/kernel_rusage.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define WORDS 18

static int64_t word_at(const unsigned char *bytes, size_t word_size, size_t index)
{
	int64_t whole;
	int32_t half;

	if (word_size == sizeof(whole)) {
		memcpy(&whole, bytes + index * sizeof(whole), sizeof(whole));
		return whole;
	}
	memcpy(&half, bytes + index * sizeof(half), sizeof(half));
	return half;
}

static double seconds(const int64_t *timeval)
{
	return (double)timeval[0] + (double)timeval[1] * 1e-6;
}

int rti_parse_kernel_rusage(const void *bytes, size_t size, struct rt_rusage *out)
{
	int64_t words[WORDS];

	if (size != RTI_KERNEL_RUSAGE_BYTES && size != RTI_KERNEL_RUSAGE_BYTES_32)
		return -EINVAL;
	for (size_t i = 0; i < WORDS; i++)
		words[i] = word_at(bytes, size / WORDS, i);
	*out = (struct rt_rusage){
		.ru_utime = seconds(&words[0]),
		.ru_stime = seconds(&words[2]),
		.ru_maxrss = words[4],
		.ru_ixrss = words[5],
		.ru_idrss = words[6],
		.ru_isrss = words[7],
		.ru_minflt = words[8],
		.ru_majflt = words[9],
		.ru_nswap = words[10],
		.ru_inblock = words[11],
		.ru_oublock = words[12],
		.ru_msgsnd = words[13],
		.ru_msgrcv = words[14],
		.ru_nsignals = words[15],
		.ru_nvcsw = words[16],
		.ru_nivcsw = words[17],
	};
	return 0;
}
