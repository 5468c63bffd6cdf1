/* One small program with two offices, told apart by the name of its own file (never argv[0]).
 *
 * `init`: the first process of a sandbox. Starts its arguments in a session of their own, reaps all that
 * is left to it, leaves with the status of what it started (128 + signal when a signal ended it).
 *
 * any other name: sends one datagram that tells of the call, then becomes the real command with its
 * arguments and environment untouched. It prints nothing and fails like a shell: 127 not found, 126 otherwise.
 *
 * No libc: a static glibc costs more per call than all the rest and is not everywhere installed; and no header,
 * so that a bare compiler is enough. Nothing in the binary may speak of measurement: mind string literals. */

#ifndef SYSTEM
#define SYSTEM "/usr"
#endif
#ifndef ADDRESS
#define ADDRESS "/run/systemd/notify"
#endif
#ifndef MOST
#define MOST 180000 /* bytes of arguments; a datagram may have some 200 kB */
#endif
#define REAL SYSTEM "/local/libexec"  /* mirrors SYSTEM: the real /usr/bin/rm is seen at REAL/bin/rm */
#define FRONT SYSTEM "/local/bin/"    /* scripts run at their own path, so what stands for them is first in PATH */

enum { PATH_SIZE = 4096, LEAST = 4000 };
enum { EINTR = 4, ENOENT = 2, EMSGSIZE = 90, ENOTDIR = 20 };
enum { AT_FDCWD = -100, SIGCHLD = 17, AT_EXECFN = 31, NOT_FOUND = 127, NOT_STARTED = 126 };

typedef unsigned long word;

#if defined __x86_64__
enum { SENDMSG = 46, SOCKET = 41, CLONE = 56, EXECVE = 59, WAIT4 = 61, GETCWD = 79,
       READLINKAT = 267, GETPID = 39, GETPPID = 110, GETSID = 124, SETSID = 112, CLOCK_GETTIME = 228, EXIT_GROUP = 231 };
__asm__(".globl _start\n_start:\n xor %ebp,%ebp\n mov %rsp,%rdi\n and $-16,%rsp\n call begin\n");
static long call(long number, long a, long b, long c, long d, long e) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined __aarch64__
enum { SENDMSG = 211, SOCKET = 198, CLONE = 220, EXECVE = 221, WAIT4 = 260, GETCWD = 17,
       READLINKAT = 78, GETPID = 172, GETPPID = 173, GETSID = 156, SETSID = 157, CLOCK_GETTIME = 113, EXIT_GROUP = 94 };
__asm__(".globl _start\n_start:\n mov x29,#0\n mov x30,#0\n mov x0,sp\n bl begin\n");
static long call(long number, long a, long b, long c, long d, long e) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
  return x0;
}
#else
#error "no system call table for this machine"
#endif

struct head { /* shim_record.py reads it */
  unsigned mark, cut, time[2];
  int pid, ppid, sid;
  unsigned count;
  unsigned short name, cwd;
  unsigned size;
};
struct vector { const void *base; word size; };
struct message { const void *name; unsigned name_size; struct vector *parts; word count; void *control; word control_size; int flags; };

/* The commands that this file is, the longest first, each with a NUL behind it; shim_mounts.py fills it in each copy.
 * Neither static nor const, or the compiler would take it for known. */
char commands[256] = "\1\2\3\4\5\6\7\1\2\3\4\5\6\7";

/* In .bss: pages that a short argv does not touch are never made. */
static struct { struct head head; char body[MOST + PATH_SIZE * 2]; } record;

static word length(const char *text) {
  word size = 0;
  while (text[size]) size++;
  return size;
}

static char *append(char *to, const char *from, word size) {
  while (size--) *to++ = *from++;
  return to;
}

static int starts(const char *text, const char *with) {
  while (*with) if (*text++ != *with++) return 0;
  return 1;
}

static const char *base(const char *path) {
  const char *name = path;
  for (; *path; path++) if (*path == '/') name = path + 1;
  return name;
}

static int equal(const char *one, const char *other) { return starts(one, other) && starts(other, one); }

/* `python3` for the file python3.11; `pkill` for the file pgrep, but only when it is called so. */
static const char *command_of(const char *file, const char *given) {
  const char *name;
  if (*commands == 1) return file;
  for (name = commands; *name; name += length(name) + 1) if (equal(name, given)) return name;
  for (name = commands; *name; name += length(name) + 1) if (starts(file, name)) return name;
  return file;
}

static int status_of(long error) { return error == -ENOENT || error == -ENOTDIR ? NOT_FOUND : NOT_STARTED; }

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
  long to = call(SOCKET, 1, 2 | 02000000, 0, 0, 0); /* AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC */
  if (to < 0) return;
  call(CLOCK_GETTIME, 1, (long)now, 0, 0, 0);
  word nanoseconds = (word)now[0] * 1000000000 + (word)now[1];
  record.head = (struct head){0x0001A55A, 0, {(unsigned)nanoseconds, (unsigned)(nanoseconds >> 32)},
                              (int)call(GETPID, 0, 0, 0, 0, 0), (int)call(GETPPID, 0, 0, 0, 0, 0),
                              (int)call(GETSID, 0, 0, 0, 0, 0), 0, 0, 0, 0};
  for (word most = MOST; most >= LEAST; most /= 3) { /* a machine may allow smaller datagrams */
    struct vector part = {&record, compose(name, argv, most)};
    struct message message = {&address, sizeof address, &part, 1, 0, 0, 0};
    long sent; /* sendmsg, since an agent's own sandbox may refuse sendto and connect; MSG_NOSIGNAL */
    do sent = call(SENDMSG, to, (long)&message, 0x4000, 0, 0); while (sent == -EINTR);
    if (sent != -EMSGSIZE) break;
  }
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

/* execvp: a name without a slash is looked for in PATH. */
static int start(char **argv, char **environment) {
  const char *path = "/usr/local/bin:/usr/bin:/bin", *name = argv[0];
  char full[PATH_SIZE * 2];
  int status = NOT_FOUND;
  if (base(name) != name) return status_of(call(EXECVE, (long)name, (long)argv, (long)environment, 0, 0));
  for (char **entry = environment; *entry; entry++) if (starts(*entry, "PATH=")) path = *entry + 5;
  while (*path) {
    word size = 0;
    while (path[size] && path[size] != ':') size++;
    if (size && size + length(name) + 2 < sizeof full) {
      char *at = append(full, path, size);
      *at++ = '/';
      append(at, name, length(name) + 1);
      if (status_of(call(EXECVE, (long)full, (long)argv, (long)environment, 0, 0)) == NOT_STARTED) status = NOT_STARTED;
    }
    path += size + (path[size] == ':');
  }
  return status;
}

static int preside(char **argv, char **environment) {
  int state;
  if (!argv[0] || !argv[1]) return NOT_STARTED;
  long child = call(CLONE, SIGCHLD, 0, 0, 0, 0);
  if (child < 0) return NOT_STARTED;
  if (!child) {
    call(SETSID, 0, 0, 0, 0, 0);
    return start(argv + 1, environment);
  }
  for (char **argument = argv + 1; *argument; argument++) for (char *at = *argument; *at; at++) *at = 0;
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
  int status = equal(base(self), "init") ? preside(argv, environment) : pass_on(self, argv, environment);
  for (;;) call(EXIT_GROUP, status, 0, 0, 0, 0);
}
