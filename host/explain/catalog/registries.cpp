// EH-N3x: registries of OCI artifacts.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace {

using history::Category;
using S = ExitStatus;
constexpr Category request = Category::request;

constexpr Entry entries[] = {
    {.code = "EH-N30",
     .title = "registry refuses access",
     .meaning = "The registry, or the token service that it names, does not allow the request with these "
                "credentials.",
     .after = "401 or 403 after signing in as WWW-Authenticate asks",
     .causes = {"{registry} refuses access to {repository}: {problem} ({token_service})",
                "{registry} answered {status} for {repository}: {registry_said}",
                "{registry} answered {status} for {repository}",
                "signing in to the registry failed: {problem}", "the registry refuses access"},
     .remedies =
         {"{signed_in=no}sign in: skopeo login {registry} (or podman, docker), or add a line to ~/.netrc",
          "check the name: registries also refuse access to names that do not exist",
          "{signed_in=yes}ask the registry's administrator for the right to {actions} {repository}"},
     .exit_status = S::not_fetched,
     .category = request},
    {.code = "EH-N31",
     .title = "not in the registry",
     .meaning = "The registry answered, but has no such repository, tag, manifest or blob.",
     .after = "404 for what the reference names",
     .causes = {"{registry} does not have {reference}: {registry_said}",
                "{registry} does not have {reference}", "the registry does not have it"},
     .remedies = {"check the reference, and whether it was pushed: engine-cache push ID REGISTRY/NAME",
                  "if a mirror no longer has it, EngineHost asks the registry itself next"},
     .exit_status = S::not_fetched,
     .category = request},
    {.code = "EH-N32",
     .title = "not an image manifest",
     .meaning = "The registry's document under a reference is neither a readable image manifest nor a "
                "readable image index.",
     .after = "strict parsing of the document",
     .causes = {"{reference} is a document of the type {media_type}: {problem}", "{reference}: {problem}",
                "the registry gave no image manifest"},
     .remedies = {"check that the reference names what EngineHost (or oras) pushed, not an image in Docker's "
                  "old format",
                  "if the registry is behind a sign-in page or a proxy, check what it answers"},
     .exit_status = S::not_fetched,
     .category = request},
    {.code = "EH-N33",
     .title = "manifest with the wrong content",
     .meaning = "The registry gave a manifest with another digest than the requested one.",
     .after = "sha256 of the document against the reference",
     .causes = {"{url} gave a manifest with sha256 {actual_sha256} instead of {expected_sha256}",
                "a registry gave a manifest with the wrong content"},
     .remedies = {"use another mirror, and report it to the operator of this one"},
     .exit_status = S::wrong_bytes,
     .category = request},
    {.code = "EH-N34",
     .title = "artifact not listed",
     .meaning = "The manifest or index exists, but does not list the wanted archive.",
     .after = "the digests of its layers; platforms and flavors of its entries",
     .causes = {"{reference} does not list sha256 {sha256}: {problem}",
                "the registry's manifest does not list it"},
     .remedies = {"check that the reference belongs to this build; a tag may have moved, a digest cannot",
                  "push the build again: engine-cache push ID REGISTRY/NAME"},
     .exit_status = S::not_fetched,
     .category = request},
    {.code = "EH-N35",
     .title = "not a reference of a registry",
     .meaning = "The text does not name something in a registry.",
     .before = "the grammar of the OCI distribution specification",
     .causes = {"{reference}: {problem}", "a reference cannot be read"},
     .remedies = {"write HOST[:PORT]/NAME[:TAG][@sha256:DIGEST], such as registry.example/engines/torch"},
     .exit_status = S::usage,
     .category = request},
    {.code = "EH-N36",
     .title = "registry refuses the push",
     .meaning = "The registry did not take a blob or a manifest.",
     .after = "the status of its answer",
     .causes = {"{registry} refused to {step}: {status}, {registry_said}",
                "{registry} refused to {step}: {status}", "the registry refuses the push"},
     .remedies =
         {"{status=405}this registry is read-only, as a pull-through mirror is: push to the one it mirrors",
          "{status=413}a proxy before the registry limits the length of requests: raise it",
          "{status=404}create the repository first, if the registry requires it",
          "check the registry's log; the push left nothing under the tag"},
     .exit_status = S::not_fetched,
     .category = request},
    {.code = "EH-N37",
     .title = "registry without TLS",
     .meaning = "The registry did not answer in TLS. EngineHost uses registries without TLS only on this "
                "machine, or if the configuration names them.",
     .after = "the TLS handshake",
     .causes = {"{registry} does not speak TLS ({curl_said})", "the registry does not speak TLS"},
     .remedies = {"give the registry a certificate",
                  "or, in a trusted network, add it to the configuration: \"plain_http_registries\": "
                  "[\"{registry}\"]"},
     .exit_status = S::not_fetched,
     .category = request},
};

}  // namespace

std::span<const Entry> registry_entries() { return entries; }

}  // namespace enginehost::explain
