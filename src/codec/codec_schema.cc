#include "halftone/codec_schema.h"

#include <string>
#include <utility>

#include "codec/checked_size.h"

namespace halftone {
namespace {

using codec::CheckedSize;

Error too_large() {
  return {ErrorCode::kTooLarge, "The encoded value would be larger than 2^60 bytes.", "",
          "Check the tensor's shape and the sizes of its blocks."};
}

Result<void> place_run(SchemaRun& run, CodecSchema& schema) {
  Result<BlockSizes> sizes = check_block_layout(run.layout);
  if (!sizes.ok()) return sizes.error();
  run.sizes = sizes.value();
  if (run.blocks == 0) {
    return Error{ErrorCode::kInvalidPolicy, "A run needs nonempty blocks; it has 0 blocks.", "",
                 "Leave the run out."};
  }
  run.first_block = schema.blocks;
  run.first_element = schema.elements;
  run.first_byte = schema.payload_bytes;
  const CheckedSize elements = CheckedSize(run.layout.count) * run.blocks + schema.elements;
  const CheckedSize bytes = CheckedSize(run.sizes.record_bytes) * run.blocks + schema.payload_bytes;
  if (!elements.fits() || !bytes.fits()) return too_large();
  schema.elements = elements.value();
  schema.payload_bytes = bytes.value();
  schema.blocks += run.blocks;
  return {};
}

// Totals and places from layouts and extents.
Result<void> complete(CodecSchema& schema) {
  const CheckedSize matrix = CheckedSize(schema.transform_size) * schema.transform_size * 8;
  const CheckedSize prefix =
      CheckedSize(schema.permutation) * 8 + matrix + matrix + CheckedSize(schema.outliers) * 16 + 1;
  if (!prefix.fits()) return too_large();
  schema.prefix_bytes = prefix.value();
  schema.payload_bytes = prefix.value();
  schema.blocks = 0;
  schema.elements = 0;
  for (SchemaRun& run : schema.runs) {
    if (Result<void> placed = place_run(run, schema); !placed.ok()) return placed;
  }
  return {};
}

ElementType tensor_type(DataType type, std::vector<std::int64_t> dims) {
  return {TensorType{type, std::move(dims), true}};
}

StructField tensor_field(std::string name, DataType type, std::vector<std::int64_t> dims) {
  return {std::move(name), tensor_type(type, std::move(dims)), std::nullopt};
}

std::vector<std::int64_t> dims_of(std::uint64_t length) { return {static_cast<std::int64_t>(length)}; }

StructField constant_field(std::string name, std::vector<std::int64_t> dims,
                           std::vector<std::int64_t> values) {
  return {std::move(name), StructConstant{DataType::kInt64, std::move(dims), std::move(values), {}},
          std::nullopt};
}

ElementType nested(Structure structure) {
  StructType type;
  type.kind = std::move(structure);
  ElementType element;
  element.value.emplace<std::vector<StructType>>().push_back(std::move(type));
  return element;
}

StructField run_field(const SchemaRun& run) {
  const BlockLayout& layout = run.layout;
  Structure record;
  record.fields.push_back(
      constant_field("parameters", {9},
                     {layout.count, static_cast<std::int64_t>(layout.method), layout.bits,
                      layout.signed_codes ? 1 : 0, layout.books, layout.entries, layout.vector_size,
                      layout.base3 ? 1 : 0, static_cast<std::int64_t>(layout.cast_type)}));
  record.fields.push_back(tensor_field("scale", DataType::kDouble, {}));
  record.fields.push_back(tensor_field("zero_point", DataType::kDouble, {}));
  record.fields.push_back(tensor_field("offset", DataType::kDouble, {}));
  record.fields.push_back(tensor_field("codebook", DataType::kDouble, dims_of(run.sizes.table_values)));
  record.fields.push_back(tensor_field("codes", DataType::kUint8, dims_of(run.sizes.code_bytes)));
  StructType array;
  array.kind = StructArray{nested(std::move(record)), run.blocks};
  ElementType element;
  element.value.emplace<std::vector<StructType>>().push_back(std::move(array));
  return {"run_" + std::to_string(run.first_block), std::move(element), std::nullopt};
}

}  // namespace

Result<CodecSchema> make_codec_schema(const CodecPlan& plan) {
  if (codec_profile_info(plan.profile).ort) {
    return Error{ErrorCode::kInvalidPolicy,
                 "Formats of onnxruntime's MatMulNBits have descriptors of their own.", "",
                 "Take the struct type of an encoded value."};
  }
  CodecSchema schema;
  schema.profile = plan.profile;
  schema.permutation = plan.permutation.size();
  schema.transform_size = plan.transform_size;
  schema.outliers = plan.outliers.size();
  for (const CodecRun& run : plan.runs) {
    if (run.blocks != 0 && !schema.runs.empty() && schema.runs.back().layout == run.layout) {
      const CheckedSize blocks = CheckedSize(schema.runs.back().blocks) + run.blocks;
      if (!blocks.fits()) return too_large();
      schema.runs.back().blocks = blocks.value();
    } else {
      schema.runs.push_back({run.layout, run.blocks, {}, 0, 0, 0});
    }
  }
  if (Result<void> completed = complete(schema); !completed.ok()) return completed.error();
  return schema;
}

StructType codec_descriptor(const CodecSchema& schema) {
  Structure blocks;
  blocks.fields.push_back(constant_field("count", {}, {static_cast<std::int64_t>(schema.blocks)}));
  for (const SchemaRun& run : schema.runs) blocks.fields.push_back(run_field(run));
  const auto n = static_cast<std::int64_t>(schema.transform_size);
  Structure root;
  root.fields.push_back(tensor_field("reserved", DataType::kUint8, {1}));
  root.fields.push_back(tensor_field("permutation", DataType::kInt64, dims_of(schema.permutation)));
  root.fields.push_back(tensor_field("forward", DataType::kDouble, {n, n}));
  root.fields.push_back(tensor_field("inverse", DataType::kDouble, {n, n}));
  root.fields.push_back(tensor_field("outlier_indices", DataType::kInt64, dims_of(schema.outliers)));
  root.fields.push_back(tensor_field("outlier_values", DataType::kDouble, dims_of(schema.outliers)));
  root.fields.push_back({"blocks", nested(std::move(blocks)), std::nullopt});
  StructType descriptor;
  descriptor.kind = std::move(root);
  descriptor.name = std::string(kCodecSchemaPrefix) + std::string(codec_profile_info(schema.profile).name);
  return descriptor;
}

namespace codec {

// Declared in codec/schema_reading.h.
Result<void> complete_schema(CodecSchema& schema) { return complete(schema); }

}  // namespace codec
}  // namespace halftone
