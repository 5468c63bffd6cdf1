/* Answers the seccomp notifications of one sandbox in a loop, and writes a record of each to a file: the frequent
 * calls, in the ordinary case. Whatever is rare or odd it hands to its caller unanswered, who does it all anew: a path
 * that does not resolve at once, a process that hides itself, memory that cannot be read, a word that is too long.
 *
 * It runs in the auditor and reads the memory of processes that may be hostile: nothing that comes from them is taken
 * for a length, an index or a string with an end without a look. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef O_PATH
#define O_PATH 010000000
#endif

enum { PAGE = 4096, MOST_PATH = 4096, MOST_FULL = 3 * MOST_PATH, MOST_WORDS = 256, MOST_ARGV = 1 << 15 };
enum { MOST_ADDRESS = 128, MOST_CALLS = 512, SLOTS = 128, MOST_PIDS = 1 << 22 };
enum { ROOM = 1 << 21, ENOUGH = 1 << 16, IDLE_MILLISECONDS = 100 };
enum { KIND_LEFT, KIND_OPEN, KIND_PATH, KIND_EXEC, KIND_EXIT, KIND_THREAD, KIND_DESCRIPTOR, KIND_ADDRESS, KIND_MESSAGE,
       KIND_KILL, KIND_OWN_KILL };
enum { FLAGS_NONE = -1, FLAGS_CREAT = -2, FLAGS_HOW = -3 };
enum { ENDED, SHIMS, CALL, IDLE, FAILED, BROKEN };
enum { DONE, LEAVE_OUT, HAND_OVER };

#define RECEIVE 0xC0502100ul
#define SEND 0xC0182101ul
#define CONTINUE 1
#define NR_OPENAT2 437
#define NR_PIDFD_OPEN 434
#define NR_PIDFD_GETFD 438
#define RESOLVE_IN_ROOT 0x10
#define NAME_SERVICE "unix:/var/run/nscd/socket" /* the libc asks there for a daemon that is never there */
#define MEETING "unix:/run/systemd/notify" /* the shims send there, by sendmsg */

struct notification {
  uint64_t id;
  uint32_t thread, flags;
  int32_t number;
  uint32_t architecture;
  uint64_t instruction, arguments[6];
};

struct answer { uint64_t id; int64_t value; int32_t error; uint32_t flags; };

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

struct buffer { char *data; size_t size, room; int over; };

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

struct status { long process, parent, session, inner; char comm[80]; size_t comm_size; };
struct real { char path[MOST_PATH + 256]; size_t size; int known, found; unsigned long long device, inode; };

/* ---- text ---- */

static void put(struct buffer *to, const void *data, size_t size) {
  if (to->over || size > to->room - to->size) { to->over = 1; return; }
  memcpy(to->data + to->size, data, size);
  to->size += size;
}

static void say(struct buffer *to, const char *words) { put(to, words, strlen(words)); }

__attribute__((format(printf, 2, 3))) static void print(struct buffer *to, const char *format, ...) {
  char line[160];
  va_list values;
  va_start(values, format);
  int size = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  if (size < 0 || size >= (int)sizeof line) to->over = 1;
  else put(to, line, (size_t)size);
}

