/* One small program with four offices, told apart by the name of its own file (never argv[0]) and its first mark.
 *
 * `init`: the first process of a sandbox. Starts what its leading `+` words describe and then the rest of its
 * arguments, each in a session of its own, reaps all that is left to it, leaves with the status of the latter (128 +
 * signal when a signal ended it).
 *
 * any other name: sends one datagram that tells of the call, then becomes the real command with its
 * arguments and environment untouched. It prints nothing and fails like a shell: 127 not found, 126 otherwise.
 *
 * a copy marked ASKS: sends the same datagram, then lets itself be told over a stream what to print, to read, to write,
 * to become, and how to leave.
 *
 * a copy marked STAYS: does nothing until it is killed, but for saying "ok" to whoever connects to descriptor 3.
 *
 * No libc: a static glibc costs more per call than all the rest and is not everywhere installed. Nothing in the binary
 * may speak of measurement: mind string literals. */

#include "bare.h"

#ifndef SYSTEM
#define SYSTEM "/usr"
#endif
#ifndef ADDRESS
#define ADDRESS "/run/systemd/notify"
#endif
#ifndef DESK
#define DESK "/run/systemd/journal/stdout"
#endif
#ifndef MOST
#define MOST 180000 /* bytes of arguments; a datagram may have some 200 kB */
#endif
#define REAL SYSTEM "/local/libexec"  /* mirrors SYSTEM: the real /usr/bin/rm is seen at REAL/bin/rm */
#define FRONT SYSTEM "/local/bin/"    /* scripts run at their own path, so what stands for them is first in PATH */

enum { LEAST = 4000, AT_EXECFN = 31 };
enum { UNMARKED = 1, ASKS = 2, STAYS = 3 };

struct head { /* record.py reads it */
  unsigned mark, cut, time[2];
  int pid, ppid, sid;
  unsigned count;
  unsigned short name, cwd;
  unsigned size;
};

/* The commands that this file is, the longest first, each with a NUL behind it; mounts.py fills it in each copy.
 * Neither static nor const, or the compiler would take it for known. */
char commands[256] = "\1\2\3\4\5\6\7\1\2\3\4\5\6\7";

/* In .bss: pages that a short argv does not touch are never made. */
static struct { struct head head; char body[MOST + PATH_SIZE * 2]; } record;

static const char *base(const char *path) {
  const char *name = path;
  for (; *path; path++) if (*path == '/') name = path + 1;
  return name;
}

static int equal(const char *one, const char *other) { return starts(one, other) && starts(other, one); }

/* `python3` for the file python3.11; `pkill` for the file pgrep, but only when it is called so. */
static const char *command_of(const char *file, const char *given) {
  const char *name;
  if (*commands == UNMARKED) return file;
  const char *first = commands + (*commands == ASKS);
  for (name = first; *name; name += length(name) + 1) if (equal(name, given)) return name;
  for (name = first; *name; name += length(name) + 1) if (starts(file, name)) return name;
  return file;
}

/* Lays the record out with at most `most` bytes of arguments; gives its size. */
static word compose(const char *name, char **argv, word most) {
  struct head *head = &record.head;
  char *at = append(record.body, name, head->name = (unsigned short)length(name));
  long got = call(GETCWD, (long)at, PATH_SIZE, 0, 0, 0);
  head->cwd = got > 0 ? (unsigned short)(got - 1) : 0;
  char *first = at += head->cwd;
  head->count = head->cut = 0;
  for (; argv[head->count]; head->count++) {
    word size = length(argv[head->count]) + 1;
    if ((word)(at - first) + size > most) break;
    at = append(at, argv[head->count], size);
  }
  while (argv[head->count + head->cut]) head->cut++;
  head->size = (unsigned)(at - first);
  return (word)(at - (char *)&record);
}

