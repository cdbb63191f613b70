// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Manifest entries from IR:
//
//   tilewright.launch = <threads = 128, …, tiles = ()[s0] -> (s0 ceildiv 64, 4), dims = [0, 0]>
// becomes
//   "grid": [["mul", ["ceildiv", ["dim", 0, 0], 64], 4], 1, 1], "block": [128, 1, 1]

#include "tilewright/Artifact/Manifest.h"
#include "ManifestImages.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Picks.h"

using namespace mlir;
using namespace tilewright;
namespace json = llvm::json;

StringRef tilewright::manifestDType(Type type) {
  return llvm::TypeSwitch<Type, StringRef>(type)
      .Case([](Float64Type) { return "f64"; })
      .Case([](Float32Type) { return "f32"; })
      .Case([](Float16Type) { return "f16"; })
      .Case([](BFloat16Type) { return "bf16"; })
      .Case([](Float8E4M3FNType) { return "f8E4M3FN"; })
      .Case([](Float8E5M2Type) { return "f8E5M2"; })
      .Case([](Float8E4M3FNUZType) { return "f8E4M3FNUZ"; })
      .Case([](Float8E5M2FNUZType) { return "f8E5M2FNUZ"; })
      .Case([](IndexType) { return "index"; })
      .Case([](IntegerType type) -> StringRef {
        switch (type.getWidth()) {
        case 64: return "i64";
        case 32: return "i32";
        case 16: return "i16";
        case 8: return "i8";
        case 4: return "i4";
        case 2: return "i2";
        case 1: return "i1";
        default: return "";
        }
      })
      .Default([](Type) { return ""; });
}

static json::Array toJSON(ArrayRef<int64_t> shape) {
  json::Array result;
  for (int64_t size : shape)
    result.push_back(ShapedType::isDynamic(size) ? int64_t(-1) : size);
  return result;
}

FailureOr<json::Object> tilewright::describeValue(Location loc, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  StringRef dtype = manifestDType(shaped ? shaped.getElementType() : type);
  if (dtype.empty() || (shaped && !shaped.hasRank()))
    return emitError(loc) << "type " << type
                          << " cannot cross the program's boundary";
  json::Object result{{"kind", "scalar"}, {"dtype", dtype}};
  if (shaped) {
    result["kind"] = isa<MemRefType>(type) ? "buffer" : "tensor";
    result["shape"] = toJSON(shaped.getShape());
    SmallVector<int64_t> strides;
    int64_t offset;
    auto memref = dyn_cast<MemRefType>(type);
    if (memref && !memref.getLayout().isIdentity() &&
        succeeded(memref.getStridesAndOffset(strides, offset)))
      result["strides"] = toJSON(strides);
  }
  return result;
}

/// Dim `dim` of a kernel's `operand`, from the dims that the host gives.
static json::Value dimExpression(func::FuncOp kernel, int64_t operand, int64_t dim) {
  HostDims host = getHostDims(kernel, operand, dim);
  json::Array product{"mul"};
  for (int64_t each : host.dims)
    product.push_back(json::Array{"dim", operand, each});
  if (host.times != 1)
    product.push_back(host.times);
  return product.size() == 2 ? std::move(product[1]) : json::Value(std::move(product));
}

/// `expr` of the launch of `kernel`, whose symbols are the (operand, dim) pairs of `dims`.
static json::Value toExpression(func::FuncOp kernel, AffineExpr expr,
                                ArrayRef<int64_t> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return dimExpression(kernel, dims[2 * symbol.getPosition()],
                         dims[2 * symbol.getPosition() + 1]);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  json::Value left = toExpression(kernel, binary.getLHS(), dims),
              right = toExpression(kernel, binary.getRHS(), dims);
  StringRef name = "add";
  switch (expr.getKind()) {
  case AffineExprKind::Mul: name = "mul"; break;
  case AffineExprKind::Mod: name = "mod"; break;
  case AffineExprKind::FloorDiv: name = "floordiv"; break;
  case AffineExprKind::CeilDiv: name = "ceildiv"; break;
  default: break;
  }
  return json::Array{name, std::move(left), std::move(right)};
}

