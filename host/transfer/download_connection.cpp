#include "host/transfer/download_connection.hpp"

#include <algorithm>
#include <exception>
#include <new>

namespace enginehost::transfer {

Result<std::shared_ptr<const Place>> LocatedMirror::place(const TransferOptions& options,
                                                          const CancelToken& cancel,
                                                          const std::shared_ptr<const Place>& useless) {
  const std::lock_guard lock(mutex_);
  if (!place_ || place_ == useless) {
    Place found;
    found.url = mirror_.name;
    if (mirror_.locate) {
      TRY_ASSIGN(found, mirror_.locate(options, cancel));
    }
    place_ = std::make_shared<const Place>(std::move(found));
  }
  return place_;
}

Result<TransferReport> LocatedMirror::fetch(UrlRequest request, Sink& sink, const TransferOptions& options,
                                            const ProgressCallback& progress, const CancelToken& cancel) {
  std::shared_ptr<const Place> there;
  std::uint64_t received = 0;
  for (int useless_tokens = 0;;) {
    TRY_ASSIGN(there, place(options, cancel, there));
    if (there->url.empty()) return fetch_file(there->path, request.expected_size, sink, progress, cancel);
    request.url = there->url;
    request.authorization = there->authorization;
    const std::uint64_t before = sink.held();
    auto outcome = fetch_url(request, sink, there->options ? *there->options : options, progress, cancel);
    if (outcome) outcome->received += received;
    if (outcome || !mirror_.locate || outcome.error().value(Key::status) != "401") return outcome;
    useless_tokens = sink.held() > before ? 0 : useless_tokens + 1;
    if (useless_tokens == 3) return outcome;
    received += sink.held() - std::min(before, sink.held());
  }
}

Result<TransferReport> fetch_from(const Mirror& mirror, const UrlRequest& request, Sink& sink,
                                  const TransferOptions& options, const ProgressCallback& progress,
                                  const std::optional<CancelToken>& cancel) {
  return LocatedMirror(mirror).fetch(request, sink, options, progress, cancel.value_or(CancelToken()));
}

Connection::Connection(Order order, PartSink& sink, MayRestart may_restart, std::function<void()> on_end)
    : order_(std::move(order)),
      sink_(sink),
      may_restart_(std::move(may_restart)),
      begin_(order_.range.begin),
      position_(order_.range.begin),
      end_(order_.range.end) {
  measured_at = position_;
  thread_ = std::thread([this, on_end = std::move(on_end)] {
    // Exceptions must not leave the thread.
    try {
      UrlRequest request;
      request.expected_size = order_.size;
      request.etag = order_.etag;
      outcome_ = order_.from->fetch(std::move(request), *this, order_.options, {}, stop_);
    } catch (const std::bad_alloc&) {
      outcome_ = fail(diagnose(Code::out_of_memory));
    } catch (const std::exception& thrown) {
      outcome_ = fail(diagnose(Code::bug).with(Key::problem, thrown.what()));
    }
    ended_ = true;
    on_end();
  });
}

Connection::~Connection() {
  stop_.cancel();
  thread_.join();
}

Result<void> Connection::start(std::uint64_t offset) {
  if (offset == position_) return {};
  TRY_ASSIGN(const bool refetch, may_restart_());
  if (!refetch)
    return fail(diagnose(Code::no_connection)
                    .with(Key::url, order_.from->name())
                    .with(Key::problem, sends_whole_files));
  begin_ = position_ = 0;
  end_ = order_.size;
  return {};
}

Result<void> Connection::write(std::string_view bytes) {
  TRY(sink_.write_at(position_, bytes));
  position_ += bytes.size();
  received_ += bytes.size();
  return {};
}

}  // namespace enginehost::transfer
