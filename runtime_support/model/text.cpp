// Names of dtypes, devices and lists as error messages show them.
#include <stdio.h>

#include "tensor.h"

namespace aotc::model {
namespace {

// Types whose name has no bit count of its own in it; NULL for the regular families.
const char* special_dtype(DLDataType dtype) {
  switch (dtype.code) {
    case kDLBool:
      return "bool";
    case kDLFloat8_e3m4:
      return "float8_e3m4";
    case kDLFloat8_e4m3:
      return "float8_e4m3";
    case kDLFloat8_e4m3b11fnuz:
      return "float8_e4m3b11fnuz";
    case kDLFloat8_e4m3fn:
      return "float8_e4m3fn";
    case kDLFloat8_e4m3fnuz:
      return "float8_e4m3fnuz";
    case kDLFloat8_e5m2:
      return "float8_e5m2";
    case kDLFloat8_e5m2fnuz:
      return "float8_e5m2fnuz";
    case kDLFloat8_e8m0fnu:
      return "float8_e8m0fnu";
    case kDLFloat4_e2m1fn:
      return "float4_e2m1fn";
    default:
      return nullptr;
  }
}

const char* dtype_family(uint8_t code) {
  switch (code) {
    case kDLInt:
      return "int";
    case kDLUInt:
      return "uint";
    case kDLFloat:
      return "float";
    case kDLBfloat:
      return "bfloat";
    case kDLComplex:
      return "complex";
    default:
      return nullptr;
  }
}

}  // namespace

Text64 dtype_name(DLDataType dtype) {
  Text64 out;
  const char* special = special_dtype(dtype);
  const char* family = dtype_family(dtype.code);
  int used = 0;
  if (special)
    used = snprintf(out.text, sizeof out.text, "%s", special);
  else if (family)
    used = snprintf(out.text, sizeof out.text, "%s%d", family, dtype.bits);
  else
    used = snprintf(out.text, sizeof out.text, "(DLPack type code %d, %d bits)", dtype.code,
                    dtype.bits);
  if (dtype.lanes != 1)
    snprintf(out.text + used, sizeof out.text - static_cast<size_t>(used), "x%d", dtype.lanes);
  return out;
}

Text64 device_name(DLDevice device) {
  Text64 out;
  switch (static_cast<int32_t>(device.device_type)) {
    case kDLCPU:
      snprintf(out.text, sizeof out.text, "cpu");
      break;
    case kDLCUDA:
      snprintf(out.text, sizeof out.text, "cuda:%d", device.device_id);
      break;
    default:
      snprintf(out.text, sizeof out.text, "(DLPack device %d:%d)",
               static_cast<int>(device.device_type), device.device_id);
  }
  return out;
}

Text256 list_text(const int64_t* values, int32_t count) {
  Text256 out;
  int used = snprintf(out.text, sizeof out.text, "[");
  for (int32_t i = 0; i < count && used < 220; ++i)
    used += snprintf(out.text + used, sizeof out.text - static_cast<size_t>(used), "%s%lld",
                     i ? ", " : "", static_cast<long long>(values[i]));
  snprintf(out.text + used, sizeof out.text - static_cast<size_t>(used), "%s",
           used < 220 ? "]" : ", ...]");
  return out;
}

}  // namespace aotc::model
