/* SPDX-License-Identifier: MIT */
/* The character set of the locale. */
#include "charset.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>

void charset_use(void)
{
	static bool is_used;

	if (!is_used)
		setlocale(LC_CTYPE, "");
	is_used = true;
}

bool charset_is_utf8(void)
{
	charset_use();
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}
