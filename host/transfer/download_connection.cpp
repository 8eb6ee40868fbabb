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
    Place found{mirror_.name, {}, {}, {}};
    if (mirror_.locate) {
      TRY_ASSIGN(found, mirror_.locate(options, cancel));
    }
    place_ = std::make_shared<const Place>(std::move(found));
  }
  return place_;
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
      outcome_ = fetch();
    } catch (const std::bad_alloc&) {
      outcome_ = fail(diagnose("EH-P51"));
    } catch (const std::exception& thrown) {
      outcome_ = fail(diagnose("EH-P99").with("problem", thrown.what()));
    }
    ended_ = true;
    on_end();
  });
}

Connection::~Connection() {
  stop_.cancel();
  thread_.join();
}

Result<TransferReport> Connection::fetch_from(const Place& place) {
  if (place.url.empty()) return fetch_file(place.path, order_.size, *this, {}, stop_);
  UrlRequest request;
  request.url = place.url;
  request.authorization = place.authorization;
  request.expected_size = order_.size;
  request.etag = order_.etag;
  return fetch_url(request, *this, place.options ? *place.options : order_.options, {}, stop_);
}

// A download may take longer than a token is valid: goes on with a new one. Three tokens in a row that
// brought nothing end it.
Result<TransferReport> Connection::fetch() {
  std::shared_ptr<const Place> place;
  for (int useless_tokens = 0;;) {
    TRY_ASSIGN(place, order_.from->place(order_.options, stop_, place));
    const std::uint64_t before = received_;
    auto outcome = fetch_from(*place);
    if (outcome || !order_.from->may_move() || outcome.error().value("status") != "401") return outcome;
    useless_tokens = received_ > before ? 0 : useless_tokens + 1;
    if (useless_tokens == 3) return outcome;
  }
}

Result<void> Connection::start(std::uint64_t offset) {
  if (offset == position_) return {};
  TRY_ASSIGN(const bool refetch, may_restart_());
  if (!refetch)
    return fail(diagnose("EH-N02")
                    .with("url", without_credentials(order_.from->name()))
                    .with("problem", sends_whole_files));
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
