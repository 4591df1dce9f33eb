// Counts the handles that JavaScript holds, so that tests can see that none was forgotten.
#pragma once

namespace halftone::wasm {

class LiveObject {
 public:
  LiveObject() { ++count(); }
  ~LiveObject() { --count(); }
  LiveObject(const LiveObject&) = delete;
  LiveObject& operator=(const LiveObject&) = delete;

  static int& count() {
    static int live = 0;
    return live;
  }
};

}  // namespace halftone::wasm
