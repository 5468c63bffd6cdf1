/* The first process of a container. It meets the host at ADDRESS, opens the sockets that the host will serve inside this
 * network and hands them out, sets the filter, tells under which number it holds the listener, and waits for the go; by
 * then the host has a copy of the listener. Then it starts what the order names in sessions of their own, reaps all
 * that is left to it, tells the agent's status and leaves with it. When the host hangs up it leaves at once, and with it
 * everything in the container. It prints nothing.
 *
 * No libc. Nothing in the binary may speak of measurement. */

#include "bare.h"

#ifndef ADDRESS
#define ADDRESS "/run/systemd/private"
#endif

enum { MOST_TEXT = 4 << 20, MOST_WORDS = 1 << 16, MOST_SOCKETS = 200 };
enum { STREAM = 1, HUNG_UP = 137 };

struct rights { word size; int level, type; int held[MOST_SOCKETS + 1]; };
struct address { unsigned short family; char path[sizeof ADDRESS]; };
struct place { unsigned short family, port; unsigned address; char zero[8]; };
struct program { unsigned short length; void *steps; };
struct waited { int of; short wanted, seen; };

/* What the host orders, and how it goes on: the filter, the openings, then texts, each with a NUL behind it: the folder
 * to start in, the arguments, the environment. docker_meeting.py writes it. */
struct order { unsigned filter, openings, arguments, environment; };
struct opening { unsigned short type, port; unsigned address; }; /* port and address in network order */

enum { ORDER, IN, OUT, ERR, GO, STATUS, HANDED };

static char text[MOST_TEXT];
static char *words[MOST_WORDS + 2];
static struct rights rights;

/* The call fails when nobody is left who could be asked about it; then a fault of our own ends us, and all the others. */
static void leave(int status) {
  call(EXIT_GROUP, status, 0, 0, 0, 0);
  for (;;) __builtin_trap();
}

static long retry(long number, long a, long b, long c) {
  long result;
  do result = call(number, a, b, c, 0, 0); while (result == -EINTR);
  return result;
}

static int meet(void) {
  struct address address = {1, ADDRESS};
  long host = call(SOCKET, 1, 5 | CLOSE_ON_EXEC, 0, 0, 0); /* AF_UNIX, SOCK_SEQPACKET */
  if (host < 0 || retry(CONNECT, host, (long)&address, sizeof address) < 0) leave(NOT_STARTED);
  return (int)host;
}

/* The order's descriptors; the order itself is read into `text`. */
static int *take_order(int host) {
  char byte;
  struct vector part = {&byte, 1};
  struct message message = {0, 0, &part, 1, &rights, sizeof rights, 0};
  word size = 0;
  long got;
  if (retry(RECVMSG, host, (long)&message, 0x40000000) != 1) leave(NOT_STARTED); /* MSG_CMSG_CLOEXEC */
  if (rights.size != 16 + HANDED * sizeof(int)) leave(NOT_STARTED);
  while ((got = retry(READ, rights.held[ORDER], (long)(text + size), (long)(MOST_TEXT - size))) > 0) size += (word)got;
  if (got < 0 || size < sizeof(struct order) || size == MOST_TEXT) leave(NOT_STARTED);
  call(CLOSE, rights.held[ORDER], 0, 0, 0, 0);
  return rights.held;
}

static long open_socket(const struct opening *opening) {
  struct place place = {2, opening->port, opening->address, {0}};
  int yes = 1;
  long made = call(SOCKET, 2, opening->type | CLOSE_ON_EXEC, 0, 0, 0), error;
  if (made < 0) return made;
  if (opening->type == STREAM) call(SETSOCKOPT, made, 1, 2, (long)&yes, sizeof yes); /* SOL_SOCKET, SO_REUSEADDR */
  error = call(BIND, made, (long)&place, sizeof place, 0, 0);
  if (!error && opening->type == STREAM) error = call(LISTEN, made, 128, 0, 0, 0);
  return error ? error : made;
}

