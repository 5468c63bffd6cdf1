/* The processes behind the calls: who they are, their memory, their root. */

#ifndef PROCESS_H
#define PROCESS_H

#include <sys/types.h>

#include "state.h"

#ifndef O_PATH
#define O_PATH 010000000
#endif

struct status { long process, parent, session, inner; char comm[80]; size_t comm_size; };

int read_status(int32_t thread, struct status *status);

/* The target of `thread`; 0 = it hides itself, or is gone. */
struct target *find(struct pump *pump, int32_t thread);
/* Where the target of `thread` is held, or that of another. */
struct target *slot_of(struct pump *pump, int32_t thread);

void drop(struct target *target);
void drop_memory(struct target *target);
void drop_root(struct target *target);
void drop_thread(struct pump *pump, int32_t thread);

/* Other mounts than the first process has, or a root that is not their top, are left to the caller. */
int open_root(const struct pump *pump, struct target *target);

ssize_t fetch(struct target *target, void *to, size_t size, uint64_t address);
/* The string at `address`, without reading past the page in which it ends; -1 = there is none below `room` bytes. */
ssize_t fetch_string(struct target *target, char *to, size_t room, uint64_t address);

#endif
