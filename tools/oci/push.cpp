#include "tools/oci/push.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/oci/registry.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::oci {
namespace {

constexpr int fewest_tries = 3, most_tries = 5;  // per blob or manifest, each from its start

// Reads a blob's bytes from an offset on, for one request.
class Reading {
 public:
  static Result<std::shared_ptr<Reading>> of(const Blob& blob) {
    auto reading = std::make_shared<Reading>();
    reading->blob_ = &blob;
    if (blob.file.empty()) return reading;
    reading->file_ = FileDescriptor(calls::open(blob.file, O_RDONLY | O_CLOEXEC));
    if (!reading->file_.valid())
      return fail(
          std::move(diagnose_errno(Code::file_not_readable, errno).with(Key::file, path_text(blob.file))));
    return reading;
  }

  // A request's body: [from, to).
  static transfer::HttpUpload body(const std::shared_ptr<Reading>& reading, std::uint64_t from,
                                   std::uint64_t to, const std::function<void(std::uint64_t)>& progress) {
    transfer::HttpUpload upload;
    upload.size = to - from;
    upload.content_type = "application/octet-stream";
    upload.read = [reading, at = from, to, progress](char* target, std::size_t room) mutable -> std::size_t {
      const std::size_t count = reading->read(target, at, std::min<std::uint64_t>(room, to - at));
      at += count;
      progress(at);
      return count;
    };
    return upload;
  }

 private:
  std::size_t read(char* target, std::uint64_t at, std::uint64_t count) const {
    if (blob_->file.empty()) {
      std::memcpy(target, blob_->bytes.data() + at, count);
      return count;
    }
    const ssize_t done = calls::pread(file_.get(), target, count, static_cast<calls::Offset>(at));
    return done > 0 ? static_cast<std::size_t>(done)
                    : 0;  // ends the exchange with fewer bytes than announced
  }

  const Blob* blob_ = nullptr;
  FileDescriptor file_;
};

class Pushing {
 public:
  Pushing(const Reference& target, const PushOptions& options)
      : target_(target),
        options_(options),
        registry_(target.host, target.repository, "pull,push", options.transfer, options.cancel) {}

  Result<Pushed> run(const std::vector<Artifact>& artifacts) {
    for (const Artifact& artifact : artifacts) {
      for (const Blob& layer : artifact.layers) total_ += layer.descriptor.size;
      total_ += artifact.config.descriptor.size;
    }
    const Blob index = make_index(artifacts);
    const std::string tag = !target_.tag.empty()    ? target_.tag
                            : artifacts.size() == 1 ? tag_of(artifacts.front().build)
                                                    : std::string("latest");
    for (const Artifact& artifact : artifacts) {
      for (const Blob& layer : artifact.layers) TRY(send_blob(layer));
      TRY(send_blob(artifact.config));
      Reference own{target_.host, target_.repository, {}, artifact.manifest.descriptor.digest};
      const bool tagged = artifacts.size() == 1;
      TRY(put_manifest(artifact.manifest, tagged ? tag : "sha256:" + own.digest));
      pushed_.references.push_back(own.text());
    }
    if (artifacts.size() > 1) TRY(put_manifest(index, tag));
    const Blob& top = artifacts.size() == 1 ? artifacts.front().manifest : index;
    pushed_.reference = Reference{target_.host, target_.repository, tag, top.descriptor.digest}.text();
    if (options_.progress)
      options_.progress({transfer::Progress::Phase::done, total_, total_, 0, pushed_.reference});
    return std::move(pushed_);
  }

 private:
  tl::unexpected<Diagnosis> refuse(const RegistryAnswer& answer, std::string_view step) {
    is_transient_ = answer.is_transient;
    retry_after_ = answer.retry_after;
    Diagnosis diagnosis = diagnose(Code::push_refused);
    diagnosis.with(Key::registry, target_.host)
        .with(Key::repository, target_.repository)
        .with(Key::step, step);
    diagnosis.with(Key::status, std::to_string(answer.status));
    if (!answer.said.empty()) diagnosis.with(Key::registry_said, answer.said);
    return fail(std::move(diagnosis));
  }

  void report(std::uint64_t of_this_blob) const {
    if (options_.progress)
      options_.progress(
          {transfer::Progress::Phase::publishing, done_ + of_this_blob, total_, 0, target_.text()});
  }

  // Retries when a registry is busy, fails or loses the connection, as for downloads. Sending twice is
  // harmless because the digest names the content. `arrived` finds out whether only the response was lost.
  Result<void> patiently(const std::function<Result<void>()>& attempt,
                         const std::function<Result<bool>()>& arrived) {
    const int tries = std::clamp(options_.transfer.retries + 1, fewest_tries, most_tries);
    for (int failures = 0;; ++failures) {
      is_transient_ = false;
      retry_after_.reset();
      auto done = attempt();
      if (done) return {};
      const Code code = done.error().code;
      if (!is_transient_ && code != Code::no_connection && code != Code::transfer_stalled &&
          code != Code::proxy_not_reached)
        return done;
      if (failures + 1 == tries)
        return fail(std::move(done.error().with(Key::attempts, std::to_string(tries))));
      TRY(registry_.pause(failures, retry_after_));
      TRY_ASSIGN(const bool there, arrived());
      if (there) return {};
    }
  }

