#include "codegen/devices.h"

#include <charconv>
#include <set>

// Remapping devices of an exported program.
namespace aotc {
namespace {

std::string text(const Device& d) {
  return d.index < 0 ? d.type : fmt::format("{}:{}", d.type, d.index);
}

Device parse_device(const std::string& s) {
  const auto wrong = [&]() -> Device {
    user_error("unknown device '{}'; devices are cpu, cuda and cuda:N", s);
  };
  const size_t colon = s.find(':');
  Device d;
  d.type = s.substr(0, colon);
  if (d.type != "cpu" && d.type != "cuda") return wrong();
  if (colon == std::string::npos) return d;
  const char *begin = s.data() + colon + 1, *end = s.data() + s.size();
  const auto [stop, error] = std::from_chars(begin, end, d.index);
  if (error != std::errc() || stop != end || d.index < 0) return wrong();
  return d;
}

Device mapped(const Device& d, const CompileSettings& s) {
  auto it = s.device_map.find(text(d));
  if (it == s.device_map.end()) it = s.device_map.find(d.type);
  if (it != s.device_map.end()) return parse_device(it->second);
  if (s.device == "as-exported") return d;
  return parse_device(s.device);
}

// The host is one device, and "cuda" is the first GPU.
Device normalized(Device d) {
  if (d.type == "cpu") return {};
  if (d.type == "cuda" && d.index < 0) d.index = 0;
  return d;
}

void require_known(const Graph& g, const std::set<std::string>& foreign) {
  for (const std::string& name : foreign)
    if (!name.starts_with("cuda:"))
      user_error("{}: the program has tensors on {}, expected cpu or cuda; use --device-map {}=cpu",
                 g.name, name, name);
  if (foreign.size() > 1)
    user_error(
        "{}: the program has tensors on {}; one program uses one GPU: map them to one, e.g. "
        "--device-map {}={}",
        g.name, fmt::join(foreign, ", "), *foreign.rbegin(), *foreign.begin());
}

}  // namespace

void assign_devices(Graph& g, const CompileSettings& settings) {
  if (settings.device != "as-exported") parse_device(settings.device);
  for (const auto& [from, to] : settings.device_map) parse_device(to);
  std::set<std::string> foreign;
  for (auto& v : g.values) {
    v->type.device = normalized(mapped(v->type.device, settings));
    if (!(v->type.device == Device{})) foreign.insert(text(v->type.device));
  }
  for (auto& n : g.nodes)
    for (Arg& a : n->args)
      if (auto* d = std::get_if<Device>(&a)) *d = normalized(mapped(*d, settings));
  require_known(g, foreign);
}

}  // namespace aotc
