// Cancel tokens, and tokens that depend on another one.
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

// A cancel token with its dependent ones. The list of these only grows (to the largest number at one time),
// so that a signal handler may walk it. Unused entries are reused.
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

  // The token of the current holder.
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
    // cancel() reads the list after it sets the token, so one of the two threads sees the other's change.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (token().canceled()) tree->cancel();
    return tree;
  }

  // Takes back a tree that no handle uses any more, directly or below it.
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

  // A running call or a canceling thread may still read the old token.
  void renew() {
    tokens_.push_back(std::make_unique<const CancelToken>());
    token_.store(tokens_.back().get());
    if (cancelling.load() == 0) tokens_.erase(tokens_.begin(), tokens_.end() - 1);
  }

  std::atomic<const CancelToken*> token_ = nullptr;
  std::vector<std::unique_ptr<const CancelToken>> tokens_;  // token_ is the last one

  std::atomic<CancelTree*> first_ = nullptr;
  CancelTree* next_ = nullptr;

  std::mutex adding_;  // cancel() does not lock it
  CancelTree* unused_ = nullptr;
  CancelTree* next_unused_ = nullptr;
};

// Held by a handle, and by everything made below it.
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
  const std::unique_ptr<CancelTree> own_;  // set if there is nothing above
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

void enginehost_cancel_free(enginehost_cancel* cancel) noexcept { enginehost::sdk::free_handle(cancel); }
