/* SPDX-License-Identifier: MIT */
/* Where and how something was measured. */
#ifndef META_H
#define META_H

#include "text/text.h"

/* Add a JSON object with the host, the user, the working directory, the machine, the kernel, the
 * versions, and the command line of rtrack itself. Unknown values are null. */
void json_meta(struct text *out, const char *key);

#endif