FailureOr<json::Object> tilewright::describeDispatch(func::FuncOp kernel) {
  json::Array operands, scalars;
  auto access = kernel->getAttrOfType<ArrayAttr>(kAccessAttr);
  size_t tensor = 0;
  for (BlockArgument argument : kernel.getArguments()) {
    Type type = argument.getType();
    // As many matrices as there are in memory, whatever a table names of them.
    if (std::optional<Pick> pick = getPick(argument)) {
      SmallVector<int64_t> shape(cast<ShapedType>(type).getShape());
      shape.front() = pick->count;
      type = cast<ShapedType>(type).clone(shape);
    }
    FailureOr<json::Object> value = describeValue(kernel.getLoc(), type);
    if (failed(value))
      return failure();
    if (!isa<ShapedType>(type)) {
      scalars.push_back(*value->get("dtype"));
      continue;
    }
    value->erase("kind");
    if (StridedLayoutAttr view = getView(kernel, tensor))
      (*value)["strides"] = toJSON(view.getStrides());
    if (!access || tensor >= access.size())
      return kernel.emitError() << "kernel lacks '" << kAccessAttr
                                << "' for tensor " << tensor;
    (*value)["access"] = cast<StringAttr>(access[tensor++]).getValue().str();
    operands.push_back(std::move(*value));
  }
  json::Object result{{"name", kernel.getName().str()},
                      {"operands", std::move(operands)},
                      {"scalars", std::move(scalars)}};
  // [message, operand, dim, operand, dim] each.
  json::Array checks;
  if (auto list = kernel->getAttrOfType<ArrayAttr>(kChecksAttr))
    for (Attribute entry : list) {
      auto check = cast<DictionaryAttr>(entry);
      auto dims = check.getAs<DenseI64ArrayAttr>("dims");
      auto message = check.getAs<StringAttr>("message");
      if (!dims || dims.size() != 4 || !message)
        return kernel.emitError() << "malformed '" << kChecksAttr << "'";
      checks.push_back(json::Object{
          {"equal", json::Array{json::Array{"dim", dims[0], dims[1]},
                                json::Array{"dim", dims[2], dims[3]}}},
          {"message", message.getValue().str()}});
    }
  result["checks"] = std::move(checks);
  return result;
}

/// Rows of the operands that the kernel takes as aligned begin at multiples of
/// the widest access.
static void guardAlignedViews(func::FuncOp kernel, json::Array &all) {
  auto aligned = kernel->getAttrOfType<DenseI64ArrayAttr>(kAlignedAttr);
  if (!aligned)
    return;
  TargetAttr target = getTarget(kernel);
  int64_t accessBytes = target ? target.getFact("access_bytes", 16) : 16;
  for (int64_t operand : aligned.asArrayRef()) {
    StridedLayoutAttr view = getView(kernel, operand);
    Type type = *std::next(
        llvm::make_filter_range(kernel.getArgumentTypes(),
                                llvm::IsaPred<ShapedType>).begin(), operand);
    Type element = cast<ShapedType>(type).getElementType();
    all.push_back(json::Array{"ge", json::Array{"align", operand}, accessBytes});
    if (!view || !element.isIntOrFloat())
      continue;
    int64_t bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
    for (auto [dim, stride] : llvm::enumerate(view.getStrides()))
      if (ShapedType::isDynamic(stride) && accessBytes > bytes)
        all.push_back(json::Array{
            "eq",
            json::Array{"mod", json::Array{"stride", operand, int64_t(dim)},
                        accessBytes / bytes},
            0});
  }
}

/// `["and", …]` with as many arguments as the runtime reads at once: more are in one of them.
static json::Value nestConditions(json::Array all) {
  constexpr size_t kMostArguments = 64;
  while (all.size() > kMostArguments + 1) {
    json::Array inner{"and"};
    for (size_t i = 0; i < kMostArguments; ++i) {
      inner.push_back(std::move(all.back()));
      all.pop_back();
    }
    std::reverse(inner.begin() + 1, inner.end());
    all.push_back(std::move(inner));
  }
  return all;
}

