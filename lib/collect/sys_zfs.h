/* SPDX-License-Identifier: MIT */
/* What tests can change about the ZFS collector. */
#ifndef RTI_SYS_ZFS_H
#define RTI_SYS_ZFS_H

#include <stdint.h>

struct rti_zfs_setup {
	const char *const *programs; /* paths to try in turn; NULL ends the array */
	uint64_t timeout_ns;         /* the program is killed after this time */
};

/* Replace the setup of a collector. Call this between open() and the first collect(). setup must
 * live as long as the state. */
void rti_sys_zfs_set_up(void *state, const struct rti_zfs_setup *setup);

#endif
