/* What is to be recorded of a call. */

#ifndef TELL_H
#define TELL_H

#include "state.h"

enum { MOST_ADDRESS = 128 };
enum { DONE, LEAVE_OUT, HAND_OVER };

/* Lays the record of a call out in `pump->text`, or finds that there is none to make, or that the caller must. */
int tell(struct pump *pump, const struct call *call, struct target *target, const uint64_t *arguments);
/* Where a process comes from, on its first record; 0 = that cannot be told. */
int tell_origin(struct pump *pump, struct target *target);

/* The parts that read what may be hostile. */
/* An argv of ordinary length. */
int tell_argv(struct buffer *to, struct target *target, uint64_t array);
/* A socket address in words; left out when it is `silent`. */
int tell_address(struct buffer *to, const unsigned char *data, size_t size, const char *silent);
int fetch_address(struct pump *pump, struct target *target, uint64_t address, uint32_t size, const char *silent);
int tell_message(struct pump *pump, const struct call *call, struct target *target, const uint64_t *arguments);

#endif
