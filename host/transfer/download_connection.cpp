#include "host/transfer/download_connection.hpp"

#include <algorithm>
#include <exception>
#include <new>

namespace enginehost::transfer {

Connection::Connection(Order order, PartSink& sink, MayRestart may_restart, std::function<void()> on_end)
    : order_(std::move(order)),
      sink_(sink),
      may_restart_(std::move(may_restart)),
      begin_(order_.range.begin),
      position_(order_.range.begin),
      end_(order_.range.end) {
  measured_at = position_;
  thread_ = std::thread([this, on_end = std::move(on_end)] {
    UrlRequest request;
    request.url = order_.from->url;
    request.authorization = order_.from->authorization;
    request.expected_size = order_.size;
    request.etag = order_.etag;
    // Exceptions must not leave the thread.
    try {
      outcome_ = fetch_url(request, *this, order_.options, {}, stop_);
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

Result<void> Connection::start(std::uint64_t offset) {
  if (offset == position_) return {};
  TRY_ASSIGN(const bool refetch, may_restart_());
  if (!refetch)
    return fail(diagnose("EH-N02")
                    .with("url", without_credentials(order_.from->url))
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
