// What kind of thing failed decides what becomes of a build.
#pragma once

namespace enginehost::history {

enum class Category {
  content,  // the bytes are wrong: throw them away and fetch again
  host,     // the machine lacks something: unfit until that changes, no strikes
  policy,   // forbidden here (noexec, permission, security module): blocked, looked at again after 10 minutes
  transient,  // out of descriptors, memory, device busy: try again, remember nothing
  crash,      // it crashed, hung or lied: quarantined after a second try
  request     // nothing about the build: a wrong argument, no network, canceled; remember nothing
};

// "content", "host", "policy", "transient", "crash", "request".
const char* name_of(Category category);

}  // namespace enginehost::history
