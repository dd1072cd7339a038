"""A second reading of the cron rules, written for comparison and not for speed.

It shares nothing with the product: another language, a parser made of regular expressions, the
standard library's zoneinfo, and an evaluation that goes through UTC stretch by stretch instead of
asking what a zone makes of a local time.
"""

import calendar
import re
from bisect import bisect_right
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache
from zoneinfo import ZoneInfo

FIRST_YEAR, LAST_YEAR = 1970, 2199
# Instants that are compared: 1970 up to the end of 2100.
BEGIN = int(datetime(1970, 1, 1, tzinfo=timezone.utc).timestamp())
END = int(datetime(2101, 1, 1, tzinfo=timezone.utc).timestamp())

MONTHS = {n: i + 1 for i, n in enumerate(
    "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split())}
DAYS = "SUN MON TUE WED THU FRI SAT".split()
MACROS = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


class Refused(Exception):
    pass


class Expression:
    """Seconds, minutes, hours as sorted lists; the days of a month by days_of()."""

    def __init__(self, text, dialect="auto"):
        words = text.strip(" \t")
        if re.search(r"[^\x20-\x7e\t]", words):
            raise Refused("characters")
        fields = [f for f in re.split(r"[ \t]+", words) if f]
        if len(fields) == 1 and fields[0].lower() in MACROS:
            fields, dialect = MACROS[fields[0].lower()].split(), "vixie"
        if dialect == "auto":
            dialect = {5: "vixie", 6: "quartz", 7: "quartz"}.get(len(fields), "none")
        if len(fields) not in {"vixie": (5,), "quartz": (6, 7), "spring": (6,)}.get(dialect, ()):
            raise Refused("number of fields")
        self.vixie = dialect == "vixie"
        self.dialect = dialect
        if self.vixie:
            fields = ["0"] + fields
        second, minute, hour, dom, month, dow = fields[:6]
        year = fields[6] if len(fields) == 7 else "*"
        self.seconds = sorted(self.plain(second, 0, 59, 59))
        self.minutes = sorted(self.plain(minute, 0, 59, 59))
        self.hours = sorted(self.plain(hour, 0, 23, 23))
        self.months = self.plain(month, 1, 12, 12, MONTHS)
        self.any_year = year == "*"
        self.years = self.plain(year, FIRST_YEAR, LAST_YEAR, 229, digits=4, wrap=False)
        self.day_fields(dom, dow)
        self.wild = any(set(f) & set("*-/") for f in (second, minute, hour))

    def plain(self, text, low, high, widest, names=None, digits=None, wrap=True):
        """A field of numbers, ranges, steps; returns the set of values."""
        found = set()
        for item in text.split(","):
            found |= self.plain_item(item, low, high, widest, names or {}, digits, wrap)
        return found

    def plain_item(self, item, low, high, widest, names, digits, wrap):
        name = r"[A-Za-z]{3}|\d+" if names else r"\d+"
        match = re.fullmatch(rf"(?:(\*)|({name})(?:-({name}))?)?(?:/(\d+))?", item)
        if not match or item == "":
            raise Refused(item)
        star, first, last, step = match.groups()
        n = 1 if step is None else int(step)
        if n == 0 or n > widest:
            raise Refused("step")

        def value(word):
            if word.upper() in names:
                return names[word.upper()]
            if not word.isdigit() or (digits and len(word) != digits):
                raise Refused(word)
            if not low <= int(word) <= high:
                raise Refused(word)
            return int(word)

        if first is None:
            a, b = low, high
        else:
            a = value(first)
            b = value(last) if last is not None else (high if step is not None else a)
        if a <= b:
            return set(range(a, b + 1, n))
        if self.vixie or not wrap:
            raise Refused("wrap")
        size = high - low + 1
        return {low + (v - low) % size for v in range(a, b + size + 1, n)}

    # The two day fields -----------------------------------------------------------------------

    def day_fields(self, dom, dow):
        if not self.vixie:
            if dom == "?" and dow == "?":
                raise Refused("both ?")
            if dom not in "*?" and dow not in "*?":
                raise Refused("both set")
            dom = "*" if dom == "?" else dom
            dow = "*" if dow == "?" else dow
        self.either = self.vixie and not dom.startswith("*") and not dow.startswith("*")
        self.dates, self.rules = set(), []
        for item in dom.split(","):
            self.date_item(item.upper())
        self.weekdays, self.rank = set(), 0
        self.weekday_field(dow)

    def date_item(self, item):
        if not self.vixie:
            match = re.fullmatch(r"L(?:-(\d+))?(W?)", item)
            if match:
                back = int(match[1] or 0)
                if back > 30:
                    raise Refused(item)
                self.rules.append(("last", back, bool(match[2])))
                return
            match = re.fullmatch(r"(\d+)W", item)
            if match:
                if not 1 <= int(match[1]) <= 31:
                    raise Refused(item)
                self.rules.append(("near", int(match[1]), True))
                return
        self.dates |= self.plain_item(item, 1, 31, 31, {}, None, True)

    def weekday(self, word):
        """Number of a weekday in a week that starts on Sunday = 0, up to 7 = Sunday again."""
        if word.upper() in DAYS:
            number = DAYS.index(word.upper())
            return 7 if self.dialect == "spring" and number == 0 else number
        if not re.fullmatch(r"\d+", word):
            raise Refused(word)
        low, high = (1, 7) if self.dialect == "quartz" else (0, 7)
        if not low <= int(word) <= high:
            raise Refused(word)
        return int(word) - 1 if self.dialect == "quartz" else int(word)

    def weekday_field(self, text):
        if not self.vixie:
            if text.upper() == "L":
                if self.dialect == "spring":
                    raise Refused("L")
                self.weekdays = {6}
                return
            match = re.fullmatch(r"([A-Za-z]{3}|\d+)(?:#([1-5])|([Ll]))", text)
            if match:
                self.weekdays = {self.weekday(match[1]) % 7}
                self.rank = int(match[2]) if match[2] else -1
                return
        for item in text.split(","):
            self.weekdays |= self.weekday_item(item)

    def weekday_item(self, item):
        match = re.fullmatch(
            r"(?:(\*)|([A-Za-z]{3}|\d+)(?:-([A-Za-z]{3}|\d+))?)?(?:/(\d+))?", item)
        if not match or item == "":
            raise Refused(item)
        star, first, last, step = match.groups()
        n = 1 if step is None else int(step)
        if not 1 <= n <= 7:
            raise Refused("step")
        # Where the dialect's own week begins and ends, counted with Sunday = 0 or 7.
        begin, end = {"quartz": (0, 6), "spring": (1, 7), "vixie": (0, 7)}[self.dialect]
        if first is None:
            a, b = begin, end
        else:
            a = self.weekday(first)
            b = self.weekday(last) if last is not None else (end if step is not None else a)
            named_sunday = last is not None and last.upper() == "SUN"
            if self.dialect == "vixie" and named_sunday and a > 0:
                b = 7
            if a > b:
                if self.vixie:
                    raise Refused("wrap")
                b += 7
        return {v % 7 for v in range(a, b + 1, n)}

    # Dates ------------------------------------------------------------------------------------

    def nearest(self, year, month, day, last):
        """The day from Monday to Friday that is closest, in the month."""
        best = None
        for other in range(max(1, day - 3), min(last, day + 3) + 1):
            if date(year, month, other).weekday() < 5:
                if best is None or abs(other - day) < abs(best - day):
                    best = other
        return best

    def by_date(self, year, month, last):
        days = {d for d in self.dates if d <= last}
        for kind, number, to_weekday in self.rules:
            day = last - number if kind == "last" else number
            if 1 <= day <= last:
                days.add(self.nearest(year, month, day, last) if to_weekday else day)
        return days

    def by_weekday(self, year, month, last):
        days = [d for d in range(1, last + 1)
                if date(year, month, d).isoweekday() % 7 in self.weekdays]
        if self.rank == 0:
            return set(days)
        if self.rank < 0:
            return {days[-1]}
        return set(days[self.rank - 1:self.rank])

    def days_of(self, year, month):
        if month not in self.months:
            return set()
        if not self.any_year and year not in self.years:
            return set()
        last = calendar.monthrange(year, month)[1]
        a, b = self.by_date(year, month, last), self.by_weekday(year, month, last)
        return a | b if self.either else a & b

    def dates_between(self, first, last, cache):
        """Matching dates in [first, last], as ordinals."""
        year, month = first.year, first.month
        while (year, month) <= (last.year, last.month):
            key = (year, month)
            if key not in cache:
                cache[key] = sorted(date(year, month, d).toordinal()
                                    for d in self.days_of(year, month))
            for ordinal in cache[key]:
                if first.toordinal() <= ordinal <= last.toordinal():
                    yield ordinal
            year, month = (year, month + 1) if month < 12 else (year + 1, 1)


# Zones ----------------------------------------------------------------------------------------

@lru_cache(maxsize=None)
def stretches(name):
    """(start, offset) of each stretch of UTC with one offset, 1969-12-25 … 2101-01-05.

    Three-hour steps, then bisection to the second."""
    zone = ZoneInfo(name)

    def offset(u):
        delta = datetime.fromtimestamp(u, zone).utcoffset()
        return delta.days * 86400 + delta.seconds

    low = BEGIN - 7 * 86400
    found = [(low, offset(low))]
    step = 3 * 3600
    for u in range(low + step, END + 5 * 86400, step):
        value = offset(u)
        if value == found[-1][1]:
            continue
        a, b = u - step, u
        while b - a > 1:
            middle = (a + b) // 2
            if offset(middle) == found[-1][1]:
                a = middle
            else:
                b = middle
        found.append((b, value))
        if offset(b) != value:
            raise AssertionError(f"two changes within three hours: {name} at {b}")
    return found


EPOCH = date(1970, 1, 1).toordinal()


def times_between(expression, first, last):
    """Local seconds of the day in [first, last], ascending."""
    for hour in expression.hours:
        if (hour + 1) * 3600 <= first or hour * 3600 > last:
            continue
        for minute in expression.minutes:
            base = hour * 3600 + minute * 60
            if base + 60 <= first or base > last:
                continue
            for second in expression.seconds:
                if first <= base + second <= last:
                    yield base + second


def local_between(expression, low, high, cache):
    """Matching local seconds (days since 1970 × 86400 + second of day) in [low, high)."""
    if low >= high:
        return
    first = date.fromordinal(EPOCH + low // 86400)
    last = date.fromordinal(EPOCH + (high - 1) // 86400)
    for ordinal in expression.dates_between(first, last, cache):
        day = (ordinal - EPOCH) * 86400
        for second in times_between(expression, max(low - day, 0), min(high - 1 - day, 86399)):
            yield day + second


def fires(expression, zone, after, count, fixed, cache):
    """The first `count` instants after `after` and before END, ascending."""
    parts = stretches(zone)
    as_fixed = fixed or not expression.wild
    found = []
    index = max(bisect_right(parts, (after, 10**9)) - 1, 0)
    # Back far enough that the furthest local time already reached is known.
    index = max(index - 3, 0)
    reached = parts[index][0] + parts[index][1] - 86400 * 2
    while index < len(parts) and len(found) < count:
        start, offset = parts[index]
        end = parts[index + 1][0] if index + 1 < len(parts) else END + 5 * 86400
        low, high = start + offset, end + offset
        if as_fixed:
            previous = parts[index - 1][1] + start if index > 0 else low
            if previous < low and reached <= previous and start > after:
                if gap_fires(expression, previous, low, cache) and start < END:
                    found.append(start)
                    if len(found) == count:
                        break
            begin = max(low, min(reached, high)) if reached > low else low
        else:
            begin = low
        begin = max(begin, after + 1 + offset)
        for local in local_between(expression, begin, min(high, END + offset), cache):
            instant = local - offset
            if not (found and found[-1] == instant):
                found.append(instant)
            if len(found) == count:
                break
        reached = max(reached, high)
        index += 1
    return found


def gap_fires(expression, low, high, cache):
    """Whether a time in the gap [low, high) moves to its end: one of a date that exists."""
    for local in local_between(expression, low, high, cache):
        day = local // 86400 * 86400
        if not (low <= day and day + 86400 <= high):
            return True
    return False
