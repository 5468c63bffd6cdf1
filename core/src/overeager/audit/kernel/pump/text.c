/* Text of records: JSON strings, byte for byte as Python's json writes them. */

#include "text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void put(struct buffer *to, const void *data, size_t size) {
  if (to->over || size > to->room - to->size) { to->over = 1; return; }
  memcpy(to->data + to->size, data, size);
  to->size += size;
}

void say(struct buffer *to, const char *words) { put(to, words, strlen(words)); }

__attribute__((format(printf, 2, 3))) void print(struct buffer *to, const char *format, ...) {
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

void quote(struct buffer *to, const char *data, size_t size) {
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
