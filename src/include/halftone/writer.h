// Writing a model as bytes, in pieces, without a copy of the weights.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halftone/model.h"
#include "halftone/result.h"

namespace halftone {

// A long byte string made of pieces: small ones that it owns and views into a weight store that it keeps
// alive.
class ByteRope {
 public:
  void append_owned(std::vector<std::uint8_t> bytes);
  void append_view(std::span<const std::uint8_t> bytes);
  void append(ByteRope&& other);
  void keep_alive(std::shared_ptr<const void> owner);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // In order; concatenated they are the whole. Valid as long as the rope.
  [[nodiscard]] std::vector<std::span<const std::uint8_t>> pieces() const;
  // One contiguous copy (for tests and small outputs).
  [[nodiscard]] std::vector<std::uint8_t> flatten() const;

 private:
  struct Piece {
    std::vector<std::uint8_t> owned;
    std::span<const std::uint8_t> view;  // used when `owned` is empty
  };
  std::vector<Piece> pieces_;
  std::vector<std::shared_ptr<const void>> owners_;
  std::uint64_t size_ = 0;
};

enum class WeightPlacement {
  kInside,           // one file; every tensor's data in the field it came in (external
                     // data becomes raw_data)
  kExternalFile,     // every tensor in the store goes to one data file, 64-byte
                     // aligned; the .onnx refers to it
  kStoreReferences,  // every tensor in the store is an external reference (path,
                     // offset, length) into Model::buffers(): a small model that
                     // a runner loads over buffers it already has. Tensors whose
                     // data isn't stored as plain little-endian bytes (varint
                     // fields, strings) stay inside
};

struct WriteOptions {
  WeightPlacement placement = WeightPlacement::kInside;
  std::string external_location;  // file name of the data file for
                                  // kExternalFile, e.g. "model.onnx.data"
};

struct WrittenModel {
  ByteRope model;
  ByteRope external_data;  // empty unless kExternalFile
};

// Errors: kTooLarge if placement is kInside and the result would pass 2 GiB (protobuf's limit): write with
// kExternalFile; kInvalidPolicy for an external_location that isn't a plain file name.
Result<WrittenModel> write_model(const std::shared_ptr<const Model>& model, const WriteOptions& options);

}  // namespace halftone
