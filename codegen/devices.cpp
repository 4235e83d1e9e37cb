#include "codegen/devices.h"

#include <set>

// Remapping devices of an exported program.
namespace aotc {
namespace {

std::string text(const Device& d) { return d.index < 0 ? d.type : fmt::format("{}:{}", d.type, d.index); }

Device parse_device(const std::string& s) {
  size_t colon = s.find(':');
  Device d;
  d.type = s.substr(0, colon);
  if (colon != std::string::npos) d.index = std::atoi(s.c_str() + colon + 1);
  if (d.type != "cpu" && d.type != "cuda") user_error("unknown device '{}'; devices are cpu, cuda and cuda:N", s);
  return d;
}

Device mapped(const Device& d, const CompileSettings& s) {
  auto it = s.device_map.find(text(d));
  if (it == s.device_map.end()) it = s.device_map.find(d.type);
  if (it != s.device_map.end()) return parse_device(it->second);
  if (s.device == "as-exported") return d;
  return parse_device(s.device);
}

}  // namespace

void assign_devices(Graph& g, const CompileSettings& settings) {
  if (settings.device != "as-exported") parse_device(settings.device);
  std::set<std::string> foreign;
  for (auto& v : g.values) {
    v->type.device = mapped(v->type.device, settings);
    if (v->type.device.type != "cpu") foreign.insert(text(v->type.device));
  }
  for (auto& n : g.nodes)
    for (Arg& a : n->args)
      if (auto* d = std::get_if<Device>(&a)) *d = mapped(*d, settings);
  if (!foreign.empty())
    user_error("{}: the program has tensors on {}, which this version does not compile for; use --device cpu (or --device-map {}=cpu)",
               g.name, fmt::join(foreign, ", "), *foreign.begin());
}

}  // namespace aotc