/// Guards of the kernel itself: promised divisors, and 32-bit indices.
static json::Value kernelGuard(func::FuncOp kernel, const json::Value &target) {
  json::Array all{"and"};
  if (target != json::Value(true))
    all.push_back(target);
  if (auto promises = kernel->getAttrOfType<DenseI64ArrayAttr>(kDivisibleAttr))
    for (int64_t i = 0; i + 2 < promises.size(); i += 3)
      all.push_back(json::Array{
          "eq",
          json::Array{"mod", dimExpression(kernel, promises[i], promises[i + 1]),
                      promises[i + 2]},
          0});
  for (auto [name, comparison] : {std::pair<StringRef, StringRef>{kAtMostAttr, "le"},
                                  {kAtLeastAttr, "ge"}})
    if (auto promises = kernel->getAttrOfType<DenseI64ArrayAttr>(name))
      for (int64_t i = 0; i + 2 < promises.size(); i += 3)
        all.push_back(json::Array{comparison,
                                  dimExpression(kernel, promises[i], promises[i + 1]),
                                  promises[i + 2]});
  guardAlignedViews(kernel, all);
  guardImages(kernel, all);
  auto access = kernel->getAttrOfType<ArrayAttr>(kAccessAttr);
  if (access && getIndexBits(kernel) == 32)
    for (size_t operand = 0; operand < access.size(); ++operand)
      all.push_back(json::Array{
          "lt",
          json::Array{getView(kernel, operand) || getImage(kernel, operand) ? "span"
                                                                             : "numel",
                      int64_t(operand)},
          int64_t(1) << 31});
  if (all.size() == 1)
    return true;
  if (all.size() == 2)
    return std::move(all[1]);
  return nestConditions(std::move(all));
}

static json::Object describeTensorMap(TensorMapAttr map) {
  json::Object result{{"tensor_map", map.getOperand()},
                      {"box", toJSON(map.getBox())},
                      {"swizzle", map.getSwizzle()}};
  if (map.getMerged() > 1)
    result["merged"] = map.getMerged();
  if (ImageAttr image = map.getImage())
    result["image"] = describeImage(map.getOperand(), image);
  return result;
}

/// Blocks along x, y and z: tiles, rounded up to clusters.
static json::Array describeGrid(func::FuncOp kernel, LaunchAttr launch) {
  json::Array product{"mul"};
  int64_t cluster = llvm::product_of(launch.getCluster());
  for (auto [loop, expr] : llvm::enumerate(launch.getTiles().getValue().getResults())) {
    int64_t blocks = cluster > 1 ? launch.getCluster()[loop] : 1;
    product.push_back(toExpression(kernel, expr.ceilDiv(blocks), launch.getDims()));
  }
  json::Value total = product.size() == 1   ? json::Value(1)
                      : product.size() == 2 ? std::move(product[1])
                                            : json::Value(std::move(product));
  // As many blocks, or clusters, as run at once.
  if (launch.getPersistent()) {
    json::Array processors{"device", "multiprocessors"};
    json::Value most = std::move(processors);
    if (cluster > 1)
      most = json::Array{"floordiv", std::move(most), cluster};
    total = json::Array{"min", std::move(total),
                        json::Array{"max", std::move(most), 1}};
  }
  if (cluster > 1)
    total = json::Array{"mul", std::move(total), cluster};
  TargetAttr target = getTarget(kernel);
  int64_t widest = target ? target.getFact("max_grid_x", INT32_MAX) : INT32_MAX;
  if (widest == INT32_MAX)
    return json::Array{total, 1, 1};
  json::Value width = json::Array{"min", total, widest};
  return json::Array{width, json::Array{"ceildiv", total, json::Array{"max", width, 1}}, 1};
}

/// Scalars of the block form, which has none yet: its back end appends the dynamic dims and
/// strides and the offsets, as distribute does, and those of the host.
static void addBlockScalars(func::FuncOp kernel, ArrayRef<Type> hostScalars,
                            json::Array &params) {
  for (auto [number, type] : llvm::enumerate(llvm::make_filter_range(
           kernel.getArgumentTypes(), [](Type type) { return isa<ShapedType>(type); }))) {
    int64_t operand = number;
    auto add = [&](json::Array value) {
      params.push_back(json::Object{{"scalar", "i64"}, {"value", std::move(value)}});
    };
    for (auto [dim, size] : llvm::enumerate(cast<ShapedType>(type).getShape()))
      if (ShapedType::isDynamic(size))
        add(json::Array{"dim", operand, int64_t(dim)});
    StridedLayoutAttr view = getView(kernel, operand);
    if (!view)
      continue;
    for (auto [dim, stride] : llvm::enumerate(view.getStrides()))
      if (ShapedType::isDynamic(stride))
        add(json::Array{"stride", operand, int64_t(dim)});
    add(json::Array{"offset", operand});
  }
  for (auto [number, type] : llvm::enumerate(hostScalars))
    params.push_back(
        json::Object{{"scalar", type.isIndex() ? "i64" : manifestDType(type)},
                     {"value", json::Array{"scalar", int64_t(number)}}});
}

