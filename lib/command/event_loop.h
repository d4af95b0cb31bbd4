/* SPDX-License-Identifier: MIT */
/* A command in the event loop of a host. */
#ifndef RTI_EVENT_LOOP_H
#define RTI_EVENT_LOOP_H

struct rt_command;

/* All that the descriptor has shown so far is looked at next. */
void rti_event_loop_begin(const struct rt_command *c);

/* All that was due has been done: plan when the descriptor shows the next peak poll. */
void rti_event_loop_end(const struct rt_command *c);

#endif
