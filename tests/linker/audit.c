/* Reports each search of glibc's loader: the name, the needer, and every file name that it tries
   (rtld-audit(7)). One line each on descriptor 3: "n NAME<tab>NEEDER", "t FLAG<tab>PATH". */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

unsigned int la_version(unsigned int version) { return version; }

unsigned int la_objopen(struct link_map* map, Lmid_t space, uintptr_t* cookie) {
  (void)space;
  *cookie = (uintptr_t)map;
  return 0;
}

char* la_objsearch(const char* name, uintptr_t* cookie, unsigned int flag) {
  char line[2 * 4096 + 16];
  const struct link_map* needer = (const struct link_map*)*cookie;
  int length = 0;
  if (flag == LA_SER_ORIG)
    length = snprintf(line, sizeof line, "n %s\t%s\n", name,
                      needer != NULL && needer->l_name ? needer->l_name : "");
  else
    length = snprintf(line, sizeof line, "t %u\t%s\n", flag, name);
  if (length > 0 && (size_t)length < sizeof line && write(3, line, (size_t)length) != length) _exit(99);
  return (char*)(uintptr_t)name;
}
