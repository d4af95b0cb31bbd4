/* SPDX-License-Identifier: MIT */
/* The character set of the locale. To find it out takes 80 us. So it is found out when the first
 * character is shown that is not ASCII. */
#ifndef CHARSET_H
#define CHARSET_H

#include <stdbool.h>

/* Have mbrtowc(3) take the characters of the locale. Numbers have a decimal point in every locale.
 */
void charset_use(void);

/* Returns true if it is UTF-8. */
bool charset_is_utf8(void);

#endif