/* How many bytes at `at` are one character of UTF-8, 0 = none; its number into `point`. */
static size_t decode(const unsigned char *at, size_t left, uint32_t *point) {
  static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
  size_t size = at[0] < 0x80 ? 1 : at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF5 ? 4 : 0;
  if (size < 2) { *point = at[0]; return size; }
  if (size > left) return 0;
  uint32_t value = at[0] & (0x7Fu >> size);
  for (size_t i = 1; i < size; i++) {
    if ((at[i] & 0xC0) != 0x80) return 0;
    value = value << 6 | (at[i] & 0x3F);
  }
  if (value < least[size] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return 0;
  *point = value;
  return size;
}

/* Bytes as the text of a JSON string, as Python's json writes what it decodes with surrogate escapes. */
static void quote(struct buffer *to, const char *data, size_t size) {
  static const char short_form[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
  const unsigned char *at = (const unsigned char *)data, *end = at + size;
  say(to, "\"");
  while (at < end) {
    const unsigned char *plain = at;
    while (at < end && *at >= 0x20 && *at < 0x7F && *at != '"' && *at != '\\') at++;
    if (at > plain) put(to, plain, (size_t)(at - plain));
    if (at == end) break;
    uint32_t point = 0;
    size_t width = decode(at, (size_t)(end - at), &point);
    const char *found = *at ? memchr(short_form, *at, sizeof short_form - 1) : 0;
    if (found) { put(to, "\\", 1); put(to, letter + (found - short_form), 1); }
    else if (!width) { print(to, "\\udc%02x", *at); width = 1; }
    else if (point < 0x10000) print(to, "\\u%04x", point);
    else print(to, "\\u%04x\\u%04x", 0xD800 + ((point - 0x10000) >> 10), 0xDC00 + ((point - 0x10000) & 0x3FF));
    at += width;
  }
  say(to, "\"");
}

/* ---- processes ---- */

static void drop_memory(struct target *target) {
  if (target->memory >= 0) close(target->memory);
  target->memory = -1;
}

static void drop_root(struct target *target) {
  if (target->root >= 0) close(target->root);
  target->root = -1;
}

static void drop(struct target *target) {
  drop_memory(target);
  drop_root(target);
  target->thread = target->gone = 0;
}

static struct target *slot_of(struct pump *pump, int32_t thread) { return &pump->targets[thread & (SLOTS - 1)]; }

static void drop_thread(struct pump *pump, int32_t thread) {
  struct target *target = slot_of(pump, thread);
  if (target->thread == thread) drop(target);
}

/* The number after `name`, the first or, of several, the last on its line. */
static int read_field(const char *text, const char *name, int last, long *value) {
  const char *at = strstr(text, name);
  if (!at) return 0;
  at += strlen(name);
  char *end;
  long read = strtol(at, &end, 10);
  if (end == at) return 0;
  while (last && *end == '\t') {
    at = end + 1;
    long more = strtol(at, &end, 10);
    if (end == at) break;
    read = more;
  }
  *value = read;
  return 1;
}

static int read_status(int32_t thread, struct status *status) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/%d/status", thread);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 6 || memcmp(text, "Name:\t", 6)) return 0;
  text[size] = 0;
  /* The name may hold anything but a line's end, so the other fields are looked for behind it. */
  char *rest = memchr(text, '\n', (size_t)size);
  if (!rest || rest - text - 6 >= (long)sizeof status->comm) return 0;
  status->comm_size = (size_t)(rest - text - 6);
  memcpy(status->comm, text + 6, status->comm_size);
  return read_field(rest, "\nTgid:\t", 0, &status->process) && read_field(rest, "\nPPid:\t", 0, &status->parent)
    && read_field(rest, "\nNStgid:\t", 1, &status->inner) && read_field(rest, "\nNSsid:\t", 0, &status->session);
}

static struct target *find(struct pump *pump, int32_t thread) {
  struct target *target = slot_of(pump, thread);
  struct status status;
  if (target->thread == thread) return target;
  if (thread <= 0 || thread >= MOST_PIDS || !read_status(thread, &status)) return 0;
  if (status.process <= 0 || status.process >= MOST_PIDS) return 0;
  drop(target);
  target->thread = thread;
  target->process = (int32_t)status.process;
  target->inner = (int32_t)status.inner;
  return target;
}

static int open_memory(struct target *target) {
  char path[64];
  if (target->memory >= 0) return 1;
  snprintf(path, sizeof path, "/proc/%d/mem", target->thread);
  target->memory = open(path, O_RDONLY | O_CLOEXEC);
  return target->memory >= 0;
}

/* Other mounts than the first process has, or a root that is not their top, are left to the caller. */
static int open_root(const struct pump *pump, struct target *target) {
  char path[64], text[2];
  struct stat space;
  if (target->root >= 0) return 1;
  snprintf(path, sizeof path, "/proc/%d/ns/mnt", target->thread);
  if (stat(path, &space) || space.st_ino != pump->mounts) return 0;
  snprintf(path, sizeof path, "/proc/%d/root", target->thread);
  if (readlink(path, text, sizeof text) != 1 || text[0] != '/') return 0;
  target->root = open(path, O_PATH | O_CLOEXEC);
  return target->root >= 0;
}

/* ---- memory ---- */

static ssize_t fetch(struct target *target, void *to, size_t size, uint64_t address) {
  if (address >> 63 || !open_memory(target)) return -1;
  ssize_t got = pread(target->memory, to, size, (off_t)address);
  if (!got) target->gone = 1;
  return got;
}

/* The string at `address`, without reading past the page in which it ends; -1 = there is none below `room` bytes. */
static ssize_t fetch_string(struct target *target, char *to, size_t room, uint64_t address) {
  size_t size = 0, most = 256;
  while (size < room) {
    size_t bite = PAGE - ((address + size) & (PAGE - 1));
    if (bite > most) bite = most;
    if (bite > room - size) bite = room - size;
    ssize_t got = fetch(target, to + size, bite, address + size);
    if (got <= 0) return -1;
    char *end = memchr(to + size, 0, (size_t)got);
    if (end) return end - to;
    size += (size_t)got;
    most = PAGE;
  }
  return -1;
}

/* ---- paths ---- */

static int open_in(int root, const char *path, int follow) {
  struct { uint64_t flags, mode, resolve; } how = {O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW), 0, RESOLVE_IN_ROOT};
  return (int)syscall(NR_OPENAT2, root, path, &how, sizeof how);
}

