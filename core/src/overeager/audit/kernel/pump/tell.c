/* One function a kind of call: the text of its record, or that the caller must see it. */

#define _GNU_SOURCE
#include "tell.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "path.h"
#include "process.h"

enum { MOST_WORDS = 256, MOST_ARGV = 1 << 15 };

#define NR_PIDFD_OPEN 434
#define NR_PIDFD_GETFD 438
#define NAME_SERVICE "unix:/var/run/nscd/socket" /* the libc asks there for a daemon that is never there */
#define MEETING "unix:/run/systemd/notify" /* the shims send there, by sendmsg */

static int is_vain(const struct pump *pump, struct target *target, const char *given) {
  if (!(starts(given, "/usr/") || starts(given, "/lib") || starts(given, "/bin/") || starts(given, "/sbin/")
        || starts(given, "/sys/")) || strstr(given, "/../") || !open_root(pump, target)) return 0;
  int descriptor = open_in(target->root, given, 1);
  if (descriptor < 0) return errno == ENOENT || errno == ENOTDIR;
  close(descriptor);
  return 0;
}

static int32_t base_of(const struct place *place, const uint64_t *arguments) {
  return place->base < 0 ? AT_FDCWD : (int32_t)arguments[place->base];
}

static int tell_open(struct pump *pump, const struct call *call, struct target *target, const uint64_t *arguments) {
  char given[1][MOST_PATH], full[MOST_FULL];
  struct real real = {0};
  const struct place *place = &call->path[0];
  uint64_t flags = call->flags >= 0 ? (uint32_t)arguments[call->flags] : O_CREAT | O_WRONLY | O_TRUNC;
  ssize_t size = fetch_string(target, given[0], sizeof given[0], arguments[place->at]);
  if (size <= 0) return HAND_OVER;
  if (call->flags == FLAGS_HOW && fetch(target, &flags, sizeof flags, arguments[2]) != sizeof flags) return HAND_OVER;
  if (!(flags & (O_ACCMODE | O_CREAT | O_TRUNC)) && is_vain(pump, target, given[0])) return LEAVE_OUT;
  size_t sizes[1] = {(size_t)size};
  size_t whole = make_full(pump, target, given[0], sizes[0], base_of(place, arguments), full);
  if (!whole || !resolve(pump, target, full, whole, !(flags & O_NOFOLLOW), &real)) return HAND_OVER;
  tell_places(&pump->text, given, sizes, &real, 1);
  print(&pump->text, ",\"flags\":%llu", (unsigned long long)flags);
  return DONE;
}

static int tell_paths(struct pump *pump, const struct call *call, struct target *target, const uint64_t *arguments) {
  char given[2][MOST_PATH], full[MOST_FULL];
  struct real reals[2] = {0};
  size_t sizes[2];
  for (int i = 0; i < call->paths; i++) {
    const struct place *place = &call->path[i];
    ssize_t size = fetch_string(target, given[i], sizeof given[i], arguments[place->at]);
    if (size <= 0) return HAND_OVER;
    sizes[i] = (size_t)size;
    int follow = place->follow;
    if (place->flip && arguments[place->flip_at] & (uint64_t)place->flip) follow = !follow;
    size_t whole = make_full(pump, target, given[i], sizes[i], base_of(place, arguments), full);
    if (!whole || !resolve(pump, target, full, whole, follow, &reals[i])) return HAND_OVER;
  }
  tell_places(&pump->text, given, sizes, reals, call->paths);
  if (call->flags >= 0) print(&pump->text, ",\"flags\":%u", (uint32_t)arguments[call->flags]);
  return DONE;
}

int tell_argv(struct buffer *to, struct target *target, uint64_t array) {
  static const size_t most = 32;
  uint64_t pointers[32];
  char word[MOST_ARGV];
  size_t left = MOST_ARGV;
  int count = 0;
  say(to, ",\"argv\":[");
  while (array && count < MOST_WORDS) {
    size_t size = PAGE - (array & (PAGE - 1));
    if (size > most * 8) size = most * 8;
    size &= ~(size_t)7;
    if (!size) return 0;
    ssize_t got = fetch(target, pointers, size, array);
    if (got < 8) return 0;
    for (size_t i = 0; i < (size_t)got / 8; i++) {
      if (!pointers[i]) { say(to, "]"); return 1; }
      if (++count > MOST_WORDS) return 0;
      ssize_t length = fetch_string(target, word, left, pointers[i]);
      if (length < 0) return 0;
      left -= (size_t)length + 1;
      if (count > 1) say(to, ",");
      quote(to, word, (size_t)length);
      if (!left) return 0;
    }
    array += (uint64_t)got & ~7ul;
  }
  if (array) return 0;
  say(to, "]");
  return 1;
}

static int tell_exec(struct pump *pump, const struct call *call, struct target *target, const uint64_t *arguments) {
  struct status status;
  drop_memory(target); /* the number may have gone to a new image since */
  int told = tell_paths(pump, call, target, arguments);
  if (told == DONE && (!tell_argv(&pump->text, target, arguments[call->argument])
                       || !read_status(target->thread, &status))) told = HAND_OVER;
  drop_memory(target);
  struct target *leader = slot_of(pump, target->process);
  if (leader->thread == target->process) drop_memory(leader);
  if (told != DONE) return told;
  print(&pump->text, ",\"cut\":0,\"ppid\":%ld,\"sid\":%ld,\"comm\":", status.parent, status.session);
  quote(&pump->text, status.comm, status.comm_size);
  return DONE;
}

