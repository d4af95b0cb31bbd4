/* SPDX-License-Identifier: MIT */
/* Messages to the user, and exit codes. */
#ifndef MESSAGE_H
#define MESSAGE_H

/* Exit codes of rtrack itself. They follow env(1) and timeout(1). */
enum {
	EXIT_TROUBLE = 1,        /* attach, system: output could not be written */
	EXIT_USAGE = 2,          /* the command line is wrong */
	EXIT_STATUS_LOST = 123,  /* the command ran, but how it ended is not known */
	EXIT_TIMED_OUT = 124,    /* the command reached its --timeout */
	EXIT_BEFORE_START = 125, /* rtrack failed before anything was started */
	EXIT_GIVEN_UP = 125,     /* the command cannot act on signals, and was given up */
	EXIT_CANNOT_EXEC = 126,  /* the command is not executable */
	EXIT_NOT_FOUND = 127,    /* the command does not exist */
	EXIT_SIGNAL_BASE = 128   /* plus the number of the signal that killed the command */
};

/* Write one line to standard error, after "rtrack: ". */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns what an error is, to stand behind a colon. */
const char *error_words(int err);

/* Likewise, of a program that could not be started. */
const char *start_error_words(const char *program, int err);

/* Change sentences of the library to what stands behind a colon. E.g.: "It is gone. Try again." to
 * "it is gone; try again". */
void words_of_sentences(char *text);

#endif
