/* SPDX-License-Identifier: MIT */
/* How long rtrack waits for what a signal that ends does not end. */
#include "patience.h"

#include "text/units.h"

#define WARN_AFTER_NS (5 * NS_PER_S)
#define END_AFTER_NS (PATIENCE_LEFT_S * NS_PER_S) /* after the warning */

void patience_begin(struct patience *p, int64_t now)
{
	if (!p->since)
		p->since = now;
}

enum patience_step patience_step(struct patience *p, int64_t now, bool has_signal)
{
	if (!p->since)
		return PATIENCE_WAITS;
	if (has_signal)
		return PATIENCE_ENDS;
	if (p->warned)
		return now - p->warned >= END_AFTER_NS ? PATIENCE_ENDS : PATIENCE_WAITS;
	if (now - p->since < WARN_AFTER_NS)
		return PATIENCE_WAITS;
	p->warned = now;
	return PATIENCE_WARNS;
}
