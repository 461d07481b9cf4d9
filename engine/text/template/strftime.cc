#include "engine/text/template/strftime.h"

#include <array>
#include <optional>

#include "absl/time/civil_time.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                   "Friday", "Saturday", "Sunday"};
constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};
constexpr size_t kShortName = 3;

struct Moment {
  explicit Moment(absl::Time time)
      : second(absl::ToCivilSecond(time, absl::UTCTimeZone())),
        unix_seconds(absl::ToUnixSeconds(time)),
        microseconds(absl::ToInt64Microseconds(time - absl::FromUnixSeconds(unix_seconds))),
        weekday(static_cast<int>(absl::GetWeekday(absl::CivilDay(second)))),
        year_day(absl::GetYearDay(absl::CivilDay(second))) {}

  const absl::CivilSecond second;
  const int64_t unix_seconds;
  const int64_t microseconds;
  const int weekday;   // 0 is Monday
  const int year_day;  // from 1
};

// ISO 8601's week and the year it belongs to: those of the Thursday of the same week.
struct IsoWeek {
  explicit IsoWeek(const Moment& moment) {
    constexpr int kThursday = 3, kDaysPerWeek = 7;
    const absl::CivilDay thursday = absl::CivilDay(moment.second) + (kThursday - moment.weekday);
    year = thursday.year();
    week = (absl::GetYearDay(thursday) - 1) / kDaysPerWeek + 1;
  }
  int64_t year;
  int week;
};

// A number padded to `width`, with zeros or with what the flag asks for.
std::string Number(int64_t value, int width, char flag, char usual_fill = '0') {
  if (flag == '-') return fmt::format("{}", value);
  const char fill = flag == '_' ? ' ' : (flag == '0' ? '0' : usual_fill);
  return fill == '0' ? fmt::format("{:0{}}", value, width) : fmt::format("{:{}}", value, width);
}

int HourOf12(int hour) { return hour % 12 == 0 ? 12 : hour % 12; }

std::optional<std::string> Names(char directive, const Moment& m) {
  const std::string_view day = kDays[static_cast<size_t>(m.weekday)];
  const std::string_view month = kMonths[static_cast<size_t>(m.second.month() - 1)];
  switch (directive) {
    case 'a':
      return std::string(day.substr(0, kShortName));
    case 'A':
      return std::string(day);
    case 'b':
    case 'h':
      return std::string(month.substr(0, kShortName));
    case 'B':
      return std::string(month);
    case 'p':
      return m.second.hour() < 12 ? "AM" : "PM";
    case 'P':
      return m.second.hour() < 12 ? "am" : "pm";
    case 'Z':
    case 'z':
      return "";
    case 'n':
      return "\n";
    case 't':
      return "\t";
    case '%':
      return "%";
    default:
      return std::nullopt;
  }
}

std::optional<std::string> Numbers(char directive, char flag, const Moment& m) {
  const absl::CivilSecond& t = m.second;
  constexpr int kDaysPerWeek = 7;
  switch (directive) {
    case 'd':
      return Number(t.day(), 2, flag);
    case 'e':
      return Number(t.day(), 2, flag, ' ');
    case 'm':
      return Number(t.month(), 2, flag);
    case 'y':
      return Number(t.year() % 100, 2, flag);
    case 'Y':
      return Number(t.year(), 1, flag);
    case 'C':
      return Number(t.year() / 100, 2, flag);
    case 'H':
      return Number(t.hour(), 2, flag);
    case 'k':
      return Number(t.hour(), 2, flag, ' ');
    case 'I':
      return Number(HourOf12(t.hour()), 2, flag);
    case 'l':
      return Number(HourOf12(t.hour()), 2, flag, ' ');
    case 'M':
      return Number(t.minute(), 2, flag);
    case 'S':
      return Number(t.second(), 2, flag);
    case 'f':
      return Number(m.microseconds, 6, '0');
    case 'j':
      return Number(m.year_day, 3, flag);
    case 's':
      return Number(m.unix_seconds, 1, flag);
    case 'u':
      return Number(m.weekday + 1, 1, flag);
    case 'w':
      return Number((m.weekday + 1) % kDaysPerWeek, 1, flag);
    case 'U':
      return Number((m.year_day - 1 + kDaysPerWeek - (m.weekday + 1) % kDaysPerWeek) / kDaysPerWeek, 2, flag);
    case 'W':
      return Number((m.year_day - 1 + kDaysPerWeek - m.weekday) / kDaysPerWeek, 2, flag);
    case 'V':
      return Number(IsoWeek(m).week, 2, flag);
    case 'G':
      return Number(IsoWeek(m).year, 1, flag);
    case 'g':
      return Number(IsoWeek(m).year % 100, 2, flag);
    default:
      return std::nullopt;
  }
}

std::string_view Composite(char directive) {
  switch (directive) {
    case 'c':
      return "%a %b %e %H:%M:%S %Y";
    case 'x':
    case 'D':
      return "%m/%d/%y";
    case 'X':
    case 'T':
      return "%H:%M:%S";
    case 'R':
      return "%H:%M";
    case 'r':
      return "%I:%M:%S %p";
    case 'F':
      return "%Y-%m-%d";
    default:
      return "";
  }
}

}  // namespace

std::string Strftime(std::string_view format, absl::Time time) {
  const Moment moment(time);
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    size_t at = i + 1;
    const bool has_flag = at + 1 < format.size() && (format[at] == '-' || format[at] == '_' || format[at] == '0');
    const char flag = has_flag ? format[at++] : '\0';
    if (format[i] != '%' || at >= format.size()) {
      out.push_back(format[i]);
      continue;
    }
    std::optional<std::string> text = Names(format[at], moment);
    if (!text) text = Numbers(format[at], flag, moment);
    if (const std::string_view parts = Composite(format[at]); !parts.empty()) text = Strftime(parts, time);
    out += text ? *text : std::string(format.substr(i, at - i + 1));
    i = at;
  }
  return out;
}

}  // namespace headstart::jinja