static void tell(const char *name, char **argv) {
  struct { unsigned short family; char path[sizeof ADDRESS]; } address = {1, ADDRESS};
  long now[2] = {0, 0};
  long to = call(SOCKET, 1, 2 | CLOSE_ON_EXEC, 0, 0, 0); /* AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC */
  if (to < 0) return;
  call(CLOCK_GETTIME, 1, (long)now, 0, 0, 0);
  word nanoseconds = (word)now[0] * 1000000000 + (word)now[1];
  record.head = (struct head){0x0001A55A, 0, {(unsigned)nanoseconds, (unsigned)(nanoseconds >> 32)},
                              (int)call(GETPID, 0, 0, 0, 0, 0), (int)call(GETPPID, 0, 0, 0, 0, 0),
                              (int)call(GETSID, 0, 0, 0, 0, 0), 0, 0, 0, 0};
  for (word most = MOST; most >= LEAST; most /= 3) { /* a machine may allow smaller datagrams */
    struct vector part = {&record, compose(name, argv, most)};
    struct message message = {&address, sizeof address, &part, 1, 0, 0, 0};
    long sent; /* sendmsg, since an agent's own sandbox may refuse sendto and connect */
    do sent = call(SENDMSG, to, (long)&message, NO_SIGNAL, 0, 0); while (sent == -EINTR);
    if (sent != -EMSGSIZE) break;
  }
  call(CLOSE, to, 0, 0, 0, 0); /* it may have the number of our input, if that is closed */
}

/* Where this file lies; without /proc, the path that it was started by. */
static void find_self(char *path, word *auxiliary) {
  long size = call(READLINKAT, AT_FDCWD, (long)"/proc/self/exe", (long)path, PATH_SIZE - 1, 0);
  if (size > 0) { path[size] = 0; return; }
  for (; auxiliary[0]; auxiliary += 2)
    if (auxiliary[0] == AT_EXECFN) {
      size = (long)length((char *)auxiliary[1]);
      append(path, (char *)auxiliary[1], size < PATH_SIZE ? (word)size + 1 : 1);
    }
}

static int pass_on(const char *self, char **argv, char **environment) {
  char real[PATH_SIZE + sizeof REAL], *at;
  const char *name = base(self);
  tell(command_of(name, argv[0] ? base(argv[0]) : ""), argv);
  if (starts(self, FRONT)) at = append(real, SYSTEM "/bin/", sizeof SYSTEM "/bin/" - 1), self = name;
  else {
    at = append(real, REAL, sizeof REAL - 1);
    if (starts(self, SYSTEM "/")) self += sizeof SYSTEM - 1;
    else at = append(at, "/bin/", 5), self = name;
  }
  append(at, self, length(self) + 1);
  return status_of(call(EXECVE, (long)real, (long)argv, (long)environment, 0, 0));
}

/* Waits until a descriptor that does not block can be read (1) or written (4); at most `seconds`, 0 = for ever. */
static void await(long descriptor, short event, long seconds) {
  struct { int descriptor; short events, found; } one = {(int)descriptor, event, 0};
  long limit[2] = {seconds, 0};
  call(PPOLL, (long)&one, 1, seconds ? (long)limit : 0, 0, 0);
}

static long get(long from, void *to, word most) {
  for (;;) {
    long got = call(READ, from, (long)to, (long)most, 0, 0);
    if (got == -EAGAIN) await(from, 1, 0);
    else if (got != -EINTR) return got;
  }
}

static int get_all(long from, char *to, word size) {
  while (size) {
    long got = get(from, to, size);
    if (got <= 0) return 0;
    to += got;
    size -= (word)got;
  }
  return 1;
}

static int put_all(long to, const char *from, word size) {
  while (size) {
    long put = call(WRITE, to, (long)from, (long)size, 0, 0);
    if (put == -EAGAIN) await(to, 4, 0);
    else if (put < 0 && put != -EINTR) return 0;
    if (put > 0) from += put, size -= (word)put;
  }
  return 1;
}

struct frame { unsigned kind, size; }; /* asking.py reads and writes it */

