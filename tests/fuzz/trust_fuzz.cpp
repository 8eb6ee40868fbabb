// Documents of an untrusted repository before they are verified: keys, signatures and their comments; and the
// documents that are parsed afterwards.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "host/manifest/repository.hpp"
#include "host/manifest/trust/minisign.hpp"
#include "host/manifest/trust/root.hpp"
#include "tools/publish/signed_documents.hpp"

using namespace enginehost;

namespace {

void promise(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto signature = manifest::read_signature(bytes, "input")) {
    // A signature that was read is the same when it is written and read again, and no invented key has signed
    // anything.
    const auto again = manifest::read_signature(publish::write_signature(*signature, "again"), "again");
    promise(again && again->bytes == signature->bytes && again->global == signature->global &&
            again->key_id == signature->key_id && again->trusted_comment == signature->trusted_comment);
    manifest::PublicKey key;
    key.id = signature->key_id;
    key.bytes.fill(7);
    promise(!manifest::problem_of(*signature, key, "document").empty());
    static_cast<void>(manifest::read_statement(signature->trusted_comment));
  }
  if (const auto key = manifest::read_public_key(bytes, "input"))
    promise(*manifest::read_public_key(key->text(), "again") == *key);
  if (const auto statement = manifest::read_statement(bytes)) promise(statement->text() == bytes);
  if (const auto document = parse_json(bytes, "input")) {
    if (const auto root = manifest::read_root(*document, "input")) {
      promise(root->keys_for(manifest::Role::root).size() >= static_cast<std::size_t>(root->root_threshold));
      const auto again = manifest::read_root(publish::to_json(*root), "again");
      promise(!root->created.empty() ? again.has_value() : true);
    }
    static_cast<void>(manifest::read_index(*document, "input"));
    static_cast<void>(manifest::read_manifest(*document, "repository", "input"));
  }
  return 0;
}