/* Folders of /proc, where the names of links mean something else to every reader. */
static int is_proc(int folder) {
  struct statfs state;
  return fstatfs(folder, &state) || state.f_type == 0x9FA0;
}

static int read_own_link(int descriptor, struct real *real) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  ssize_t size = readlink(path, real->path, sizeof real->path);
  if (size < 0 || size == (ssize_t)sizeof real->path) return 0;
  real->size = (size_t)size;
  return 1;
}

static int describe_open(int descriptor, struct real *real) {
  struct stat state;
  if (!read_own_link(descriptor, real) || fstat(descriptor, &state)) return 0;
  real->known = real->found = 1;
  real->device = state.st_dev;
  real->inode = state.st_ino;
  return 1;
}

/* Whether the way to a folder that is not there breaks at something that is not there, and not at a link. */
static int breaks_plainly(int root, char *folder) {
  char *slash;
  while ((slash = strrchr(folder, '/'))) {
    *slash = 0;
    int parent = open_in(root, slash == folder ? "/" : folder, 1);
    if (parent >= 0) {
      char text[1];
      ssize_t size = readlinkat(parent, slash + 1, text, 1);
      int plain = size < 0 && errno == ENOENT && !is_proc(parent);
      close(parent);
      return plain;
    }
    if (errno != ENOENT) return 0;
  }
  return 0;
}

/* Something that is not there: its real folder, and its name. `path` is used up. */
static int resolve_missing(int root, char *path, size_t size, int follow, struct real *real) {
  while (size > 1 && path[size - 1] == '/') path[--size] = 0;
  char *slash = strrchr(path, '/');
  if (!slash || !slash[1]) return 0;
  const char *name = slash + 1;
  size_t name_size = strlen(name);
  *slash = 0;
  int folder = open_in(root, slash == path ? "/" : path, 1);
  if (folder < 0) {
    real->known = real->found = 0;
    return errno == ENOENT && slash != path && breaks_plainly(root, path);
  }
  char text[1];
  int link = follow && (readlinkat(folder, name, text, 1) >= 0 || is_proc(folder));
  int good = !link && read_own_link(folder, real);
  close(folder);
  if (!good) return 0;
  while (real->size && real->path[real->size - 1] == '/') real->size--;
  if (real->size + 1 + name_size > sizeof real->path) return 0;
  real->path[real->size++] = '/';
  memcpy(real->path + real->size, name, name_size);
  real->size += name_size;
  real->known = 1;
  real->found = 0;
  return 1;
}

static int starts(const char *path, const char *with) { return !strncmp(path, with, strlen(with)); }

static int resolve(const struct pump *pump, struct target *target, char *path, size_t size, int follow, struct real *real) {
  if (starts(path, "/proc") || !open_root(pump, target)) return 0;
  int descriptor = open_in(target->root, path, follow);
  if (descriptor < 0) return errno == ENOENT && resolve_missing(target->root, path, size, follow, real);
  int good = describe_open(descriptor, real);
  close(descriptor);
  return good;
}

/* `given` made absolute; 0 = that is not simple. */
static size_t make_full(const struct pump *pump, struct target *target, const char *given, size_t size, int32_t base, char *full) {
  char link[64];
  size_t start = 0;
  if (!size) return 0;
  if (given[0] != '/') {
    if (base == AT_FDCWD) snprintf(link, sizeof link, "/proc/%d/cwd", target->thread);
    else snprintf(link, sizeof link, "/proc/%d/fd/%d", target->thread, base);
    ssize_t read = open_root(pump, target) ? readlink(link, full, MOST_PATH) : -1;
    if (read <= 0 || read == MOST_PATH || full[0] != '/') return 0;
    start = (size_t)read;
    if (start > 10 && !memcmp(full + start - 10, " (deleted)", 10)) return 0;
    while (start && full[start - 1] == '/') start--;
    full[start++] = '/';
  }
  memcpy(full + start, given, size);
  full[start + size] = 0;
  return start + size;
}

