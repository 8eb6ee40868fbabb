/* enginehost_audit.so: reports the searches of glibc's loader (rtld-audit(7)) for a probe whose library did not open. The
 * probe runs once more with LD_AUDIT naming this file. Every requested name, every path that is tried and every file that
 * is taken becomes a line on the probe's private channel:
 *
 *   audit TAB NONCE TAB ask  TAB name TAB file that needs it
 *   audit TAB NONCE TAB try  TAB rule TAB path               rule: path, runpath, cache, default
 *   audit TAB NONCE TAB take TAB path
 *
 * The loader gives this file a C library of its own, and calls it while it holds its locks: no allocation, no stdio,
 * one write(2) for each line. The nonce follows "--audit" in the arguments of the program; without it, this file writes
 * nothing. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { channel_of_child = 3, out_of_reach = 200, longest_line = 8192 };

static int channel = -1;
static char nonce[64];

struct line {
  char text[longest_line];
  size_t length;
};

/* Tabs and line ends are separators; in a path they become '?'. */
static void add(struct line *line, const char *text) {
  if (line->length != 0 && line->length < sizeof line->text - 1) line->text[line->length++] = '\t';
  for (; *text != '\0' && line->length < sizeof line->text - 1; ++text)
    line->text[line->length++] = (unsigned char)*text < 0x20 ? '?' : *text;
}

static void report(const char *what, const char *first, const char *second) {
  struct line line;
  if (channel < 0) return;
  line.length = 0;
  add(&line, "audit");
  add(&line, nonce);
  add(&line, what);
  add(&line, first);
  if (second != NULL) add(&line, second);
  line.text[line.length++] = '\n';
  if (write(channel, line.text, line.length) < 0) channel = -1; /* nobody reads any more */
}

/* Reads the arguments as the kernel keeps them, each with its zero, because main's are not known here yet. */
static void find_nonce(void) {
  char text[4096];
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : -1;
  if (file >= 0) close(file);
  if (length <= 0) return;
  text[length] = '\0';
  for (const char *at = text; at < text + length; at += strlen(at) + 1)
    if (strcmp(at, "--audit") == 0) {
      at += sizeof "--audit";
      if (at < text + length && strlen(at) < sizeof nonce) strcpy(nonce, at);
      return;
    }
}

EXPORT unsigned la_version(unsigned version) {
  find_nonce();
  if (*nonce == '\0') return 0; /* no report is wanted: the loader drops this file */
  /* As high as the limit of open files allows (EINVAL above it). */
  for (int from = out_of_reach; channel < 0 && from > channel_of_child; from /= 2)
    channel = fcntl(channel_of_child, F_DUPFD_CLOEXEC, from);
  /* An older loader than the one at compile time must not be promised more than it knows. */
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

static const char *file_of(const uintptr_t *cookie) {
  const struct link_map *map = cookie != NULL ? (const struct link_map *)*cookie : NULL;
  return map != NULL && map->l_name != NULL ? map->l_name : "";
}

/* The cookie is the loader's default: the address of the link map. */
EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag) {
  switch (flag) {
    case LA_SER_ORIG:
      report("ask", name, file_of(cookie));
      break;
    case LA_SER_LIBPATH:
      report("try", "path", name);
      break;
    case LA_SER_RUNPATH: /* glibc makes no difference between DT_RPATH and DT_RUNPATH here */
      report("try", "runpath", name);
      break;
    case LA_SER_CONFIG:
      report("try", "cache", name);
      break;
    default:
      report("try", "default", name);
  }
  return (char *)name;
}

EXPORT unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie) {
  (void)space;
  (void)cookie;
  report("take", map->l_name != NULL ? map->l_name : "", NULL);
  return 0; /* bindings of its symbols are not reported */
}
