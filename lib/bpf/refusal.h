/* SPDX-License-Identifier: MIT */
/* Says in words why no BPF program can be loaded. */
#ifndef RTI_BPF_REFUSAL_H
#define RTI_BPF_REFUSAL_H

#include <stdbool.h>

#include "util/text.h"

/* Add a sentence for -ENOPKG, -EPERM or -EOPNOTSUPP; nothing for another error. release: of Linux
 * that the programs need. E.g.: "6.2". */
void rti_bpf_refusal_add(struct rti_text *text, int err, const char *release);

/* Whether the caller lacks CAP_BPF or CAP_PERFMON, so that this is the reason of -EPERM. */
bool rti_bpf_lacks_capability(void);

#endif
