#include "host/history/category.hpp"

namespace enginehost::history {

const char* name_of(Category category) {
  switch (category) {
    case Category::content:
      return "content";
    case Category::host:
      return "host";
    case Category::policy:
      return "policy";
    case Category::transient:
      return "transient";
    case Category::crash:
      return "crash";
    case Category::request:
      return "request";
  }
  return "unknown";
}

}  // namespace enginehost::history