/* Unlike a write, it does not end us when the other side is gone. */
static int send(long to, unsigned kind, const char *from, word size) {
  struct frame frame = {kind, (unsigned)size};
  struct vector parts[2] = {{&frame, sizeof frame}, {from, size}}, *part = parts;
  while (part < parts + 2) {
    struct message message = {0, 0, part, (word)(parts + 2 - part), 0, 0, 0};
    long sent = call(SENDMSG, to, (long)&message, NO_SIGNAL, 0, 0);
    if (sent < 0 && sent != -EINTR) return 0;
    for (; sent > 0 || (part < parts + 2 && !part->size); part++) {
      word step = (word)sent < part->size ? (word)sent : part->size;
      part->base = (const char *)part->base + step;
      part->size -= step;
      sent -= (long)step;
      if (part->size) break;
    }
  }
  return 1;
}

static char chunk[65536];

/* Hands over what a file, our own input (no path) or a folder's list holds; then the error that ended it. */
static void read_out(long to, const char *path, int listed) {
  long from = *path ? call(OPENAT, AT_FDCWD, (long)path, listed ? 02004000 : 02000000, 0, 0) : 0, got = from;
  while (got >= 0) {
    got = listed ? call(GETDENTS64, from, (long)chunk, sizeof chunk, 0, 0) : get(from, chunk, sizeof chunk);
    if (got <= 0 || !send(to, 'd', chunk, (word)got)) break;
  }
  if (*path && from >= 0) call(CLOSE, from, 0, 0, 0, 0);
  send(to, got < 0 ? (unsigned)-got << 8 | 'z' : 'z', 0, 0);
}

/* Hands over one line of our own input and leaves the rest to whoever reads it next. */
static void read_line(long to) {
  word size = 0;
  while (size < 4096 && get(0, chunk + size, 1) == 1 && chunk[size++] != '\n') {}
  send(to, 'd', chunk, size);
  send(to, 'z', 0, 0);
}

/* Makes a file of what stands behind the path, or a folder where the path ends in a slash. */
static void write_in(long to, const char *path, word size) {
  word named = length(path);
  long error = 0, file;
  if (named && path[named - 1] == '/') error = call(MKDIRAT, AT_FDCWD, (long)path, 0755, 0, 0);
  else if ((file = call(OPENAT, AT_FDCWD, (long)path, 02001101, 0644, 0)) < 0) error = file;
  else {
    if (!put_all(file, path + named + 1, size - named - 1)) error = -28;
    call(CLOSE, file, 0, 0, 0, 0);
  }
  send(to, error < 0 ? (unsigned)-error << 8 | 'z' : 'z', 0, 0);
}

static int has_name(const char *assignment, const char *entry) {
  while (*entry && *entry != '=') if (*assignment++ != *entry++) return 0;
  return *assignment == *entry;
}

/* Leading words with a `=` in them are variables of the new program; the others are those that we have. */
static void become(char *words, word size, char **environment) {
  static char *argv[8192], *given[8192];
  word count = 0, set = 0, all;
  for (char *at = words; at < words + size && count + set < 4000; at += length(at) + 1) {
    char *sign = at;
    while (*sign && *sign != '=') sign++;
    if (count || !*sign) argv[count++] = at;
    else given[set++] = at;
  }
  argv[count] = 0;
  for (all = set; *environment && all < 8191; environment++) {
    word same = 0;
    while (same < set && !has_name(given[same], *environment)) same++;
    if (same == set) given[all++] = *environment;
  }
  given[all] = 0;
  if (count) execute(argv, given);
}

static char body[1 << 22];

/* The environment, each variable with a NUL behind it, as much as there is room for. */
static word gather(char **environment) {
  char *at = body;
  for (; *environment; environment++) {
    word size = length(*environment) + 1;
    if ((word)(at - body) + size < sizeof body / 4) at = append(at, *environment, size);
  }
  return (word)(at - body);
}

