/* What is held of processes, each of which may be gone, or another's number, at any moment. */

#define _GNU_SOURCE
#include "process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void drop_memory(struct target *target) {
  if (target->memory >= 0) close(target->memory);
  target->memory = -1;
}

void drop_root(struct target *target) {
  if (target->root >= 0) close(target->root);
  target->root = -1;
}

void drop(struct target *target) {
  drop_memory(target);
  drop_root(target);
  target->thread = target->gone = 0;
}

struct target *slot_of(struct pump *pump, int32_t thread) { return &pump->targets[thread & (SLOTS - 1)]; }

void drop_thread(struct pump *pump, int32_t thread) {
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

int read_status(int32_t thread, struct status *status) {
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

struct target *find(struct pump *pump, int32_t thread) {
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

int open_root(const struct pump *pump, struct target *target) {
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

ssize_t fetch(struct target *target, void *to, size_t size, uint64_t address) {
  if (address >> 63 || !open_memory(target)) return -1;
  ssize_t got = pread(target->memory, to, size, (off_t)address);
  if (!got) target->gone = 1;
  return got;
}

ssize_t fetch_string(struct target *target, char *to, size_t room, uint64_t address) {
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
