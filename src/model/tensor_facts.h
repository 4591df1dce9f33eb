// What the wire bytes of one TensorProto say about it, found without touching its bulk data; and whether that
// makes sense.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halftone/data_type.h"
#include "halftone/model.h"
#include "halftone/result.h"
#include "model/message_schema.h"
#include "model/weight_store.h"
#include "model/wire.h"

namespace halftone {

// One of the fields in which a tensor can carry its data.
struct DataField {
  std::uint32_t number = 0;   // of TensorProto
  std::uint64_t chunks = 0;   // length-delimited occurrences
  std::uint64_t singles = 0;  // occurrences of single, unpacked numbers
  std::uint64_t bytes =
      0;           // of all occurrences together; of raw_data: of the last one, which is the one that counts
  ByteRange last;  // payload of the last length-delimited occurrence

  [[nodiscard]] bool holds_data() const { return bytes != 0 || singles != 0; }
  // All of the data in one piece: it can stay where it lies.
  [[nodiscard]] bool one_piece() const {
    return singles == 0 && (chunks == 1 || number == tensor_field::kRawData);
  }
};

struct TensorFacts {
  std::vector<std::int64_t> dims;
  DataType type = DataType::kUndefined;
  ByteRange name;
  bool external = false;  // data_location is EXTERNAL
  bool segmented =
      false;  // has the field `segment`: it is a part of a larger tensor, and its dims don't say its size
  std::vector<std::pair<std::string, std::string>> external_data;
  std::array<DataField, 7> data;

  // The field that holds the data; nullptr if none does, or more than one.
  [[nodiscard]] const DataField* only_data_field() const;
};

// Precondition: the fields of `range` were already found sound (WireReader finds no fault in them, packed
// numbers included).
TensorFacts tensor_facts(std::span<const std::uint8_t> file, ByteRange range);

// In which TensorField a located payload of this field number is. Precondition: not string_data.
TensorField stored_field(std::uint32_t data_field_number);

// Number of values that the field must hold for `elements` elements of `type`; nullopt if such data doesn't
// belong there.
std::optional<std::uint64_t> expected_values(std::uint32_t data_field_number, DataType type,
                                             std::uint64_t elements);

// Errors: kInvalidGraph if the tensor contradicts itself: negative or overflowing dims, data in two fields,
// in a field of another type, of another size than dims and type say, or no data at all. Data in the store
// that is a list of varints is not counted (that would read it all): its size is only checked to be possible.
// Tensors of types that are not known, and parts of tensors, are taken as they are.
Result<void> check_tensor(std::span<const std::uint8_t> file, const TensorFacts& facts,
                          std::string_view name);

}  // namespace halftone
