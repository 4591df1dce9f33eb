// Encoded values in a model: what there is, whether it is sound, and what it stands for.
//
// onnx-light stores them in fields that ONNX doesn't have: GraphProto.encoded_initializer, a named value that
// takes the place of an initializer; ModelProto.struct_types, descriptors with numbers;
// TypeProto.struct_type; and two operators, ai.rt::Quantize and ai.rt::Dequantize.
//
// A model that is opened leaves encoded initializers and struct types where they were read, byte by byte, as
// it leaves its weights; derived models share them, and writing puts them back as they were. Other large
// fields that ONNX doesn't know are treated alike, small ones are carried along. With every WeightPlacement
// encoded values stay inside the .onnx, which therefore ends at 2 GiB. A payload that is external itself
// isn't loaded: its reference is kept, and decoding says so. Encoded initializers of subgraphs are kept, too,
// but not listed here.
//
// Opening a model refuses names that are defined twice; all else that may be wrong is found here.
// Threading: const calls may run at the same time. Memory: facts and
// shared parameters, no payload, no descriptor.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "halftone/codec.h"
#include "halftone/encoded_value.h"
#include "halftone/model.h"
#include "halftone/result.h"
#include "halftone/shared_parameters.h"
#include "halftone/struct_type.h"

namespace halftone {

struct EncodedInitializer {
  std::string name;
  std::optional<CodecProfile>
      profile;              // nullopt: an affine layout, a struct type of someone else's, or a fault
  TensorType logical_type;  // what it stands for
  std::uint64_t payload_bytes = 0;
  std::uint64_t message_bytes = 0;  // payload, descriptor and names
  bool external = false;
  std::string parameter_ref;   // the shared parameter set, if it has one
  std::optional<Error> fault;  // why it can't be decoded; its `where` is the name. What a payload's codes
                               // are is looked at by decoding only
};

class EncodedModel {
 public:
  explicit EncodedModel(std::shared_ptr<const Model> model);
  EncodedModel(EncodedModel&&) = default;
  EncodedModel& operator=(EncodedModel&&) = default;

  // Of the main graph, in the order of the file.
  [[nodiscard]] std::span<const EncodedInitializer> initializers() const { return initializers_; }
  // nullptr if there is none.
  [[nodiscard]] const EncodedInitializer* find(std::string_view name) const;

  // The struct types with numbers; empty where there is a fault.
  [[nodiscard]] const StructCatalogue& catalogue() const { return catalogue_; }
  // What is wrong with them: see StructCatalogue::make.
  [[nodiscard]] const std::optional<Error>& catalogue_fault() const { return catalogue_fault_; }

  // The value, with its own parameters where they are shared (then it owns its payload; else that is a view
  // into the model). Precondition: one of initializers().
  // Errors: its fault; those of SharedParameterSet.
  [[nodiscard]] Result<EncodedValue> value(const EncodedInitializer& initializer) const;

  // What ai.rt::Dequantize makes of it: little-endian values of `type`, kUndefined for the logical type.
  // Errors: as above, and those of decode_tensor.
  [[nodiscard]] Result<std::vector<std::uint8_t>> decode(const EncodedInitializer& initializer,
                                                         DataType type = DataType::kUndefined) const;

 private:
  void read_catalogue();
  EncodedInitializer describe(std::string_view name, std::span<const std::uint8_t> message);
  Result<void> judge_shared(const EncodedValue& value, EncodedInitializer& described);
  const Result<SharedParameterSet>& shared_set(const std::string& name);

  std::shared_ptr<const Model> model_;
  StructCatalogue catalogue_;
  std::optional<Error> catalogue_fault_;
  std::map<std::string, Result<SharedParameterSet>> sets_;  // that are referred to
  std::vector<EncodedInitializer> initializers_;
  std::vector<std::span<const std::uint8_t>> messages_;  // parallel
  std::unordered_map<std::string_view, std::size_t> index_;
};

}  // namespace halftone
