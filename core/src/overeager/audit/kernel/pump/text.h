/* A buffer of fixed room that remembers whether something did not fit. */

#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

struct buffer { char *data; size_t size, room; int over; };

void put(struct buffer *to, const void *data, size_t size);
void say(struct buffer *to, const char *words);
__attribute__((format(printf, 2, 3))) void print(struct buffer *to, const char *format, ...);

/* Bytes as the text of a JSON string, as Python's json writes what it decodes with surrogate escapes. */
void quote(struct buffer *to, const char *data, size_t size);

#endif