/* Hands all sockets out, or the errno of the first that cannot be had. */
static void open_sockets(int host, const struct opening *openings, unsigned count) {
  int error = 0;
  unsigned made = 0;
  struct vector part = {&error, sizeof error};
  struct message message = {0, 0, &part, 1, &rights, 0, 0};
  for (; made < count && made < MOST_SOCKETS && !error; made++) {
    long socket = open_socket(openings + made);
    if (socket < 0) error = (int)-socket;
    rights.held[made] = (int)socket;
  }
  if (!error && made) {
    rights.size = message.control_size = 16 + made * sizeof(int);
    rights.level = rights.type = 1; /* SOL_SOCKET, SCM_RIGHTS */
  } else message.control = 0;
  retry(SENDMSG, host, (long)&message, NO_SIGNAL);
  while (!error && made--) call(CLOSE, rights.held[made], 0, 0, 0, 0);
}

/* The listener, or the errno that hindered it. */
static int set_filter(char *steps, unsigned size) {
  struct program program = {(unsigned short)(size / 8), steps};
  long listener = call(SECCOMP, 1, 8 | 32, (long)&program, 0, 0); /* NEW_LISTENER, WAIT_KILLABLE_RECV: Linux 5.19 */
  if (listener < 0) listener = call(SECCOMP, 1, 8, (long)&program, 0, 0);
  return (int)listener;
}

/* Points `words` at the texts: arguments, a null, the environment, a null. Gives the folder to start in. */
static char *read_words(const struct order *order, char *at) {
  char *folder = at;
  word slot = 0;
  if (order->arguments == 0 || order->arguments + order->environment > MOST_WORDS) leave(NOT_STARTED);
  for (unsigned left = order->arguments + order->environment; left; left--) {
    at += length(at) + 1;
    words[slot++] = at;
    if (slot == order->arguments) words[slot++] = 0;
  }
  words[slot] = 0;
  return folder;
}

/* Becomes what runs beside the agent, behind whose input and output lies nothing; what it listens on is descriptor 3. */
static void run_beside(unsigned pid, unsigned port, char **argv, char **environment) {
  struct place place = {2, (unsigned short)(port << 8 | port >> 8), 0x0100007F, {0}};
  call(PRCTL, 4, 1, 0, 0, 0); /* PR_SET_DUMPABLE */
  call(SETSID, 0, 0, 0, 0, 0);
  long nothing = call(OPENAT, AT_FDCWD, (long)"/dev/null", 2, 0, 0);
  for (long own = 0; own < 3; own++) call(DUP3, nothing, own, 0, 0, 0);
  call(CLOSE_RANGE, 3, 0xFFFFFFFF, 0, 0, 0);
  if (port && (call(SOCKET, 2, 1, 0, 0, 0) != 3 || call(BIND, 3, (long)&place, sizeof place, 0, 0) ||
               call(LISTEN, 3, 16, 0, 0, 0))) leave(NOT_STARTED);
  if (call(GETPID, 0, 0, 0, 0, 0) == pid) call(EXECVE, (long)argv[0], (long)(argv + 1), (long)environment, 0, 0);
  leave(NOT_STARTED);
}

/* `+PID,WORDS,PORT`, the program, its WORDS arguments, over and over; gives where the agent's own words begin, or null
 * when one did not start or got another number than it should. */
static char **start_beside(char **argv, char **environment) {
  while (*argv && **argv == '+') {
    const char *plan = *argv + 1;
    unsigned pid = number(&plan), count = (plan++, number(&plan)), port = (plan++, number(&plan));
    char **rest = argv + 2 + count;
    int state;
    skip_to(pid);
    long child = call(CLONE, VFORK | SIGCHLD, 0, 0, 0, 0); /* CLONE_VFORK: we go on when it has become its program */
    if (!child) *rest = 0, run_beside(pid, port, argv + 1, environment);
    if (child < 0 || call(WAIT4, child, (long)&state, NO_HANG, 0, 0)) return 0;
    argv = rest;
  }
  return *argv ? argv : 0;
}

/* Becomes the agent. With others beside it, it is the first to be heard of and the last to start. */
static void run_agent(const char *folder, const int *handed, const int *gate, char **argv, char **environment) {
  word none = 0;
  char go;
  call(PROCMASK, 2, (long)&none, 0, sizeof none, 0);
  call(SETSID, 0, 0, 0, 0, 0);
  call(PRCTL, 4, 1, 0, 0, 0); /* PR_SET_DUMPABLE */
  if (gate) {
    call(CLOSE, gate[3], 0, 0, 0, 0);
    call(CLOSE, call(OPENAT, AT_FDCWD, (long)"/dev/null", CLOSE_ON_EXEC, 0, 0), 0, 0, 0, 0);
    call(WRITE, gate[1], (long)"", 1, 0, 0);
    if (retry(READ, gate[2], (long)&go, 1) != 1) leave(NOT_STARTED);
  }
  for (int at = 0; at < 3; at++) call(DUP3, handed[IN + at], at, 0, 0, 0);
  call(CLOSE_RANGE, 3, 0xFFFFFFFF, 0, 0, 0);
  if (call(CHDIR, (long)folder, 0, 0, 0, 0) < 0) leave(NOT_STARTED);
  leave(execute(argv, environment));
}

