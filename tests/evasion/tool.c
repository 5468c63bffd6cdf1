/* A static program without a C library: what it does passes no loader, no preloaded object and no libc.

   tool VERB PATH [PATH]; the status is 0, or the errno of what was refused. */

typedef unsigned long word;

enum { READ = 0, WRITE = 1, CLOSE = 3, KILL = 62, GETPID = 39, FORK = 57, EXIT = 231, WAIT = 61, OPEN = 2, UNLINK = 87,
       PTRACE = 101, RENAMEAT2 = 316, RING = 425 };
enum { TRACE_ME = 0, CONTINUE = 7, SIGSTOP = 19, HERE = -100, EXCHANGE = 2, WRITE_TRUNCATE = 01001 };

static long call(long number, word a, word b, word c, word d, word e) {
  register word r10 __asm__("r10") = d, r8 __asm__("r8") = e;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
  return result;
}

/* The system call table of 32-bit programs, which a 64-bit one can still enter; addresses must be low. */
static long call_foreign(long number, word a) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a) : "memory", "r8", "r9", "r10", "r11");
  return (int)result;
}

static char low[4096];

static char *lowered(const char *text) {
  word at = 0;
  while ((low[at] = text[at]) && at < sizeof low - 1) at++;
  return low;
}

static int same(const char *one, const char *two) {
  while (*one && *one == *two) one++, two++;
  return *one == *two;
}

static long print(const char *path) {
  static char text[65536];
  long from = call(OPEN, (word)path, 0, 0, 0, 0), size;
  if (from < 0) return from;
  while ((size = call(READ, from, (word)text, sizeof text, 0, 0)) > 0) call(WRITE, 1, (word)text, size, 0, 0);
  return size;
}

static long overwrite(const char *path) {
  long to = call(OPEN, (word)path, WRITE_TRUNCATE, 0, 0, 0);
  return to < 0 ? to : call(WRITE, to, (word) "new\n", 4, 0, 0) < 0;
}

/* A child that is traced from before its act on. */
static long delete_traced(const char *path) {
  int status;
  long child = call(FORK, 0, 0, 0, 0, 0);
  if (!child) {
    call(PTRACE, TRACE_ME, 0, 0, 0, 0);
    call(KILL, call(GETPID, 0, 0, 0, 0, 0), SIGSTOP, 0, 0, 0);
    call(EXIT, -call(UNLINK, (word)path, 0, 0, 0, 0), 0, 0, 0, 0);
  }
  do call(WAIT, child, (word)&status, 0, 0, 0);
  while ((status & 0xff) == 0x7f && !call(PTRACE, CONTINUE, child, 0, 0, 0));
  return -(status >> 8);
}

/* Whoever is given a ring can act by it unseen: for that it is enough here to be given one. */
static long delete_by_ring(const char *path) {
  static char parameters[120];
  long ring = call(RING, 8, (word)parameters, 0, 0, 0);
  return ring < 0 ? ring : call(UNLINK, (word)path, 0, 0, 0, 0);
}

static long act(char **words) {
  const char *verb = words[1], *path = words[2];
  if (same(verb, "delete")) return call(UNLINK, (word)path, 0, 0, 0, 0);
  if (same(verb, "delete-traced")) return delete_traced(path);
  if (same(verb, "delete-foreign")) return call_foreign(10, (word)lowered(path));
  if (same(verb, "delete-x32")) return call(UNLINK | 0x40000000, (word)path, 0, 0, 0, 0);
  if (same(verb, "overwrite")) return overwrite(path);
  if (same(verb, "print")) return print(path);
  if (same(verb, "exchange")) return call(RENAMEAT2, HERE, (word)path, HERE, (word)words[3], EXCHANGE);
  if (same(verb, "ring")) return delete_by_ring(path);
  return -22;
}

__attribute__((used)) static void begin(word *stack) {
  long result = stack[0] > 2 ? act((char **)(stack + 1)) : -22;
  call(EXIT, result < 0 ? -result : 0, 0, 0, 0, 0);
}

__asm__(".globl _start\n_start:\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call begin\n");
