// Prints pip's configuration as EngineHost reads it, or the failure: {"refused": "…"}.
#include <cstdio>

#include "base/json.hpp"
#include "host/transfer/pip.hpp"

using namespace enginehost;

namespace {

Json list(const std::vector<std::string>& texts) {
  Json::Array elements;
  for (const std::string& text : texts) elements.emplace_back(text);
  return elements;
}

}  // namespace

int main() {
  const auto read = transfer::read_pip_settings(transfer::python_prefix().value_or(""));
  Json document = Json::object();
  if (read)
    document.set("index_url", read->index_url)
        .set("extra_index_urls", list(read->extra_index_urls))
        .set("find_links", list(read->find_links))
        .set("trusted_hosts", list(read->trusted_hosts))
        .set("no_index", read->no_index)
        .set("cert", read->cert)
        .set("client_cert", read->client_cert)
        .set("proxy", read->proxy)
        .set("skipped", list(read->skipped));
  else
    document.set("refused", read.error().value(Key::set_by))
        .set("problem",
             std::string(read.error().value(Key::problem)) + std::string(read.error().value(Key::os_said)));
  std::printf("%s\n", document.dump(0).c_str());
  return 0;
}
