// Models for the tests of reader and writer, built through the ONNX messages, and reading and writing without
// a Model around.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/result.h"
#include "halftone/writer.h"
#include "model/onnx_messages.h"
#include "model/skeleton_reader.h"
#include "model/skeleton_writer.h"
#include "model/weight_store.h"

namespace halftone::test {

using Bytes = std::vector<std::uint8_t>;

// IR version 8, opset 17, one node Identity from x to y, float32 [2, 3].
onnx::ModelProto minimal_model();

// Every kind of data field, above and below the inline limit, in every place that can hold a tensor:
// initializers, Constant nodes, tensor lists, nested subgraphs, sparse tensors, functions, attribute
// defaults, training info; unknown fields everywhere.
onnx::ModelProto model_with_everything();

// `count` values that differ from each other in every byte, of a tensor in each data field.
onnx::TensorProto raw_floats(const std::string& name, std::int64_t count);
onnx::TensorProto typed_floats(const std::string& name, std::int64_t count);
onnx::TensorProto typed_doubles(const std::string& name, std::int64_t count);
onnx::TensorProto typed_int32s(const std::string& name, onnx::TensorProto::DataType type, std::int64_t count);
onnx::TensorProto typed_int64s(const std::string& name, std::int64_t count);
onnx::TensorProto typed_uint64s(const std::string& name, onnx::TensorProto::DataType type,
                                std::int64_t count);
onnx::TensorProto strings(const std::string& name, std::int64_t count);
// A float tensor in an external file; negative offset or length: the entry is left out.
onnx::TensorProto external_floats(const std::string& name, std::int64_t count, const std::string& location,
                                  std::int64_t offset, std::int64_t length);

Bytes serialize(const onnx::ModelProto& model);
// The bytes 7·i + start, modulo 251.
Bytes pattern(std::size_t count, std::size_t start);

struct ReadModel {
  onnx::ModelProto skeleton;
  std::vector<ExternalFile> external_files;
  std::shared_ptr<WeightStore> store;
};

// Reads the file and puts it and the external files (by location) into a store.
Result<ReadModel> read(const Bytes& file, const std::map<std::string, Bytes>& external = {});
Result<WrittenModel> write(const ReadModel& model, const WriteOptions& options = {});

}  // namespace halftone::test