  Result<bool> is_there(const Blob& blob) {
    RegistryRequest request;
    request.method = "HEAD";
    request.path = "blobs/sha256:" + blob.descriptor.digest;
    TRY_ASSIGN(const RegistryAnswer answer, registry_.ask(request));
    return answer.status >= 200 && answer.status < 400;
  }

  Result<void> send_blob(const Blob& blob) {
    TRY_ASSIGN(const bool there, is_there(blob));
    if (there) {
      ++pushed_.blobs_present;
      done_ += blob.descriptor.size;
      report(0);
      return {};
    }
    TRY(patiently([&] { return upload(blob); }, [&] { return is_there(blob); }));
    ++pushed_.blobs_sent;
    pushed_.sent += blob.descriptor.size;
    done_ += blob.descriptor.size;
    return {};
  }

  // Begins an upload, sends the blob whole or in pieces, and closes it with the digest.
  Result<void> upload(const Blob& blob) {
    RegistryRequest begin;
    begin.method = "POST";
    begin.path = "blobs/uploads/";
    begin.body = [] {
      return transfer::HttpUpload{
          0, "application/octet-stream", {}, [](char*, std::size_t) { return std::size_t{0}; }};
    };
    TRY_ASSIGN(const RegistryAnswer begun, registry_.ask(begin));
    if (begun.status != 202 || begun.location.empty()) return refuse(begun, "begin an upload");
    TRY_ASSIGN(std::string place, allowed_place(begun));
    TRY_ASSIGN(const auto reading, Reading::of(blob));
    const std::uint64_t size = blob.descriptor.size;
    std::uint64_t at = 0;
    const std::function<void(std::uint64_t)> progress = [this](std::uint64_t now) { report(now); };
    if (size > options_.piece) {
      for (; at < size;) {
        const std::uint64_t end = std::min(size, at + options_.piece);
        RegistryRequest piece;
        piece.method = "PATCH";
        piece.path = place;
        piece.body = [&] {
          transfer::HttpUpload body = Reading::body(reading, at, end, progress);
          body.content_range = std::to_string(at) + "-" + std::to_string(end - 1);
          return body;
        };
        TRY_ASSIGN(const RegistryAnswer taken, registry_.ask(piece));
        if (taken.status != 202 && taken.status != 204) return refuse(taken, "take a piece of a blob");
        if (!taken.location.empty()) {
          TRY_ASSIGN(place, allowed_place(taken));
        }
        at = end;
      }
    }
    RegistryRequest close;
    close.method = "PUT";
    close.path = place + (place.find('?') == std::string::npos ? "?" : "&") + "digest=sha256%3A" +
                 blob.descriptor.digest;
    close.body = [&] { return Reading::body(reading, at, size, progress); };
    TRY_ASSIGN(const RegistryAnswer closed, registry_.ask(close));
    if (closed.status != 201 && closed.status != 204) return refuse(closed, "take a blob");
    return {};
  }

  // An upload continues where the registry directs it, but never from TLS to plain HTTP.
  Result<std::string> allowed_place(const RegistryAnswer& answer) const {
    if (answer.url.starts_with("https://") && !answer.location.starts_with("https://"))
      return fail(diagnose(Code::redirect_refused)
                      .with(Key::url, answer.url)
                      .with(Key::target, answer.location)
                      .with(Key::problem, "from https to http"));
    return answer.location;
  }

  Result<void> put_manifest(const Blob& document, const std::string& name) {
    TRY_ASSIGN(const auto reading, Reading::of(document));
    RegistryRequest put;
    put.method = "PUT";
    put.path = "manifests/" + name;
    put.body = [&] {
      transfer::HttpUpload body = Reading::body(reading, 0, document.descriptor.size, [](std::uint64_t) {});
      body.content_type = document.descriptor.media_type;
      return body;
    };
    const auto send = [&]() -> Result<void> {
      TRY_ASSIGN(const RegistryAnswer answer, registry_.ask(put));
      if (answer.status < 200 || answer.status > 299) return refuse(answer, "take the manifest " + name);
      return {};
    };
    return patiently(send, [] { return Result<bool>(false); });
  }

  const Reference& target_;
  const PushOptions& options_;
  Registry registry_;
  Pushed pushed_;
  std::uint64_t total_ = 0, done_ = 0;
  bool is_transient_ = false;  // the last refusal, according to the registry's response
  std::optional<std::chrono::seconds> retry_after_;
};

}  // namespace

Result<Pushed> push(const Reference& target, const std::vector<Artifact>& artifacts,
                    const PushOptions& options) {
  if (!target.digest.empty())
    return fail(diagnose(Code::not_a_registry_reference)
                    .with(Key::reference, target.text())
                    .with(Key::problem, "what is pushed has its own digest; give a name or a tag"));
  return Pushing(target, options).run(artifacts);
}

}  // namespace enginehost::oci
