/* SPDX-License-Identifier: MIT */
/* Capabilities of the calling thread. */
#include "os/capability.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "os/kernel_abi.h"

bool rti_has_capability(unsigned number)
{
	struct rti_cap_header header = { .version = RTI_CAP_VERSION_3 };
	struct rti_cap_data held[2] = { { 0 } }; /* of 32 capabilities each */

	return number < 64 && syscall(SYS_capget, &header, held) == 0 &&
	       held[number / 32].effective >> number % 32 & 1;
}
