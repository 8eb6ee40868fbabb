// Finds names by their text, in a time that does not grow with their number: a model from elsewhere may have
// millions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace enginehost::engines::reference {

// A hash table with open addressing. Where it lies in memory is part of each hash, so that no model can
// choose names that collide. Borrows the names. Not copyable.
class NameIndex {
 public:
  NameIndex() = default;
  NameIndex(const NameIndex&) = delete;
  NameIndex& operator=(const NameIndex&) = delete;
  ~NameIndex() { std::free(places_); }

  // Returns the number of a name; -1 if it was not added.
  int64_t find(const char* name, size_t length) const {
    if (count_ == 0) return -1;
    const Place& place = places_[place_of(places_, room_, name, length)];
    return place.name != nullptr ? int64_t{place.number} : -1;
  }
  // Adds a name that was not added before. Returns false when memory is exhausted; nothing changes then.
  [[nodiscard]] bool add(const char* name, uint32_t number) {
    if (2 * (count_ + 1) > room_ && !grow()) return false;
    places_[place_of(places_, room_, name, std::strlen(name))] = {name, number};
    count_++;
    return true;
  }

 private:
  struct Place {
    const char* name;  // nullptr: free
    uint32_t number;
  };

  uint64_t hash(const char* name, size_t length) const {
    uint64_t state = reinterpret_cast<uintptr_t>(this) ^ length;
    for (size_t i = 0; i < length; i++) {
      state = (state ^ static_cast<unsigned char>(name[i])) * 0x9e3779b97f4a7c15U;
      state ^= state >> 29;
    }
    return state;
  }
  // The place of this name, or the free one where it belongs. `room` is a power of two, and one place is
  // free.
  size_t place_of(const Place* places, size_t room, const char* name, size_t length) const {
    size_t at = static_cast<size_t>(hash(name, length)) & (room - 1);
    while (places[at].name != nullptr &&
           (std::strncmp(places[at].name, name, length) != 0 || places[at].name[length] != '\0')) {
      at = (at + 1) & (room - 1);
    }
    return at;
  }
  bool grow() {
    size_t room = room_ == 0 ? 64 : room_ * 2;
    auto* places = static_cast<Place*>(std::calloc(room, sizeof(Place)));
    if (places == nullptr) return false;
    for (size_t i = 0; i < room_; i++) {
      if (places_[i].name != nullptr)
        places[place_of(places, room, places_[i].name, std::strlen(places_[i].name))] = places_[i];
    }
    std::free(places_);
    places_ = places;
    room_ = room;
    return true;
  }

  Place* places_ = nullptr;
  size_t count_ = 0, room_ = 0;
};

}  // namespace enginehost::engines::reference