/* Does what it is told until it is told how to leave; -1 = the other side is gone. */
static int obey(long desk, char **environment) {
  struct frame frame;
  while (get_all(desk, (char *)&frame, sizeof frame)) {
    if (frame.kind == '1' || frame.kind == '2') {
      for (word left = frame.size; left;) {
        word size = left < sizeof chunk ? left : sizeof chunk;
        if (!get_all(desk, chunk, size)) return -1;
        put_all(frame.kind - '0', chunk, size);
        left -= size;
      }
      continue;
    }
    if (frame.size >= sizeof body || !get_all(desk, body, frame.size)) return -1;
    body[frame.size] = 0;
    if (frame.kind == 'r' || frame.kind == 'l') read_out(desk, body, frame.kind == 'l');
    else if (frame.kind == 'i') read_line(desk);
    else if (frame.kind == 'w') write_in(desk, body, frame.size);
    else if (frame.kind == 'x') become(body, frame.size, environment);
    else if (frame.kind == 'q') return (unsigned char)body[0];
    else return -1;
  }
  return -1;
}

static int ask(const char *self, char **argv, char **environment) {
  struct { unsigned short family; char path[sizeof DESK]; } address = {1, DESK};
  const char *name = command_of(base(self), argv[0] ? base(argv[0]) : "");
  tell(name, argv);
  long desk = call(SOCKET, 1, 1 | CLOSE_ON_EXEC, 0, 0, 0); /* AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC */
  int status = -1;
  long error;
  if (desk >= 0 && desk < 3) { /* our own input or output is closed, and must not be taken for this */
    long low = desk;
    desk = call(FCNTL, low, 1030, 3, 0, 0); /* F_DUPFD_CLOEXEC */
    call(CLOSE, low, 0, 0, 0, 0);
  }
  do error = desk < 0 ? desk : call(CONNECT, desk, (long)&address, sizeof address, 0, 0); while (error == -EINTR);
  if (error >= 0 && send(desk, 'c', (char *)&record, compose(name, argv, MOST)) &&
      send(desk, 'e', body, gather(environment)))
    status = obey(desk, environment);
  if (status >= 0) return status;
  put_all(2, name, length(name));
  put_all(2, ": connection failed\n", 20);
  return 1;
}

