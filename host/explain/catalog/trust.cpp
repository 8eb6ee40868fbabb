// EH-M08 and on: signatures of repositories, and findings of engine-manifest.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace {

using history::Category;
using S = ExitStatus;

constexpr Entry entries[] = {
    {.code = "EH-M08",
     .title = "too few signatures",
     .meaning = "A document of a repository that must be signed is not signed, or not by as many keys as its "
                "root requires.",
     .before = "the .minisig files beside the document",
     .causes = {"{document} is not signed, and must be: {owner_problem}",
                "{document} is signed by {found} of the {expected} keys that must sign it",
                "{document} is not signed"},
     .remedies = {"{remedy}",
                  "{!remedy}the repository's publisher: engine-manifest sign with the keys {key_id...}, then "
                  "publish again",
                  "{named_by=--repository}to accept this repository unsigned, this time: --allow-unsigned",
                  "{named_by=--layer system}to import it unsigned for all users: --unsigned",
                  "{!remedy}{!file}to accept this repository unsigned: add \"unsigned\": true beside its "
                  "\"location\" {repository} in the configuration",
                  "{!remedy}until then, installed builds still open"},
     .exit_status = S::wrong_bytes,
     .category = Category::request},
    {.code = "EH-M09",
     .title = "signature is wrong",
     .meaning = "A signature does not match: the document or the signature was changed, or belongs to "
                "another document.",
     .before = "Ed25519 over the document's digest, and over the trusted comment",
     .causes = {"the signature {signature} of {document} by the key {key_id} is wrong: {problem}",
                "{document} differs from what its signers signed: {problem}",
                "the signature {signature} cannot be used: {problem}"},
     .remedies = {"{remedy}",
                  "{!remedy}try again later: the repository may be in the middle of a publication",
                  "{!remedy}if it happens again, report it to the operator of {repository}, and use another "
                  "mirror until then",
                  "{!remedy}until then, installed builds still open"},
     .exit_status = S::wrong_bytes,
     .category = Category::request},
    {.code = "EH-M10",
     .title = "key not trusted",
     .meaning = "A repository must be signed by a key that this machine trusts, and it is not.",
     .before = "the keys of engine-cache trust list, or of the repository's accepted root",
     .causes = {"no key is trusted for the repository {repository}, which must be signed: {owner_problem}",
                "{document} is not signed by a key that is trusted for {repository} ({key_id...})",
                "no key is trusted for the repository {repository}"},
     .remedies =
         {"{remedy}",
          "{!remedy}get the publisher's public key from a place you trust: engine-cache trust add KEY "
          "--repository {repository|word}",
          "{!remedy}{?key_id}use the key that signs root.json; a key that signs only the index is not enough",
          "{named_by=--repository}to accept this repository unsigned, this time: --allow-unsigned",
          "{named_by=--layer system}to import it unsigned for all users: --unsigned",
          "{!remedy}{!file}to accept this repository unsigned: add \"unsigned\": true beside its "
          "\"location\" "
          "{repository} in the configuration",
          "{!remedy}until then, installed builds still open"},
     .exit_status = S::wrong_bytes,
     .category = Category::request},
    {.code = "EH-M11",
     .title = "older than a version seen before",
     .meaning = "A signed document is older than one seen before from the same repository: a mirror is out "
                "of date, or somebody replays an old document to bring withdrawn builds back.",
     .before = "the version in the signed comment against the newest one seen",
     .causes = {"{document} has version {found}: {problem}",
                "{document} has version {found}; at least {expected} is needed, because a newer one was seen "
                "before"},
     .remedies = {"{remedy}",
                  "{!remedy}use another mirror of {repository}, and report it to the operator of this one",
                  "{!remedy}the repository's publisher: publish from the folder that made the newer version, "
                  "never from an older copy",
                  "{!remedy}if the publisher confirms that a key was stolen: engine-cache trust forget "
                  "{repository|word}",
                  "{!remedy}until then, installed builds still open"},
     .exit_status = S::wrong_bytes,
     .category = Category::request},
    {.code = "EH-M12",
     .title = "signed index has expired",
     .meaning = "The date until which the index is valid has passed. Nothing new is installed from it; "
                "installed builds still open.",
     .before = "the dates in index.json and root.json",
     .causes = {"{build} is listed in an index that expired at {expired}; this machine's clock shows {clock}",
                "{build} is listed in an index that expired at {expired}", "the index expired at {expired}"},
     .remedies = {"check the clock of this machine",
                  "the repository's publisher: engine-manifest sign, then publish",
                  "without a network: --offline accepts it within policy.max_staleness_days"},
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
                  "{!remedy}the repository's publisher: sign with a key that is not revoked"},
     .exit_status = S::wrong_bytes,
     .category = Category::request},
    {.code = "EH-M14",
     .title = "build is blocked",
     .meaning = "The digest of the build, or of a part of it, is on a list of blocked digests, in a "
                "repository or in this machine's policy.",
     .before = "\"blocked\" of the indexes and of the policy, against archives, trees and installed builds",
     .causes = {"{build} is blocked: {reason}", "a build is blocked: {reason}"},
     .remedies = {"{?file}make a bundle of other builds: engine-cache export FILE BUILD",
                  "{!file}use another version; engine-cache remove {build} frees its space"},
     .exit_status = S::forbidden,
     .category = Category::request},
    {.code = "EH-M15",
     .title = "key file cannot be used",
     .meaning = "A file or text given as a key is no minisign key, or its passphrase is wrong.",
     .before = "the format of the key, and the key's own check",
     .causes = {"{file} cannot be used as a key: {problem}", "the key file {file} cannot be read: {os_said}",
                "{file} has {size} bytes, more than any key"},
     .remedies = {"{remedy}",
                  "{!os_said}{!remedy}use minisign.pub, or the line in it that begins with RW; for signing, "
                  "minisign.key",
                  "{?os_said}name a file that exists and that this user can read"},
     .exit_status = S::usage,
     .category = Category::request},
    {.code = "EH-M16",
     .title = "manifest would fail for its users",
     .meaning = "engine-manifest found something that would fail on the machines that use the manifest.",
     .before = "engine-manifest lint",
     .causes = {"{document}: {member}: {problem}", "{document}: {problem}"},
     .remedies = {"{remedy}", "correct {document}, then engine-manifest lint"},
     .exit_status = S::usage,
     .category = Category::request},
    {.code = "EH-M17",
     .title = "the repository cannot be changed that way",
     .meaning = "The files to add, sign or publish with engine-manifest do not fit the repository.",
     .before = "the folder, and the files given",
     .causes = {"{file}: {problem}", "{folder}: {problem}"},
     .remedies = {"{remedy}", "see docs/publishing.md for all steps"},
     .exit_status = S::usage,
     .category = Category::request},
};

}  // namespace

std::span<const Entry> trust_entries() { return entries; }

}  // namespace enginehost::explain
