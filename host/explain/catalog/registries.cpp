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
     .meaning = "The registry, or the token service that it names, does not let these credentials do that.",
     .after = "401 or 403 after signing in as WWW-Authenticate asks",
     .causes = {"{registry} does not let {repository} be reached: {problem} ({token_service})",
                "{registry} answered {status} for {repository}: {registry_said}",
                "{registry} answered {status} for {repository}",
                "the registry could not be signed in to: {problem}", "the registry refuses access"},
     .remedies = {"{signed_in=no}sign in: skopeo login {registry} (or podman, docker), or a line in ~/.netrc",
                  "check the name: registries answer so for what does not exist, too",
                  "{signed_in=yes}ask for the right to {actions} {repository}"},
     .exit_status = S::not_fetched,
     .category = request},
    {.code = "EH-N31",
     .title = "not in the registry",
     .meaning = "The registry answered, but has no such repository, tag, manifest or blob.",
     .after = "404 for what the reference names",
     .causes = {"{registry} does not have {reference}: {registry_said}",
                "{registry} does not have {reference}", "the registry does not have it"},
     .remedies = {"check the reference, and whether it was pushed: engine-cache push ID REGISTRY/NAME",
                  "a mirror may have forgotten it: the registry itself is asked after it"},
     .exit_status = S::not_fetched,
     .category = request},
    {.code = "EH-N32",
     .title = "no image manifest",
     .meaning = "What the registry gave under a reference is neither an image manifest nor an image index "
                "that can be "
                "read.",
     .after = "strict parsing of the document",
     .causes = {"{reference} is a document of the type {media_type}: {problem}", "{reference}: {problem}",
                "the registry gave no image manifest"},
     .remedies = {"check that the reference names what EngineHost (or oras) pushed, not an image in "
                  "Docker's old "
                  "format",
                  "if the registry is behind a sign-in page or a proxy, check what it answers"},
     .exit_status = S::not_fetched,
     .category = request},
    {.code = "EH-N33",
     .title = "manifest with other content",
     .meaning = "The registry gave a manifest whose digest is not the one it was asked for.",
     .after = "sha256 of the document against the reference",
     .causes = {"{url} gave a manifest with sha256 {actual_sha256} instead of {expected_sha256}",
                "a registry gave a manifest with other content"},
     .remedies = {"use another mirror, and tell the keeper of this one"},
     .exit_status = S::wrong_bytes,
     .category = request},
    {.code = "EH-N34",
     .title = "artifact not listed",
     .meaning = "The manifest or index is there, but does not list the archive that is wanted.",
     .after = "the digests of its layers; platforms and flavors of its entries",
     .causes = {"{reference} does not list sha256 {sha256}: {problem}",
                "the registry's manifest does not list it"},
     .remedies =
         {"check that the reference is of this build; by digest it cannot have changed, a tag may have moved",
          "push the build again: engine-cache push ID REGISTRY/NAME"},
     .exit_status = S::not_fetched,
     .category = request},
    {.code = "EH-N35",
     .title = "no reference of a registry",
     .meaning = "The text does not name something in a registry.",
     .before = "the grammar of the OCI distribution specification",
     .causes = {"{reference}: {problem}", "a reference cannot be read"},
     .remedies = {"write HOST[:PORT]/NAME[:TAG][@sha256:DIGEST], as registry.example/engines/torch"},
     .exit_status = S::usage,
     .category = request},
    {.code = "EH-N36",
     .title = "registry refuses what is pushed",
     .meaning = "The registry did not take a blob or a manifest.",
     .after = "the status of its answer",
     .causes = {"{registry} would not {step}: {status}, {registry_said}",
                "{registry} would not {step}: {status}", "the registry refuses what is pushed"},
     .remedies =
         {"{status=405}this registry is read-only, as a pull-through mirror is: push to the one it mirrors",
          "{status=413}a proxy before the registry limits the length of requests: raise it",
          "{status=404}check whether the repository must be made first",
          "look into the registry's log; nothing was left under the tag"},
     .exit_status = S::not_fetched,
     .category = request},
    {.code = "EH-N37",
     .title = "registry without TLS",
     .meaning = "The registry did not answer in TLS, and only those on this machine or named in the "
                "configuration are "
                "asked without.",
     .after = "the TLS handshake",
     .causes = {"{registry} does not speak TLS ({curl_said})", "the registry does not speak TLS"},
     .remedies =
         {"give the registry a certificate",
          "or, in a network that may be trusted, name it: \"plain_http_registries\": [\"{registry}\"]"},
     .exit_status = S::not_fetched,
     .category = request},
};

}  // namespace

std::span<const Entry> registry_entries() { return entries; }

}  // namespace enginehost::explain
