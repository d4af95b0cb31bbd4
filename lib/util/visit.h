/* SPDX-License-Identifier: MIT */
/* What a callback returns that is called for each entry of a list. */
#ifndef RTI_VISIT_H
#define RTI_VISIT_H

/* A callback returns RTI_CONTINUE; RTI_STOP if it needs no further entries; or a negative errno,
 * which stops too. The function that runs the list returns what stopped it.
 *
 * E.g.: a callback that looks for a name returns RTI_STOP once it has found it. */
enum { RTI_CONTINUE = 0, RTI_STOP = 1 };

#endif
