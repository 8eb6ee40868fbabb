// EH-M08 and on: signatures of repositories, and what engine-manifest finds.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace {

using history::Category;
using S = ExitStatus;

constexpr Entry entries[] = {
    {.code = "EH-M08",
     .title = "too few signatures",
     .meaning = "A document of a repository that must be signed is not, or not by as many keys as its root "
                "demands.",
     .before = "the .minisig files beside the document",
     .causes = {"{document} is signed by {found} of the {expected} keys that must sign it",
                "{document} is not signed"},
     .remedies = {"{remedy}",
                  "{!remedy}its keeper: engine-manifest sign with the keys {key_id...}, then publish again",
                  "{!remedy}if you want this repository unsigned: \"unsigned\": true beside its \"location\" "
                  "{repository} "
                  "in the configuration",
                  "{!remedy}what is installed still opens"},
     .exit_status = S::wrong_bytes,
     .category = Category::request},
    {.code = "EH-M09",
     .title = "signature is wrong",
     .meaning = "A signature does not fit: the document or the signature was changed, or belongs to another.",
     .before = "Ed25519 over the document's digest, and over the trusted comment",
     .causes = {"the signature {signature} of {document} by the key {key_id} is wrong: {problem}",
                "{document} is not what its signers signed: {problem}",
                "the signature {signature} cannot be used: {problem}"},
     .remedies =
         {"{remedy}", "{!remedy}try again later: the repository may just be being published",
          "{!remedy}if it stays so, tell the keeper of {repository}, and use another mirror meanwhile",
          "{!remedy}what is installed still opens"},
     .exit_status = S::wrong_bytes,
     .category = Category::request},
    {.code = "EH-M10",
     .title = "key not trusted",
     .meaning = "A repository must be signed by a key that is trusted here, and is not.",
     .before = "the keys of engine-cache trust list, or of the repository's accepted root",
     .causes = {"{document} is not signed by a key that is trusted for {repository} ({key_id...})",
                "no key is trusted for the repository {repository}"},
     .remedies =
         {"{remedy}",
          "{!remedy}get the publisher's public key from a place you trust: engine-cache trust add KEY "
          "--repository {repository|word}",
          "{!remedy}{?key_id}take the key that signs root.json: one that signs the index alone does not do",
          "{!remedy}if you want this repository unsigned: \"unsigned\": true beside its \"location\" "
          "{repository} "
          "in the configuration",
          "{!remedy}what is installed still opens"},
     .exit_status = S::wrong_bytes,
     .category = Category::request},
    {.code = "EH-M11",
     .title = "older than what was seen before",
     .meaning = "A signed document is older than one that was seen of the same repository: a mirror stands "
                "still, or somebody replays it to bring withdrawn builds back.",
     .before = "the version in the signed comment against the newest one seen",
     .causes = {"{document} has version {found}: {problem}",
                "{document} has version {found}; at least {expected} is needed, since a newer one was seen"},
     .remedies =
         {"{remedy}", "{!remedy}use another mirror of {repository}, and tell the keeper of this one",
          "{!remedy}its keeper: publish from the folder that made the newer one, never from an older copy",
          "{!remedy}what is installed still opens"},
     .exit_status = S::wrong_bytes,
     .category = Category::request},
    {.code = "EH-M12",
     .title = "signed index has expired",
     .meaning = "The date until which the publisher vouches for the index has passed: nothing new is "
                "installed from it, what is installed still opens.",
     .before = "the dates in index.json and root.json",
     .causes =
         {"{build} would be installed from an index that expired at {expired}; this machine's clock says "
          "{clock}",
          "{build} would be installed from an index that expired at {expired}",
          "the index expired at {expired}"},
     .remedies = {"check the clock of this machine", "tell the keeper: engine-manifest sign, then publish",
                  "without a network, --offline tolerates it within policy.max_staleness_days"},
     .exit_status = S::not_fetched,
     .category = Category::request},
    {.code = "EH-M13",
     .title = "signed with a revoked key",
     .meaning = "The repository's root has withdrawn the key that made the signature.",
     .before = "the list of revoked keys in root.json",
     .causes = {"{document} is signed with the key {key_id}, which its root has revoked"},
     .remedies = {"{remedy}",
                  "{!remedy}get the publisher's new key from a place you trust: engine-cache trust remove "
                  "{key_id}, then engine-cache trust add KEY --repository {repository|word}",
                  "{!remedy}its keeper: sign with a key that is not revoked"},
     .exit_status = S::wrong_bytes,
     .category = Category::request},
    {.code = "EH-M14",
     .title = "build is blocked",
     .meaning = "The digest of the build, or of a part of it, is on the list of what must not be used any "
                "more: of a repository, or of this machine's policy.",
     .before = "\"blocked\" of the indexes and of the policy, against archives, trees and installed builds",
     .causes = {"{build} must not be used any more: {reason}", "a build must not be used any more: {reason}"},
     .remedies = {"use another version; engine-cache remove {build} frees its space"},
     .exit_status = S::forbidden,
     .category = Category::request},
    {.code = "EH-M15",
     .title = "key file cannot be used",
     .meaning = "A file or text given as a key is no minisign key, or its passphrase is wrong.",
     .before = "the format of the key, and the key's own check",
     .causes = {"{file} cannot be used as a key: {problem}", "{file} cannot be read: {os_said}",
                "{file} is larger than any key: {size} bytes"},
     .remedies = {"{remedy}",
                  "{!os_said}{!remedy}give minisign.pub, or the line in it that begins with RW; for signing, "
                  "minisign.key",
                  "{?os_said}name a file that is there and that this user may read: {file} is none"},
     .exit_status = S::usage,
     .category = Category::request},
    {.code = "EH-M16",
     .title = "manifest would not serve",
     .meaning = "engine-manifest found something that would fail on the machines of those who use it.",
     .before = "engine-manifest lint",
     .causes = {"{document}: {member}: {problem}", "{document}: {problem}"},
     .remedies = {"{remedy}", "correct {document}, then engine-manifest lint"},
     .exit_status = S::usage,
     .category = Category::request},
    {.code = "EH-M17",
     .title = "repository cannot be written so",
     .meaning = "What engine-manifest was asked to add, sign or publish does not fit the repository.",
     .before = "the folder, and the files given",
     .causes = {"{file}: {problem}", "{folder}: {problem}"},
     .remedies = {"{remedy}", "docs/publishing.md shows the whole way"},
     .exit_status = S::usage,
     .category = Category::request},
};

}  // namespace

std::span<const Entry> trust_entries() { return entries; }

}  // namespace enginehost::explain