__attribute__((noreturn)) static void stay(void) {
  static const char said[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n";
  for (;;) {
    long caller = call(ACCEPT4, 3, 0, 0, CLOSE_ON_EXEC, 0);
    if (caller < 0) {
      if (caller != -EINTR) await(-1, 0, 0);
      continue;
    }
    await(caller, 1, 1);
    struct vector part = {said, sizeof said - 1};
    struct message message = {0, 0, &part, 1, 0, 0, 0};
    call(READ, caller, (long)chunk, sizeof chunk, 0, 0);
    call(SENDMSG, caller, (long)&message, NO_SIGNAL, 0, 0);
    call(CLOSE, caller, 0, 0, 0, 0);
  }
}

/* Beside the agent, before it: `+PID,WORDS,PORT`, the program, its WORDS arguments. Behind its own input and output lies
 * nothing; what it listens on is descriptor 3. Gives where the next description stands, or null when it did not start
 * or got another number than it should. */
static char **start_beside(char **argv, char **environment) {
  const char *plan = *argv + 1;
  unsigned pid = number(&plan), words = (plan++, number(&plan)), port = (plan++, number(&plan));
  char *program = argv[1], **rest = argv + 2 + words;
  int state;
  skip_to(pid);
  long child = call(CLONE, VFORK | SIGCHLD, 0, 0, 0, 0); /* CLONE_VFORK: we go on when it has become its program */
  if (child) return child < 0 || call(WAIT4, child, (long)&state, NO_HANG, 0, 0) ? 0 : rest;
  call(SETSID, 0, 0, 0, 0, 0);
  *rest = 0;
  long nothing = call(OPENAT, AT_FDCWD, (long)"/dev/null", 2, 0, 0);
  for (long own = 0; own < 3; own++) call(DUP3, nothing, own, 0, 0, 0);
  call(CLOSE, 3, 0, 0, 0, 0);
  if (port) {
    struct { unsigned short family; unsigned char port[2], address[4], rest[8]; } address =
        {2, {(unsigned char)(port >> 8), (unsigned char)port}, {127, 0, 0, 1}, {0}};
    long listener = call(SOCKET, 2, 1, 0, 0, 0);
    if (listener != 3) { call(DUP3, listener, 3, 0, 0, 0); call(CLOSE, listener, 0, 0, 0, 0); }
    if (call(BIND, 3, (long)&address, sizeof address, 0, 0) || call(LISTEN, 3, 16, 0, 0, 0)) pid = 0;
  }
  if (call(GETPID, 0, 0, 0, 0, 0) == pid) call(EXECVE, (long)program, (long)(argv + 2), (long)environment, 0, 0);
  for (;;) call(EXIT_GROUP, NOT_STARTED, 0, 0, 0, 0);
}

/* How many words the program has that a `+PID,WORDS,PORT` announces. */
static unsigned words_of(const char *plan) {
  while (*plan && *plan++ != ',') {}
  return number(&plan);
}

static int preside(char **argv, char **environment) {
  int state;
  if (!argv[0]) return NOT_STARTED;
  char **all = argv + 1, **beside = all;
  while (argv[1] && *argv[1] == '+') argv += 2 + words_of(argv[1]);
  if (!argv[1]) return NOT_STARTED;
  int ready[2], gate[2], gated = beside != argv + 1;
  if (gated && (call(PIPE2, (long)ready, CLOSE_ON_EXEC, 0, 0, 0) < 0 ||
                call(PIPE2, (long)gate, CLOSE_ON_EXEC, 0, 0, 0) < 0)) return NOT_STARTED;
  long child = call(CLONE, SIGCHLD, 0, 0, 0, 0);
  if (child < 0) return NOT_STARTED;
  if (!child) {
    call(SETSID, 0, 0, 0, 0, 0);
    if (gated) { /* the first to be heard of, and the last to start */
      call(CLOSE, gate[1], 0, 0, 0, 0);
      call(CLOSE, call(OPENAT, AT_FDCWD, (long)"/dev/null", CLOSE_ON_EXEC, 0, 0), 0, 0, 0, 0);
      put_all(ready[1], "", 1);
      if (get(gate[0], chunk, 1) != 1) return NOT_STARTED;
    }
    return execute(argv + 1, environment);
  }
  if (gated) {
    get(ready[0], chunk, 1);
    while (beside && beside < argv + 1) beside = start_beside(beside, environment);
    if (beside) put_all(gate[1], "", 1);
    for (int end = 0; end < 2; end++) call(CLOSE, ready[end], 0, 0, 0, 0), call(CLOSE, gate[end], 0, 0, 0, 0);
  }
  for (char **argument = all; *argument; argument++) for (char *at = *argument; *at; at++) *at = 0;
  for (;;) {
    long gone = call(WAIT4, -1, (long)&state, 0, 0, 0);
    if (gone == child) return state & 127 ? 128 + (state & 127) : state >> 8 & 255;
    if (gone < 0 && gone != -EINTR) return NOT_STARTED;
  }
}

__attribute__((used, noreturn)) void begin(word *stack) {
  char self[PATH_SIZE];
  char **argv = (char **)(stack + 1), **environment = argv + stack[0] + 1, **last = environment;
  while (*last) last++;
  self[0] = 0;
  find_self(self, (word *)(last + 1));
  if (*commands == STAYS) stay();
  int status = equal(base(self), "init") ? preside(argv, environment)
               : *commands == ASKS ? ask(self, argv, environment)
               : pass_on(self, argv, environment);
  for (;;) call(EXIT_GROUP, status, 0, 0, 0, 0);
}
