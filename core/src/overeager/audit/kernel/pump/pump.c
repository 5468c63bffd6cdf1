/* Answers the seccomp notifications of one sandbox in a loop, and writes a record of each to a file: the frequent
 * calls, in the ordinary case. Whatever is rare or odd it hands to its caller unanswered, who does it all anew: a path
 * that does not resolve at once, a process that hides itself, memory that cannot be read, a word that is too long.
 *
 * It runs in the auditor and reads the memory of processes that may be hostile: nothing that comes from them is taken
 * for a length, an index or a string with an end without a look. */

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "process.h"
#include "state.h"
#include "tell.h"
#include "text.h"

enum { ROOM = 1 << 21, ENOUGH = 1 << 16, IDLE_MILLISECONDS = 100 };
enum { ENDED, SHIMS, CALL, IDLE, FAILED, BROKEN };

#define RECEIVE 0xC0502100ul
#define SEND 0xC0182101ul
#define CONTINUE 1
#define SEEN __attribute__((visibility("default"))) /* from outside; all else is ours */

struct answer { uint64_t id; int64_t value; int32_t error; uint32_t flags; };

static double now(const struct pump *pump) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return ((double)time.tv_sec * 1e9 + (double)time.tv_nsec) / 1e9 - pump->began;
}

/* Makes the record of the call in `notice`, or finds that there is none to make, or that the caller must. */
static int look(struct pump *pump) {
  const struct notification *notice = &pump->notice;
  const struct call *call = notice->number >= 0 && notice->number < MOST_CALLS ? pump->calls[notice->number] : 0;
  if (!pump->agent || !call || call->kind == KIND_LEFT) return HAND_OVER;
  double moment = now(pump);
  struct target *target = find(pump, (int32_t)notice->thread);
  if (!target) return HAND_OVER;
  if (target->process == pump->outer) return LEAVE_OUT;
  pump->text.size = 0;
  pump->text.over = 0;
  print(&pump->text, "\"t\":%.6f,\"pid\":%d,\"call\":\"%s\",", moment, target->process, call->name);
  int told = tell(pump, call, target, notice->arguments);
  int32_t *known = &pump->known[target->process];
  if (told == DONE && *known != target->inner) {
    if (!tell_origin(pump, target)) told = HAND_OVER;
    else if (!pump->text.over) *known = target->inner;
  }
  if (pump->text.over) told = HAND_OVER;
  if (target->gone || call->kind == KIND_THREAD) drop(target);
  if (told == HAND_OVER) return told;
  if (call->kind == KIND_EXIT) {
    int32_t process = target->process;
    *known = 0;
    drop(target);
    drop_thread(pump, process);
  }
  return told;
}

/* The first process is the first to exec beside the outer one; the trial begins with the first other one, and that is
 * the caller's to see. */
static int begins(struct pump *pump) {
  const struct notification *notice = &pump->notice;
  int32_t thread = (int32_t)notice->thread;
  if (thread == pump->outer) return 0;
  if (pump->init) return thread != pump->init;
  const struct call *call = notice->number >= 0 && notice->number < MOST_CALLS ? pump->calls[notice->number] : 0;
  if (call && call->kind == KIND_EXEC) pump->init = thread;
  return 0;
}

static void flush(struct pump *pump) {
  size_t done = 0;
  while (pump->file >= 0 && done < pump->out.size) {
    ssize_t size = write(pump->file, pump->out.data + done, pump->out.size - done);
    if (size >= 0) done += (size_t)size;
    else if (errno != EINTR) { pump->failure = 1; pump->error = errno; pump->file = -1; }
  }
  pump->out.size = 0;
}

static void keep(struct pump *pump, int alive) {
  char head[40];
  const char *end = alive ? "}\n" : ",\"error\":2}\n";
  int size = snprintf(head, sizeof head, "{\"n\":%llu,", (unsigned long long)++pump->number);
  int64_t whole = size + (int64_t)pump->text.size + (int64_t)strlen(end);
  if (pump->file < 0) return;
  pump->room -= whole;
  if (pump->room < 0) {
    flush(pump);
    if (!pump->failure) { pump->failure = 1; pump->error = 0; pump->file = -1; }
    return;
  }
  if (whole > (int64_t)(pump->out.room - pump->out.size)) flush(pump);
  put(&pump->out, head, (size_t)size);
  put(&pump->out, pump->text.data, pump->text.size);
  say(&pump->out, end);
  pump->count++;
  if (pump->out.over) { pump->failure = 1; pump->error = EOVERFLOW; pump->file = -1; }
  if (pump->out.size >= ENOUGH) flush(pump);
}

