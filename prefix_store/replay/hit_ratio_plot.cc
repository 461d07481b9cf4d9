#include "prefix_store/replay/hit_ratio_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "fmt/format.h"

namespace headstart {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 440;
constexpr double kLeft = 60;
constexpr double kRight = 150;  // room for the names
constexpr double kTop = 40;
constexpr double kBottom = 50;

// Okabe and Ito's, which people who are colour-blind tell apart as well.
constexpr std::array kColours = {"#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#555555"};

// What the axes span.
struct Frame {
  double least_log = 0;
  double most_log = 1;
  double most_ratio = 0.1;

  double X(double capacity) const {
    return kLeft + (std::log10(capacity) - least_log) / (most_log - least_log) * (kWidth - kLeft - kRight);
  }
  double Y(double ratio) const { return kHeight - kBottom - ratio / most_ratio * (kHeight - kTop - kBottom); }
};

Frame FrameAround(std::span<const HitRatioCurve> curves) {
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t most = 1;
  double ratio = 0.05;
  for (const HitRatioCurve& curve : curves) {
    for (const HitRatioPoint& point : curve.points) {
      least = std::min(least, point.capacity_blocks);
      most = std::max(most, point.capacity_blocks);
      ratio = std::max(ratio, point.block_hit_ratio);
    }
  }
  least = std::min(least, most);
  const double least_log = std::log10(static_cast<double>(least));
  return {.least_log = least_log,
          .most_log = std::max(std::log10(static_cast<double>(most)), least_log + 0.1),
          .most_ratio = std::ceil(ratio * 20) / 20};
}

std::string Text(double x, double y, std::string_view anchor, std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      escaped += c;
    }
  }
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped);
}

std::string Line(double x1, double y1, double x2, double y2) {
  return fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"#ddd\"/>\n", x1, y1, x2, y2);
}

std::string Grid(const Frame& frame) {
  std::string svg;
  const double step = frame.most_ratio > 0.5 ? 0.1 : 0.05;
  for (int i = 0; i * step <= frame.most_ratio + 1e-9; ++i) {
    const double y = frame.Y(i * step);
    svg += Line(kLeft, y, kWidth - kRight, y) + Text(kLeft - 8, y + 4, "end", fmt::format("{:.2f}", i * step));
  }
  for (int power = static_cast<int>(std::ceil(frame.least_log)); power <= frame.most_log; ++power) {
    const double capacity = std::pow(10, power);
    const double x = frame.X(capacity);
    svg += Line(x, kTop, x, kHeight - kBottom) +
           Text(x, kHeight - kBottom + 18, "middle", fmt::format("{:.0f}", capacity));
  }
  return svg;
}

std::string Path(const HitRatioCurve& curve, const Frame& frame, std::string_view colour) {
  std::string path;
  for (const HitRatioPoint& point : curve.points) {
    fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", path.empty() ? "M" : "L",
                   frame.X(static_cast<double>(point.capacity_blocks)), frame.Y(point.block_hit_ratio));
  }
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, colour);
}

}  // namespace

std::string HitRatioPlot(std::string_view title, std::span<const HitRatioCurve> curves) {
  const Frame frame = FrameAround(curves);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      kWidth, kHeight);
  svg += Text(kLeft, 22, "start", title) + Grid(frame);
  svg += Text((kLeft + kWidth - kRight) / 2, kHeight - 12, "middle", "capacity in blocks");
  double y = kTop + 10;
  for (size_t i = 0; i < curves.size(); ++i, y += 20) {
    const auto colour = kColours[i % kColours.size()];
    svg += Path(curves[i], frame, colour);
    svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"4\" fill=\"{}\"/>\n", kWidth - kRight + 12, y - 6,
                       colour);
    svg += Text(kWidth - kRight + 32, y, "start", curves[i].name);
  }
  return svg + "</svg>\n";
}

}  // namespace headstart
