/* SPDX-License-Identifier: MIT */
/* Children of the library that outlive the handle that has started them. */
#ifndef RTI_REAP_LATER_H
#define RTI_REAP_LATER_H

/* Have a child reaped now, or later if it has not ended. Takes its pidfd. The oldest may be
 * forgotten if there are many: they stay zombies until this process ends. */
void rti_reap_later_take(int pidfd);

/* Reap the children that have ended. Does not wait. */
void rti_reap_later_look(void);

#endif
