// Requests to stop, and those that follow from another.
#include <enginehost/enginehost.h>

#include <atomic>

#include "host/sdk/handles.hpp"

namespace enginehost::sdk {

// A request and those below it. The list only grows, so that a signal's handler may walk it; a place in it is
// used again when its handle is gone and nobody asked it, or one below it, for anything.
struct CancelTree {
  struct Place {
    std::shared_ptr<CancelTree> tree;
    std::atomic<bool> taken = true;
    Place* next = nullptr;
  };

  CancelToken token;
  std::atomic<Place*> first = nullptr;

  CancelTree() = default;
  CancelTree(const CancelTree&) = delete;
  CancelTree& operator=(const CancelTree&) = delete;
  ~CancelTree() {
    for (const Place* place = first.load(); place != nullptr;) {
      const std::unique_ptr<const Place> gone(place);
      place = place->next;
    }
  }

  void cancel() const {
    token.cancel();
    // Whoever adds a place looks at the token after that: one of the two sees the other.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (const Place* place = first.load(); place != nullptr; place = place->next) place->tree->cancel();
  }

  Place* place_below() {
    for (Place* place = first.load(); place != nullptr; place = place->next) {
      bool taken = false;
      const bool fresh = !place->tree->token.cancelled() && place->tree->first.load() == nullptr;
      if (fresh && place->taken.compare_exchange_strong(taken, true)) return settled(place);
    }
    auto made = std::make_unique<Place>();
    made->tree = std::make_shared<CancelTree>();
    made->next = first.load();
    while (!first.compare_exchange_weak(made->next, made.get())) {
    }
    return settled(made.release());
  }

 private:
  Place* settled(Place* place) const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (token.cancelled()) place->tree->cancel();
    return place;
  }
};

}  // namespace enginehost::sdk

using enginehost::sdk::CancelTree;

enginehost_cancel* enginehost_cancel_new(void) noexcept { return enginehost_cancel_new_below(nullptr); }

enginehost_cancel* enginehost_cancel_new_below(const enginehost_cancel* above) noexcept {
  try {
    auto cancel = std::make_unique<enginehost_cancel>();
    if (above == nullptr) {
      cancel->tree = std::make_shared<CancelTree>();
    } else {
      CancelTree::Place* const place = above->tree->place_below();
      cancel->above = above->tree;
      cancel->taken = &place->taken;
      cancel->tree = place->tree;
    }
    cancel->token = cancel->tree->token;
    return cancel.release();
  } catch (...) {
    return nullptr;
  }
}

void enginehost_cancel_now(enginehost_cancel* cancel) noexcept {
  if (cancel != nullptr) cancel->tree->cancel();
}

void enginehost_cancel_free(enginehost_cancel* cancel) noexcept { delete cancel; }
