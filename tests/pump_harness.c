/* Hands the parts of the loop that read what is not ours all kinds of bytes, in buffers of exactly their size. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "path.h"
#include "process.h"
#include "tell.h"

int pump_quote(const char *data, size_t size, char *to, size_t room);
int pump_address(const unsigned char *data, size_t size, char *to, size_t room);

enum { ROOM = 1 << 21 };

static uint32_t seed = 12345;
static unsigned draw(unsigned below) { seed = seed * 1664525u + 1013904223u; return (seed >> 8) % below; }
int main(void) {
  for (int turn = 0; turn < 20000; turn++) {
    size_t size = draw(turn % 50 ? 140 : 9000);
    unsigned char *data = malloc(size ? size : 1);
    for (size_t i = 0; i < size; i++) data[i] = (unsigned char)(draw(4) ? draw(256) : (unsigned)"\0\1\2\n/"[draw(5)]);
    char *to = malloc(6 * size + 2);
    if (pump_quote((char *)data, size, to, 6 * size + 2) < 0) return 1;
    char words[1000];
    if (size) data[0] = "\0\1\2\12"[draw(4)];
    if (size > 1) data[1] = 0;
    pump_address(data, size, words, sizeof words);
    free(to);
    free(data);
  }
  char given[2][MOST_PATH];
  static struct pump pump;
  struct target self = {getpid(), getpid(), getpid(), -1, -1, 0};
  static char words[3 * PAGE];
  pump.text.data = malloc(ROOM);
  pump.text.room = ROOM;
  for (int turn = 0; turn < 5000; turn++) {
    size_t room = 1 + draw(MOST_PATH), start = draw(2 * PAGE), size = draw(PAGE);
    memset(words, 'a' + turn % 26, sizeof words);
    words[start + size < sizeof words ? start + size : sizeof words - 1] = 0;
    ssize_t got = fetch_string(&self, given[0], room, (uint64_t)(words + start));
    if (got >= (ssize_t)room) return 2;
    fetch_string(&self, given[0], room, ((uint64_t)draw(1u << 24) << 40) + draw(1u << 24));
    uint64_t array[40];
    for (int i = 0; i < 40; i++) {
      array[i] = draw(3) ? 0 : (uint64_t)draw(1u << 24) << 40;
      if (draw(12)) array[i] = (uint64_t)(words + draw(2 * PAGE));
    }
    pump.text.size = 0;
    tell_argv(&pump.text, &self, (uint64_t)array);
    uint64_t arguments[6] = {0, 0, 0, (uint64_t)array, 0, 0};
    tell_message(&pump, &(struct call){.argument = 3}, &self, arguments);
    fetch_address(&pump, &self, array[0], draw(1u << 24), "");
    char full[MOST_FULL];
    struct real real = {0};
    size_t length = draw(MOST_PATH - 1);
    for (size_t i = 0; i < length; i++) given[1][i] = "/../ab.\n"[draw(8)];
    given[1][length] = 0;
    struct stat space;
    if (!stat("/proc/self/ns/mnt", &space)) pump.mounts = space.st_ino;
    size_t whole = make_full(&pump, &self, given[1], strlen(given[1]), draw(2) ? AT_FDCWD : (int)draw(9), full);
    if (whole) resolve(&pump, &self, full, whole, (int)draw(2), &real);
    if (real.size > sizeof real.path) return 3;
  }
  return 0;
}