static int tell_descriptor(struct pump *pump, const struct call *call, struct target *target,
                           const uint64_t *arguments) {
  struct real real = {0};
  struct stat state;
  int process = (int)syscall(NR_PIDFD_OPEN, target->process, 0);
  if (process < 0) return HAND_OVER;
  int ours = (int)syscall(NR_PIDFD_GETFD, process, (int32_t)arguments[0], 0);
  close(process);
  if (ours < 0) return HAND_OVER;
  int good = describe_open(ours, &real) && !fstat(ours, &state);
  close(ours);
  if (!good) return HAND_OVER;
  real.known = real.size && real.path[0] == '/' && (S_ISREG(state.st_mode) || S_ISDIR(state.st_mode));
  tell_places(&pump->text, 0, 0, &real, 1);
  if (call->flags >= 0) print(&pump->text, ",\"flags\":%u", (uint32_t)arguments[call->flags]);
  return DONE;
}

int tell_address(struct buffer *to, const unsigned char *data, size_t size, const char *silent) {
  char words[MOST_ADDRESS + 64], number[INET6_ADDRSTRLEN];
  unsigned family = size > 1 ? (unsigned)(data[0] | data[1] << 8) : size ? data[0] : 0;
  unsigned port = size > 3 ? (unsigned)(data[2] << 8 | data[3]) : 0;
  int wide = 0;
  if (family == AF_INET && size >= 8 && inet_ntop(AF_INET, data + 4, number, sizeof number))
    wide = snprintf(words, sizeof words, "%s:%u", number, port);
  else if (family == AF_INET6 && size >= 24 && inet_ntop(AF_INET6, data + 8, number, sizeof number))
    wide = snprintf(words, sizeof words, "[%s]:%u", number, port);
  else if (family == AF_UNIX) {
    memcpy(words, "unix:@", 6);
    if (size > 2 && !data[2]) {
      size_t end = size;
      while (end > 3 && !data[end - 1]) end--;
      memcpy(words + 6, data + 3, end - 3);
      wide = (int)(6 + end - 3);
    } else {
      const unsigned char *end = size > 2 ? memchr(data + 2, 0, size - 2) : 0;
      size_t length = size > 2 ? (end ? (size_t)(end - data - 2) : size - 2) : 0;
      memcpy(words + 5, data + 2, length);
      wide = (int)(5 + length);
    }
  } else wide = snprintf(words, sizeof words, "af%u", family);
  if (wide == (int)strlen(silent) && !memcmp(words, silent, (size_t)wide)) return LEAVE_OUT;
  say(to, "\"address\":");
  quote(to, words, (size_t)wide);
  return DONE;
}

int fetch_address(struct pump *pump, struct target *target, uint64_t address, uint32_t size, const char *silent) {
  unsigned char data[MOST_ADDRESS];
  if (size > MOST_ADDRESS) size = MOST_ADDRESS;
  ssize_t got = size ? fetch(target, data, size, address) : -1;
  return got <= 0 ? HAND_OVER : tell_address(&pump->text, data, (size_t)got, silent);
}

int tell_message(struct pump *pump, const struct call *call, struct target *target, const uint64_t *arguments) {
  struct { uint64_t name; uint32_t size, padding; } head;
  if (fetch(target, &head, sizeof head, arguments[call->argument]) != sizeof head) return HAND_OVER;
  return head.name && head.size ? fetch_address(pump, target, head.name, head.size, MEETING) : LEAVE_OUT;
}

/* Whether the address space that is held is still somebody's: a call that reads no memory must not be told of a
 * process that has ended. */
static int is_fresh(struct target *target) {
  char byte;
  ssize_t got = fetch(target, &byte, 1, PAGE);
  return got > 0 || (got < 0 && target->memory >= 0);
}

int tell(struct pump *pump, const struct call *call, struct target *target, const uint64_t *arguments) {
  switch (call->kind) {
    case KIND_OPEN: return tell_open(pump, call, target, arguments);
    case KIND_PATH: return tell_paths(pump, call, target, arguments);
    case KIND_EXEC: return tell_exec(pump, call, target, arguments);
    case KIND_ADDRESS: return fetch_address(pump, target, arguments[call->argument],
                                            (uint32_t)arguments[call->argument + 1], NAME_SERVICE);
    case KIND_MESSAGE: return tell_message(pump, call, target, arguments);
  }
  if (!is_fresh(target)) return HAND_OVER;
  switch (call->kind) {
    case KIND_DESCRIPTOR: return tell_descriptor(pump, call, target, arguments);
    case KIND_EXIT:
      if (target->process == pump->agent) return HAND_OVER;
      print(&pump->text, "\"code\":%u", (unsigned)(arguments[0] & 0xFF));
      return DONE;
    case KIND_KILL:
      print(&pump->text, "\"target\":%d,\"signal\":%u", (int32_t)arguments[0], (uint32_t)arguments[1]);
      return DONE;
    case KIND_OWN_KILL: return (int32_t)arguments[0] == target->inner ? LEAVE_OUT : HAND_OVER;
    case KIND_THREAD: return LEAVE_OUT;
  }
  return HAND_OVER;
}

int tell_origin(struct pump *pump, struct target *target) {
  char path[64], exe[MOST_PATH];
  struct status status;
  snprintf(path, sizeof path, "/proc/%d/exe", target->thread);
  ssize_t size = readlink(path, exe, sizeof exe);
  if (size < 0 || size == sizeof exe || !read_status(target->thread, &status)) return 0;
  print(&pump->text, ",\"first\":true,\"ppid\":%ld,\"sid\":%ld,\"exe\":", status.parent, status.session);
  quote(&pump->text, exe, (size_t)size);
  return 1;
}
