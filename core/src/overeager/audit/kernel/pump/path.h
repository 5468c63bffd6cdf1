/* What a path of a process really means. */

#ifndef PATH_H
#define PATH_H

#include "state.h"

enum { MOST_FULL = 3 * MOST_PATH };

struct real { char path[MOST_PATH + 256]; size_t size; int known, found; unsigned long long device, inode; };

int starts(const char *path, const char *with);
int open_in(int root, const char *path, int follow);
int describe_open(int descriptor, struct real *real);

/* `given` made absolute; 0 = that is not simple. */
size_t make_full(const struct pump *pump, struct target *target, const char *given, size_t size, int32_t base, char *full);
/* What a full path means; 0 = that is not simple. `path` is used up. */
int resolve(const struct pump *pump, struct target *target, char *path, size_t size, int follow, struct real *real);

void tell_places(struct buffer *to, char given[][MOST_PATH], const size_t *sizes, const struct real *reals, int count);

#endif
