/* Prints the layout that this compiler gives to engine_plugin.h, for comparison with the golden file
 * engine_plugin.layout. Exit status 1 if the listed fields do not tile their struct: padding, or a field that
 * is missing in members.h. */
#include <enginehost/engine_plugin.h>
#include <stdio.h>
#include <string.h>

static int failures;
static const char* current = "";
static size_t current_size, tiled;

static void end_struct(void) {
  if (tiled != current_size) {
    fprintf(stderr, "%s: fields end at %zu, its size is %zu\n", current, tiled, current_size);
    failures = 1;
  }
}

static void begin_struct(const char* name, size_t size) {
  end_struct();
  current = name;
  current_size = size;
  tiled = 0;
  printf("struct %s %zu\n", name, size);
}

static void field(const char* name, size_t offset, size_t size) {
  if (offset != tiled) {
    fprintf(stderr, "%s.%s: begins at %zu, the field before it ends at %zu\n", current, name, offset, tiled);
    failures = 1;
  }
  tiled = offset + size;
  printf("field %s.%s %zu %zu\n", current, name, offset, size);
}

int main(void) {
#define ENGINE_STRUCT(type) begin_struct(#type, sizeof(type));
#define ENGINE_FIELD(type, name) field(#name, offsetof(type, name), sizeof(((type*)NULL)->name));
#define ENGINE_CONSTANT(name) printf("constant %s %lld\n", #name, (long long)(name));
#include "members.h"
  end_struct();
  return failures;
}