/* The agent, and all that is to run beside it; where that fails, the agent ends without having begun. */
static long start(const struct order *order, const char *folder, const int *handed) {
  char **environment = words + order->arguments + 1, **argv = words, go;
  int gate[4], *gated = 0;
  while (*argv && **argv == '+') {
    const char *plan = *argv + 1;
    number(&plan), plan++;
    argv += 2 + number(&plan);
    gated = gate;
  }
  if (!*argv || (gated && (call(PIPE2, (long)gate, CLOSE_ON_EXEC, 0, 0, 0) < 0 ||
                           call(PIPE2, (long)(gate + 2), CLOSE_ON_EXEC, 0, 0, 0) < 0))) leave(NOT_STARTED);
  long child = call(CLONE, SIGCHLD, 0, 0, 0, 0);
  if (!child) run_agent(folder, handed, gated, argv, environment);
  if (gated && child > 0) {
    retry(READ, gate[0], (long)&go, 1);
    if (start_beside(words, environment)) call(WRITE, gate[3], (long)"", 1, 0, 0);
    for (int at = 0; at < 4; at++) call(CLOSE, gate[at], 0, 0, 0, 0);
  }
  return child;
}

/* Waits until the host says something or hangs up, or `other` can be read; whether it was `other`. */
static void await(int host, int other) {
  struct waited waited[2] = {{host, 1, 0}, {other, 1, 0}};
  while (call(PPOLL, (long)waited, 2, 0, 0, 0) == -EINTR) {}
  if (waited[0].seen) leave(HUNG_UP);
}

static void preside(int host, long child, int told) {
  word children = 1ul << (SIGCHLD - 1);
  char signal[128];
  int state, status;
  int deaths = (int)call(SIGNALFD, -1, (long)&children, sizeof children, CLOSE_ON_EXEC, 0);
  if (deaths < 0) leave(NOT_STARTED);
  for (;;) {
    long gone;
    while ((gone = call(WAIT4, -1, (long)&state, NO_HANG, 0, 0)) > 0) {
      if (gone != child) continue;
      status = state & 127 ? 128 + (state & 127) : state >> 8 & 255;
      call(WRITE, told, (long)&status, sizeof status, 0, 0);
      call(PRCTL, 4, 1, 0, 0, 0); /* the last call may be looked at */
      leave(status);
    }
    await(host, deaths);
    retry(READ, deaths, (long)signal, sizeof signal);
  }
}

__attribute__((used, noreturn)) void begin(void) {
  word children = 1ul << (SIGCHLD - 1);
  char go;
  int host = meet(), handed[HANDED], listener = 0;
  int *given = take_order(host);
  for (int at = 0; at < HANDED; at++) handed[at] = given[at];
  struct order *order = (struct order *)text;
  char *filter = text + sizeof *order, *openings = filter + order->filter;
  char *folder = read_words(order, openings + order->openings * sizeof(struct opening));
  call(PROCMASK, 0, (long)&children, 0, sizeof children, 0);
  open_sockets(host, (struct opening *)openings, order->openings);
  call(PRCTL, 38, 1, 0, 0, 0); /* PR_SET_NO_NEW_PRIVS */
  if (order->filter) {
    listener = set_filter(filter, order->filter);
    call(WRITE, handed[STATUS], (long)&listener, sizeof listener, 0, 0);
  }
  await(host, handed[GO]);
  if (retry(READ, handed[GO], (long)&go, 1) != 1) leave(HUNG_UP);
  call(PRCTL, 4, 0, 0, 0, 0); /* PR_SET_DUMPABLE: what runs beside us leaves us alone */
  if (listener > 0) call(CLOSE, listener, 0, 0, 0, 0);
  long child = start(order, folder, handed);
  if (child < 0) leave(NOT_STARTED);
  for (int at = IN; at <= GO; at++) call(CLOSE, handed[at], 0, 0, 0, 0);
  preside(host, child, handed[STATUS]);
  for (;;) {}
}
