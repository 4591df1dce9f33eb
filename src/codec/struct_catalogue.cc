// References between struct types, and what they take in bits.
#include <set>
#include <string_view>
#include <utility>

#include "halftone/struct_type.h"

namespace halftone {
namespace {

constexpr std::uint64_t kMaxBits = std::uint64_t{1} << 62U;

Error bad_type(const std::string& what) {
  return {ErrorCode::kInvalidGraph, what, "", "Check what wrote the struct types of this file."};
}

Error too_deep() {
  return {
      ErrorCode::kTooLarge,
      "Struct types contain themselves, or nest deeper than " + std::to_string(kMaxStructDepth) + " levels.",
      "", "Check what wrote the struct types of this file."};
}

Error unknown_reference(std::uint64_t id) {
  return bad_type("A struct type refers to type " + std::to_string(id) +
                  ", which the model doesn't declare.");
}

class Sizer {
 public:
  explicit Sizer(const StructCatalogue& catalogue) : catalogue_(catalogue) {}

  Result<std::uint64_t> bits(const StructType& type, std::size_t depth) {
    if (depth >= kMaxStructDepth) return too_deep();
    if (const auto* array = std::get_if<StructArray>(&type.kind)) {
      return times(bits(array->element, depth + 1), array->dimension);
    }
    if (const auto* structure = std::get_if<Structure>(&type.kind)) return bits(*structure, depth + 1);
    if (const auto* packing = std::get_if<BitPacking>(&type.kind)) return bits(*packing);
    if (const auto* reference = std::get_if<TypeReference>(&type.kind))
      return bits_of(reference->id, depth + 1);
    return bad_type("A struct type says nothing about its layout.");
  }

 private:
  Result<std::uint64_t> bits(const ElementType& type, std::size_t depth) {
    if (const auto* inner = std::get_if<std::vector<StructType>>(&type.value); inner != nullptr) {
      return bits(inner->front(), depth);
    }
    const auto* tensor = std::get_if<TensorType>(&type.value);
    const std::size_t width = tensor == nullptr ? 0 : data_type_bits(tensor->type);
    if (width == 0 || !tensor->has_shape) return bad_type("A part of a struct type has no fixed size.");
    const std::optional<std::uint64_t> count = element_count(tensor->dims);
    if (!count) return too_large();
    return times(std::uint64_t{width}, *count, true);
  }

  Result<std::uint64_t> bits(const Structure& structure, std::size_t depth) {
    if (structure.fields.empty()) return bad_type("A structure has no fields.");
    std::set<std::string_view> names;
    std::uint64_t total = 0;
    for (const StructField& field : structure.fields) {
      if (!field.name || field.name->empty()) return bad_type("A field of a structure has no name.");
      if (!names.insert(*field.name).second) {
        return bad_type("A structure has two fields of the name " + printable(*field.name) + ".");
      }
      const auto* type = std::get_if<ElementType>(&field.content);
      if (type == nullptr) continue;
      const Result<std::uint64_t> size = bits(*type, depth);
      if (!size.ok()) return size;
      total += size.value();
      if (total > kMaxBits) return too_large();
    }
    return total;
  }

  Result<std::uint64_t> bits(const BitPacking& packing) {
    std::uint64_t total = 0;
    for (const BitComponent& component : packing.components) {
      total += component.bit_width;
      if (total > kMaxBits) return too_large();
    }
    return times(total, packing.dimension);
  }

  // Types that are referred to are measured once: they may refer to each other often.
  Result<std::uint64_t> bits_of(std::uint64_t id, std::size_t depth) {
    if (const auto known = measured_.find(id); known != measured_.end()) return known->second;
    const StructType* type = catalogue_.find(id);
    if (type == nullptr) return unknown_reference(id);
    Result<std::uint64_t> size = bits(*type, depth);
    if (size.ok()) measured_.emplace(id, size.value());
    return size;
  }

  static Error too_large() {
    return {ErrorCode::kTooLarge, "A struct type is larger than 2^62 bits.", "",
            "Check what wrote the struct types of this file."};
  }

  static Result<std::uint64_t> times(Result<std::uint64_t> size, std::uint64_t factor,
                                     bool may_be_zero = false) {
    if (!size.ok()) return size;
    if (factor == 0 && !may_be_zero) return bad_type("An array of a struct type has the dimension 0.");
    if (factor != 0 && size.value() > kMaxBits / factor) return too_large();
    return size.value() * factor;
  }

