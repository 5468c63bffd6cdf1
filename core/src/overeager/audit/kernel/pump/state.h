/* What one trial's loop holds; library.py lays the part out too that the caller sees. */

#ifndef STATE_H
#define STATE_H

#include <stdint.h>

#include "text.h"

enum { PAGE = 4096, MOST_PATH = 4096, MOST_CALLS = 512, SLOTS = 128, MOST_PIDS = 1 << 22 };
enum { KIND_LEFT, KIND_OPEN, KIND_PATH, KIND_EXEC, KIND_EXIT, KIND_THREAD, KIND_DESCRIPTOR, KIND_ADDRESS, KIND_MESSAGE,
       KIND_KILL, KIND_OWN_KILL };
enum { FLAGS_NONE = -1, FLAGS_CREAT = -2, FLAGS_HOW = -3 };

struct notification {
  uint64_t id;
  uint32_t thread, flags;
  int32_t number;
  uint32_t architecture;
  uint64_t instruction, arguments[6];
};

struct place { int32_t at, base, follow, flip, flip_at; }; /* base -1 = the working directory */

struct call {
  int32_t number, kind, flags, argument, paths;
  struct place path[2];
  char name[28];
};

struct target {
  int32_t thread, process, inner, memory, root;
  int gone; /* its address space is no more: the number may be another's */
};

/* What the caller sees and sets. */
struct pump {
  int32_t listener, shims, file, outer, init, agent, idle, padding;
  uint64_t number, count;
  int64_t room;
  uint64_t mounts; /* the mount namespace that is not left to the caller */
  double began;
  int32_t failure, error;
  struct notification notice;
  /* The rest is ours. */
  const struct call *calls[MOST_CALLS];
  struct target targets[SLOTS];
  int32_t *known; /* by pid: its number inside, once it has been told of */
  struct buffer out, text;
};

#endif