static void tell_places(struct buffer *to, char given[][MOST_PATH], const size_t *sizes, const struct real *reals,
                        int count) {
  say(to, "\"given\":[");
  for (int i = 0; given && i < count; i++) {
    if (i) say(to, ",");
    quote(to, given[i], sizes[i]);
  }
  say(to, "],\"paths\":[");
  for (int i = 0; i < count; i++) {
    if (i) say(to, ",");
    if (reals[i].known) quote(to, reals[i].path, reals[i].size);
    else say(to, "null");
  }
  say(to, reals[0].found ? "],\"found\":true,\"inode\":" : "],\"found\":false,\"inode\":");
  if (reals[0].found) print(to, "\"%llu:%llu\"", reals[0].device, reals[0].inode);
  else say(to, "null");
}

/* ---- calls ---- */

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

/* An argv of ordinary length. */
static int tell_argv(struct buffer *to, struct target *target, uint64_t array) {
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

/* A socket address in words; left out when it is `silent`. */
static int tell_address(struct buffer *to, const unsigned char *data, size_t size, const char *silent) {
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

static int fetch_address(struct pump *pump, struct target *target, uint64_t address, uint32_t size, const char *silent) {
  unsigned char data[MOST_ADDRESS];
  if (size > MOST_ADDRESS) size = MOST_ADDRESS;
  ssize_t got = size ? fetch(target, data, size, address) : -1;
  return got <= 0 ? HAND_OVER : tell_address(&pump->text, data, (size_t)got, silent);
}

static int tell_message(struct pump *pump, const struct call *call, struct target *target, const uint64_t *arguments) {
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

static int tell(struct pump *pump, const struct call *call, struct target *target, const uint64_t *arguments) {
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

/* Where a process comes from, on its first record; 0 = that cannot be told. */
static int tell_origin(struct pump *pump, struct target *target) {
  char path[64], exe[MOST_PATH];
  struct status status;
  snprintf(path, sizeof path, "/proc/%d/exe", target->thread);
  ssize_t size = readlink(path, exe, sizeof exe);
  if (size < 0 || size == sizeof exe || !read_status(target->thread, &status)) return 0;
  print(&pump->text, ",\"first\":true,\"ppid\":%ld,\"sid\":%ld,\"exe\":", status.parent, status.session);
  quote(&pump->text, exe, (size_t)size);
  return 1;
}

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

/* ---- the loop ---- */

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
int pump_run(struct pump *pump) {
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

size_t pump_head_size(void) { return offsetof(struct pump, calls); }

size_t pump_call_size(void) { return sizeof(struct call); }

void pump_close(struct pump *pump) {
  for (int i = 0; i < SLOTS; i++) drop(&pump->targets[i]);
  if (pump->known) munmap(pump->known, MOST_PIDS * sizeof *pump->known);
  free(pump->out.data);
  free(pump->text.data);
  free(pump);
}

struct pump *pump_open(const struct call *calls, int32_t count) {
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
void pump_forget(struct pump *pump, int32_t thread, int32_t process) {
  drop_thread(pump, thread);
  drop_thread(pump, process);
}

void pump_forget_roots(struct pump *pump) {
  for (int i = 0; i < SLOTS; i++) drop_root(&pump->targets[i]);
}

/* Whether nothing was told of the process yet; from now on something was. `inner` 0 = it has ended. */
int pump_is_new(struct pump *pump, int32_t process, int32_t inner) {
  if (process <= 0 || process >= MOST_PIDS) return 0;
  int fresh = pump->known[process] != inner;
  pump->known[process] = inner;
  return fresh;
}

/* For tests: the text of `data` as a JSON string, or of a socket address in words; its size, -1 = no room. */
int pump_quote(const char *data, size_t size, char *to, size_t room) {
  struct buffer text = {to, 0, room, 0};
  quote(&text, data, size);
  return text.over ? -1 : (int)text.size;
}

int pump_address(const unsigned char *data, size_t size, char *to, size_t room) {
  struct buffer text = {to, 0, room, 0};
  int told = size > MOST_ADDRESS ? LEAVE_OUT : tell_address(&text, data, size, "");
  return told != DONE || text.over ? -1 : (int)text.size;
}
