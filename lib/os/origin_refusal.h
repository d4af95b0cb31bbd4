/* SPDX-License-Identifier: MIT */
/* Says in words why a file of the library is not used. */
#ifndef RTI_ORIGIN_REFUSAL_H
#define RTI_ORIGIN_REFUSAL_H

#include <stdbool.h>

#include "util/text.h"

/* If a file of this name is there but others may change it, add a sentence with its path, owner and
 * mode. Returns false if that is not so. It is looked for again. */
bool rti_origin_say_refused(struct rti_text *text, const char *name);

#endif
