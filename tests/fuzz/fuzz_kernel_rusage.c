/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as what a traced process has where getrusage(2) wrote its figures. */
#include "fuzz.h"

#include <errno.h>

#include "parse/kernel_rusage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rt_rusage out;
	int result = rti_parse_kernel_rusage(data, len, &out);

	require(result == 0 || result == -EINVAL);
	require((result == 0) ==
	        (len == RTI_KERNEL_RUSAGE_BYTES || len == RTI_KERNEL_RUSAGE_BYTES_32));
	if (result == 0)
		require(out.ru_utime == out.ru_utime && out.ru_stime == out.ru_stime);
	return 0;
}
