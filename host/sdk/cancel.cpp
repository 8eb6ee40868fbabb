// Requests to stop, and those that follow from another.
#include <enginehost/enginehost.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "host/sdk/handles.hpp"

namespace enginehost::sdk {
namespace {

// How many threads are inside CancelTree::cancel().
std::atomic<int> cancelling = 0;

}  // namespace

// A request and those below it. The list of those only grows, to as many as were wanted at one time, so that
// a signal's handler may walk it; what nobody holds any more is used again.
class CancelTree {
 public:
  CancelTree() { renew(); }
  CancelTree(const CancelTree&) = delete;
  CancelTree& operator=(const CancelTree&) = delete;
  ~CancelTree() {
    for (const CancelTree* tree = first_.load(); tree != nullptr;) {
      const std::unique_ptr<const CancelTree> gone(tree);
      tree = tree->next_;
    }
  }

  // Of whoever holds it.
  const CancelToken& token() const { return *token_.load(); }

  void cancel() const {
    ++cancelling;
    cancel_all();
    --cancelling;
  }

  CancelTree* take_below() {
    const std::lock_guard<std::mutex> hold(adding_);
    CancelTree* tree = unused_;
    if (tree != nullptr) {
      if (tree->token().canceled()) tree->renew();
      unused_ = tree->next_unused_;
    } else {
      tree = new CancelTree;
      tree->next_ = first_.load();
      first_.store(tree);
    }
    // Whoever cancels looks at those below after that: one of the two sees the other.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (token().canceled()) tree->cancel();
    return tree;
  }

  // Nobody holds it, nor one below it.
  void give_back(CancelTree* tree) {
    const std::lock_guard<std::mutex> hold(adding_);
    tree->next_unused_ = unused_;
    unused_ = tree;
  }

 private:
  void cancel_all() const {
    token().cancel();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (const CancelTree* tree = first_.load(); tree != nullptr; tree = tree->next_) tree->cancel_all();
  }

  // A call that was given the old one may still look at it, and so may a thread that cancels.
  void renew() {
    tokens_.push_back(std::make_unique<const CancelToken>());
    token_.store(tokens_.back().get());
    if (cancelling.load() == 0) tokens_.erase(tokens_.begin(), tokens_.end() - 1);
  }

  std::atomic<const CancelToken*> token_ = nullptr;
  std::vector<std::unique_ptr<const CancelToken>> tokens_;  // the last is token_

  std::atomic<CancelTree*> first_ = nullptr;
  CancelTree* next_ = nullptr;

  std::mutex adding_;  // not for cancel()
  CancelTree* unused_ = nullptr;
  CancelTree* next_unused_ = nullptr;
};

// Held by a handle and by what was made below it.
class CancelUse {
 public:
  CancelUse() : own_(std::make_unique<CancelTree>()), tree_(own_.get()) {}
  explicit CancelUse(std::shared_ptr<CancelUse> above)
      : above_(std::move(above)), tree_(above_->tree_->take_below()) {}
  CancelUse(const CancelUse&) = delete;
  CancelUse& operator=(const CancelUse&) = delete;
  ~CancelUse() {
    if (above_) above_->tree_->give_back(tree_);
  }
  CancelTree& tree() const { return *tree_; }

 private:
  const std::unique_ptr<CancelTree> own_;  // where nothing is above
  const std::shared_ptr<CancelUse> above_;
  CancelTree* const tree_;
};

}  // namespace enginehost::sdk

using enginehost::sdk::CancelUse;

enginehost_cancel* enginehost_cancel_new(void) noexcept { return enginehost_cancel_new_below(nullptr); }

enginehost_cancel* enginehost_cancel_new_below(const enginehost_cancel* above) noexcept {
  try {
    auto cancel = std::make_unique<enginehost_cancel>();
    cancel->use = above == nullptr ? std::make_shared<CancelUse>() : std::make_shared<CancelUse>(above->use);
    cancel->token = cancel->use->tree().token();
    return cancel.release();
  } catch (...) {
    return nullptr;
  }
}

void enginehost_cancel_now(enginehost_cancel* cancel) noexcept {
  if (cancel != nullptr) cancel->use->tree().cancel();
}

void enginehost_cancel_free(enginehost_cancel* cancel) noexcept { delete cancel; }
