// The category of a failure decides how the build is treated afterwards.
#pragma once

namespace enginehost::history {

enum class Category {
  content,    // the bytes are wrong: they are discarded and fetched again
  host,       // the machine lacks something: unfit until that changes, no strikes
  policy,     // forbidden here (noexec, permission, security module): blocked, checked again after 10 minutes
  transient,  // out of descriptors, memory, device busy: tried again, not recorded
  crash,      // it crashed, hung or misreported: quarantined after a second attempt
  request     // not the build's fault: a wrong argument, no network, canceled; not recorded
};

// "content", "host", "policy", "transient", "crash", "request".
const char* name_of(Category category);

}  // namespace enginehost::history
