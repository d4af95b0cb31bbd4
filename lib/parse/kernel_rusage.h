/* SPDX-License-Identifier: MIT */
/* Bytes of the kernel's struct rusage, of a 64-bit or a 32-bit process. */
#ifndef RTI_PARSE_KERNEL_RUSAGE_H
#define RTI_PARSE_KERNEL_RUSAGE_H

#include <stddef.h>

#include <rtrack/rtrack.h>

#define RTI_KERNEL_RUSAGE_BYTES 144
#define RTI_KERNEL_RUSAGE_BYTES_32 72

/* Parse what getrusage(2) wrote. Any bytes are a struct: the process may have changed them since.
 * Returns 0, or -EINVAL if size is none of the two above; *out is untouched then. */
int rti_parse_kernel_rusage(const void *bytes, size_t size, struct rt_rusage *out);

#endif