/// The scalar that means `meaning`; `type` is that of a host scalar in its place, or null.
static FailureOr<json::Object> describeScalar(func::FuncOp kernel, Attribute meaning,
                                              Type type) {
  StringRef index = getIndexBits(kernel) == 64 ? "i64" : "i32";
  auto ofIndex = [&](json::Value value) {
    return json::Object{{"scalar", index}, {"value", std::move(value)}};
  };
  if (auto dim = dyn_cast<DimAttr>(meaning))
    return ofIndex(dimExpression(kernel, dim.getOperand(), dim.getDim()));
  if (auto places = dyn_cast<PlacesAttr>(meaning))
    return ofIndex(placesExpression(kernel, places.getOperand(), places.getDim()));
  if (auto stride = dyn_cast<StrideAttr>(meaning))
    return ofIndex(json::Array{"stride", stride.getOperand(), stride.getDim()});
  if (auto offset = dyn_cast<OffsetAttr>(meaning))
    return ofIndex(json::Array{"offset", offset.getOperand()});
  auto host = dyn_cast<HostScalarAttr>(meaning);
  if (!host || !type)
    return kernel.emitError() << "scalar " << meaning << " has no meaning";
  // What is narrower travels in the low bits of an i32.
  StringRef passed = type.isIndex() ? index
                     : type.isIntOrFloat() && type.getIntOrFloatBitWidth() < 32
                         ? "i32"
                         : manifestDType(type);
  return json::Object{{"scalar", passed}, {"value", json::Array{"scalar", host.getNumber()}}};
}

/// Buffers, then scalars, then tensor maps. Host scalars are counted in the order of
/// arguments.
static FailureOr<json::Array> describeParams(func::FuncOp kernel) {
  json::Array params;
  int64_t buffers = 0;
  SmallVector<Type> hostScalars;
  for (Type type : kernel.getArgumentTypes())
    if (isa<ShapedType>(type))
      params.push_back(json::Object{{"buffer", buffers++}});
    else if (!isa<TensorMapType>(type))
      hostScalars.push_back(type);
  auto scalars = kernel->getAttrOfType<ArrayAttr>(kScalarsAttr);
  if (!scalars)
    addBlockScalars(kernel, hostScalars, params);
  else
    for (auto [number, meaning] : llvm::enumerate(scalars)) {
      FailureOr<json::Object> scalar = describeScalar(
          kernel, meaning, number < hostScalars.size() ? hostScalars[number] : Type());
      if (failed(scalar))
        return failure();
      params.push_back(std::move(*scalar));
    }
  if (auto maps = kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr))
    for (TensorMapAttr map : maps.getAsRange<TensorMapAttr>())
      params.push_back(describeTensorMap(map));
  return std::move(params);
}

FailureOr<json::Object>
tilewright::describeVariant(func::FuncOp kernel, StringRef entry,
                            const json::Value &guard) {
  auto launch = kernel->getAttrOfType<LaunchAttr>(kLaunchAttr);
  if (!launch)
    return kernel.emitError() << "kernel has no '" << kLaunchAttr << "'";
  FailureOr<json::Array> params = describeParams(kernel);
  if (failed(params))
    return failure();
  json::Object description{{"name", entry.str()},
                           {"guard", kernelGuard(kernel, guard)},
                           {"grid", describeGrid(kernel, launch)},
                           {"block", json::Array{launch.getThreads(), 1, 1}},
                           {"cluster", json::Array{llvm::product_of(launch.getCluster()), 1, 1}},
                           {"params", std::move(*params)}};
  if (TargetAttr target = getTarget(kernel); target && target.has("dependent_launch"))
    description["dependent_launch"] = true;
  if (auto config = kernel->getAttrOfType<LoweringConfigAttr>(kConfigAttr)) {
    std::string text;
    llvm::raw_string_ostream(text) << config;
    description["config"] = text;
  }
  return description;
}
