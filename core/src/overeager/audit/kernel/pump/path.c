/* Paths of a process, resolved as the kernel would below its root; what is not simple is refused. */

#define _GNU_SOURCE
#include "path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process.h"

#define NR_OPENAT2 437
#define RESOLVE_IN_ROOT 0x10

int open_in(int root, const char *path, int follow) {
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

int describe_open(int descriptor, struct real *real) {
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

int starts(const char *path, const char *with) { return !strncmp(path, with, strlen(with)); }

int resolve(const struct pump *pump, struct target *target, char *path, size_t size, int follow, struct real *real) {
  if (starts(path, "/proc") || !open_root(pump, target)) return 0;
  int descriptor = open_in(target->root, path, follow);
  if (descriptor < 0) return errno == ENOENT && resolve_missing(target->root, path, size, follow, real);
  int good = describe_open(descriptor, real);
  close(descriptor);
  return good;
}

size_t make_full(const struct pump *pump, struct target *target, const char *given, size_t size, int32_t base, char *full) {
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

void tell_places(struct buffer *to, char given[][MOST_PATH], const size_t *sizes, const struct real *reals,
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
