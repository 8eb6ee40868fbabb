// Answers of a registry or of another server in its place, and a manifest's references to it: challenges,
// tokens, error documents, image manifests and indexes, references, credentials.
#include <algorithm>

#include "host/oci/authorization.hpp"
#include "host/oci/documents.hpp"
#include "host/oci/reference.hpp"
#include "host/oci/registry.hpp"
#include "host/transfer/server_message.hpp"
#include "tests/fuzz/input_file.hpp"

namespace {

bool is_one_line(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char letter) { return static_cast<unsigned char>(letter) >= 0x20; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace enginehost;
  using fuzz::require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  const auto challenges = oci::read_challenges(text);
  require(challenges.size() <= 8);
  for (const oci::Challenge& challenge : challenges)
    require(!challenge.scheme.empty() && challenge.parameters.size() <= 16);

  // A reference that was read is the same when it is written and read again.
  if (const auto reference = oci::read_reference(text)) {
    const auto again = oci::read_reference(reference->text());
    require(again && again->text() == reference->text());
    require(reference->repository.find("..") == std::string::npos && is_one_line(reference->text()));
    require(reference->host.find_first_of("/@ ") == std::string::npos);
  }

  if (const auto document = oci::read_document(text, "fuzz")) {
    require(document->layers.empty() || document->manifests.empty());
    for (const auto* list : {&document->layers, &document->manifests})
      for (const oci::Descriptor& entry : *list) require(entry.digest.size() == 64);
  } else {
    require(document.error().code == Code::not_an_image_manifest);
  }

  if (const auto token = oci::token_in(text)) require(!token->empty() && is_one_line(*token));
  const std::string said = transfer::message_of_server(text);
  require(said.size() <= transfer::longest_server_message + 3 && is_one_line(said));
  if (const auto who = oci::credentials_in(text, "registry.example")) require(!who->user.empty());
  return 0;
}