  const StructCatalogue& catalogue_;
  std::map<std::uint64_t, std::uint64_t> measured_;
};

// Walks a catalogue's types along their references; a type is finished once.
class ReferenceWalk {
 public:
  explicit ReferenceWalk(const StructCatalogue& catalogue) : catalogue_(catalogue) {}

  // Levels of struct types from `type` down, itself included.
  Result<std::size_t> depth(const StructType& type, std::size_t above) {
    if (above >= kMaxStructDepth) return too_deep();
    Result<std::size_t> below = std::size_t{0};
    if (const auto* array = std::get_if<StructArray>(&type.kind)) below = depth(array->element, above + 1);
    if (const auto* reference = std::get_if<TypeReference>(&type.kind))
      below = depth_of(reference->id, above + 1);
    if (const auto* structure = std::get_if<Structure>(&type.kind)) below = depth(*structure, above + 1);
    if (!below.ok()) return below;
    if (above + below.value() >= kMaxStructDepth) return too_deep();
    return below.value() + 1;
  }

  Result<std::size_t> depth_of(std::uint64_t id, std::size_t above) {
    if (const auto known = finished_.find(id); known != finished_.end()) {
      if (above + known->second > kMaxStructDepth) return too_deep();
      return known->second;
    }
    const StructType* type = catalogue_.find(id);
    if (type == nullptr) return unknown_reference(id);
    Result<std::size_t> levels = depth(*type, above);
    if (levels.ok()) finished_.emplace(id, levels.value());
    return levels;
  }

 private:
  Result<std::size_t> depth(const ElementType& type, std::size_t above) {
    const auto* inner = std::get_if<std::vector<StructType>>(&type.value);
    return inner == nullptr ? Result<std::size_t>(std::size_t{0}) : depth(inner->front(), above);
  }

  Result<std::size_t> depth(const Structure& structure, std::size_t above) {
    std::size_t most = 0;
    for (const StructField& field : structure.fields) {
      const auto* type = std::get_if<ElementType>(&field.content);
      if (type == nullptr) continue;
      const Result<std::size_t> levels = depth(*type, above);
      if (!levels.ok()) return levels;
      if (levels.value() > most) most = levels.value();
    }
    return most;
  }

  const StructCatalogue& catalogue_;
  std::map<std::uint64_t, std::size_t> finished_;
};

}  // namespace

// Not defaulted where they are declared: the types that they compare are incomplete there.
bool ElementType::operator==(const ElementType& other) const { return value == other.value; }
bool Structure::operator==(const Structure& other) const { return fields == other.fields; }

Result<StructCatalogue> StructCatalogue::make(std::vector<StructType> types) {
  StructCatalogue catalogue;
  for (StructType& type : types) {
    const std::uint64_t id = type.type_id.value_or(0);
    if (id == 0) return bad_type("A struct type of the model's catalogue has no number.");
    if (!catalogue.types_.emplace(id, std::move(type)).second) {
      return bad_type("The number " + std::to_string(id) + " names two struct types (duplicate type id).");
    }
  }
  ReferenceWalk walk(catalogue);
  for (const auto& [id, type] : catalogue.types_) {
    if (const Result<std::size_t> depth = walk.depth_of(id, 0); !depth.ok()) return depth.error();
  }
  return catalogue;
}

const StructType* StructCatalogue::find(std::uint64_t id) const {
  const auto found = types_.find(id);
  return found == types_.end() ? nullptr : &found->second;
}

Result<StructType> resolve_struct_type(const StructType& type, const StructCatalogue& catalogue) {
  const auto* reference = std::get_if<TypeReference>(&type.kind);
  if (reference == nullptr) {
    if (type.type_id)
      return bad_type("A struct type outside of the model's catalogue has a number of its own.");
    return type;
  }
  const bool bare = !type.name && !type.doc_string && !type.decoder && !type.encoder && !type.type_id &&
                    type.metadata_props.empty();
  if (!bare) return bad_type("A reference to a struct type has more than the type's number.");
  const StructType* found = catalogue.find(reference->id);
  if (found == nullptr) return unknown_reference(reference->id);
  if (std::holds_alternative<TypeReference>(found->kind)) {
    return bad_type("Struct type " + std::to_string(reference->id) + " is only a reference to another.");
  }
  StructType resolved = *found;
  resolved.type_id.reset();
  return resolved;
}

Result<std::uint64_t> struct_bits(const StructType& type, const StructCatalogue& catalogue) {
  return Sizer(catalogue).bits(type, 0);
}

}  // namespace halftone
