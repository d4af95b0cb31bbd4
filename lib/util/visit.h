/* SPDX-License-Identifier: MIT */
/* What a callback answers that is called for each entry of a list. */
#ifndef RTI_VISIT_H
#define RTI_VISIT_H

/* A callback returns RTI_CONTINUE; RTI_STOP if it needs no further entries; or a negative errno,
 * which stops too. The caller of the list gets what stopped it.
 *
 * E.g.: a callback that looks for a name returns RTI_STOP once it has found it. */
enum { RTI_CONTINUE = 0, RTI_STOP = 1 };

#endif