static int give(struct pump *pump, int what) {
  flush(pump);
  return what;
}

/* Serves until the caller is needed: what for is returned, and nothing is held back from the file then. */
SEEN int pump_run(struct pump *pump) {
  struct pollfd polled[2] = {{pump->listener, POLLIN, 0}, {pump->shims, POLLIN, 0}};
  for (;;) {
    int ready = poll(polled, 2, pump->idle ? -1 : IDLE_MILLISECONDS);
    if (ready < 0) {
      if (errno == EINTR) continue;
      pump->error = errno;
      return BROKEN;
    }
    if (!ready) { pump->idle = 1; return give(pump, IDLE); }
    pump->idle = 0;
    if (polled[1].revents) return give(pump, SHIMS); /* a shim sends first and execs afterwards */
    if (!(polled[0].revents & POLLIN)) return give(pump, ENDED);
    memset(&pump->notice, 0, sizeof pump->notice);
    if (ioctl(pump->listener, RECEIVE, &pump->notice)) {
      if (errno == EINTR || errno == ENOENT) continue;
      pump->error = errno;
      return BROKEN;
    }
    int told = pump->agent || begins(pump) ? look(pump) : LEAVE_OUT;
    if (told == HAND_OVER) return give(pump, CALL);
    struct answer answer = {pump->notice.id, 0, 0, CONTINUE};
    int alive = !ioctl(pump->listener, SEND, &answer);
    if (!alive && errno != ENOENT) { pump->error = errno; return BROKEN; }
    if (told == DONE) keep(pump, alive);
    if (pump->failure == 1) return FAILED;
  }
}

SEEN size_t pump_head_size(void) { return offsetof(struct pump, calls); }

SEEN size_t pump_call_size(void) { return sizeof(struct call); }

SEEN void pump_close(struct pump *pump) {
  for (int i = 0; i < SLOTS; i++) drop(&pump->targets[i]);
  if (pump->known) munmap(pump->known, MOST_PIDS * sizeof *pump->known);
  free(pump->out.data);
  free(pump->text.data);
  free(pump);
}

SEEN struct pump *pump_open(const struct call *calls, int32_t count) {
  struct pump *pump = calloc(1, sizeof *pump);
  if (!pump) return 0;
  /* Fresh pages of zero, of which only those that are used cost; what malloc gives back a second time would not be. */
  void *known = mmap(0, MOST_PIDS * sizeof *pump->known, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  pump->known = known == MAP_FAILED ? 0 : known;
  pump->out.data = malloc(ROOM);
  pump->text.data = malloc(ROOM);
  pump->out.room = pump->text.room = ROOM;
  for (int i = 0; i < SLOTS; i++) pump->targets[i] = (struct target){0, 0, 0, -1, -1, 0};
  if (!pump->known || !pump->out.data || !pump->text.data) {
    pump_close(pump);
    return 0;
  }
  for (int i = 0; i < count; i++)
    if (calls[i].number >= 0 && calls[i].number < MOST_CALLS) pump->calls[calls[i].number] = &calls[i];
  return pump;
}

/* The caller has done a call of this thread. */
SEEN void pump_forget(struct pump *pump, int32_t thread, int32_t process) {
  drop_thread(pump, thread);
  drop_thread(pump, process);
}

SEEN void pump_forget_roots(struct pump *pump) {
  for (int i = 0; i < SLOTS; i++) drop_root(&pump->targets[i]);
}

/* Whether nothing was told of the process yet; from now on something was. `inner` 0 = it has ended. */
SEEN int pump_is_new(struct pump *pump, int32_t process, int32_t inner) {
  if (process <= 0 || process >= MOST_PIDS) return 0;
  int fresh = pump->known[process] != inner;
  pump->known[process] = inner;
  return fresh;
}

/* For tests: the text of `data` as a JSON string, or of a socket address in words; its size, -1 = no room. */
SEEN int pump_quote(const char *data, size_t size, char *to, size_t room) {
  struct buffer text = {to, 0, room, 0};
  quote(&text, data, size);
  return text.over ? -1 : (int)text.size;
}

SEEN int pump_address(const unsigned char *data, size_t size, char *to, size_t room) {
  struct buffer text = {to, 0, room, 0};
  int told = size > MOST_ADDRESS ? LEAVE_OUT : tell_address(&text, data, size, "");
  return told != DONE || text.over ? -1 : (int)text.size;
}
