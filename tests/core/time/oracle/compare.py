"""Compares the product with the oracle on random expressions, zones and instants.

    compare.py --driver build/debug/bin/cron_driver --zoneinfo tests/data/zoneinfo
               [--seed 1] [--expressions 2000] [--pairs 6] [--zones 40]

Prints the counts and every difference; exits with 1 when there is one.
"""

import argparse
import os
import random
import subprocess
import sys
import time
import zoneinfo

import cron_oracle
from cron_oracle import BEGIN, DAYS, END, MONTHS, Expression, Refused

MONTH_NAMES = list(MONTHS)


class Generator:
    """Random expressions, most of them valid, over all forms of the three dialects."""

    def __init__(self, rng):
        self.rng = rng

    def number(self, low, high):
        r = self.rng
        if r.random() < 0.006:
            return str(r.choice([low - 1, high + 1, 99, 4294967297]))
        text = str(r.randint(low, high))
        return "0" + text if r.random() < 0.02 else text

    def name_or_number(self, low, high, names):
        if names and self.rng.random() < 0.5:
            name = self.rng.choice(names)
            return self.rng.choice([name, name.lower(), name.capitalize()])
        return self.number(low, high)

    def item(self, low, high, names=None):
        r = self.rng
        value = lambda: self.name_or_number(low, high, names)
        kind = r.random()
        if kind < 0.45:
            return value()
        if kind < 0.65:
            a, b = r.randint(low, high), r.randint(low, high)
            if r.random() < 0.75:
                a, b = min(a, b), max(a, b)
            if names and r.random() < 0.4:
                return f"{value()}-{value()}"
            text = f"{a}-{b}"
            return f"{text}/{self.number(1, max(2, high // 3))}" if r.random() < 0.3 else text
        if kind < 0.78:
            return f"*/{self.number(1, high)}"
        if kind < 0.9:
            return f"{value()}/{self.number(1, high)}"
        if kind < 0.94:
            return f"/{self.number(1, high)}"
        return "*"

    def field(self, low, high, names=None, simple=0.5):
        r = self.rng
        if r.random() < simple:
            return r.choice(["*", "0", self.number(low, high)]) if low == 0 else \
                r.choice(["*", self.number(low, high)])
        return ",".join(self.item(low, high, names) for _ in range(r.choice([1, 1, 1, 2, 3])))

    def dates(self, dialect):
        r = self.rng
        if dialect == "vixie" or r.random() < 0.5:
            return self.field(1, 31)
        special = lambda: r.choice(
            ["L", "LW", f"L-{r.randint(0, 31)}", f"L-{r.randint(0, 30)}W", f"{r.randint(0, 32)}W",
             f"{r.randint(1, 31)}W", "l", "1w", str(r.randint(1, 31))])
        return ",".join(special() for _ in range(r.choice([1, 1, 2, 3])))

    def weekdays(self, dialect):
        r = self.rng
        low = 1 if dialect == "quartz" else 0
        if dialect != "vixie" and r.random() < 0.35:
            day = self.name_or_number(low, 7, DAYS)
            return r.choice([f"{day}#{r.randint(1, 5)}", f"{day}L", f"{day}#{r.randint(0, 6)}", "L"])
        return self.field(low, 7, DAYS, simple=0.3)

    def years(self):
        r = self.rng
        return r.choice(["*", str(r.randint(1970, 2105)), f"{r.randint(1970, 2100)}/{r.randint(1, 30)}",
                         f"{r.randint(1970, 2040)}-{r.randint(2030, 2199)}", "*/7",
                         f"{r.randint(1968, 2201)}"])

    def expression(self):
        r = self.rng
        dialect = r.choice(["auto", "auto", "quartz", "spring", "vixie"])
        real = dialect if dialect != "auto" else r.choice(["quartz", "vixie"])
        if r.random() < 0.01:
            return dialect, r.choice(["@daily", "@hourly", "@weekly", "@yearly", "@monthly"])
        dom, dow = self.dates(real), self.weekdays(real)
        if real != "vixie" and r.random() < 0.9:
            free = r.choice(["?", "?", "*"])
            dom, dow = (dom, free) if r.random() < 0.5 else (free, dow)
        hours = r.choice(["0,1,2,3", "2", "1", "0", "1-3", "23", self.field(0, 23)]) \
            if r.random() < 0.6 else self.field(0, 23)
        fields = [self.field(0, 59), hours, dom, self.field(1, 12, MONTH_NAMES, simple=0.7), dow]
        if real != "vixie":
            fields.insert(0, self.field(0, 59, simple=0.8))
        if real == "quartz" and r.random() < 0.25:
            fields.append(self.years())
        return dialect, self.spoil(r.choice([" ", " ", "  "]).join(fields))

    def spoil(self, text):
        r = self.rng
        if r.random() > 0.08:
            return text
        at = r.randrange(len(text) + 1)
        change = r.choice(["insert", "insert", "delete", "double"])
        if change == "delete":
            return text[:at] + text[at + 1:]
        if change == "double":
            return text[:at] + text[max(0, at - 1):]
        return text[:at] + r.choice("*/-,#LW?0159 xA.+") + text[at:]


def instants(rng, zone, changes_share=0.5):
    parts = cron_oracle.stretches(zone)
    if len(parts) > 1 and rng.random() < changes_share:
        start = parts[rng.randrange(1, len(parts))][0]
        if rng.random() < 0.3:
            return start + rng.choice([-1, 0, 1, -3600, 3600, -1800, 1800])
        return start + rng.randint(-90000, 90000)
    return rng.randint(BEGIN, END - 86400)


def expected(expression, fixed, pairs, cache):
    answers = []
    for zone, start, count in pairs:
        found = cron_oracle.fires(expression, zone, start, count, fixed, cache)
        answers.append(found + ["end"] * (count - len(found)))
    return answers


def actual(answer, pairs):
    """The driver's answer in the same form: what lies beyond the range is 'end'."""
    if answer == "REJECT":
        return answer
    answers = []
    for text, (_, _, count) in zip(answer.split(" "), pairs):
        found = []
        for word in text.split(","):
            value = END if word == "never" else int(word)
            found.append(value if value < END else "end")
        answers.append((found + ["end"] * count)[:count])
    return answers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--driver", required=True)
    parser.add_argument("--zoneinfo", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--expressions", type=int, default=2000)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--zones", type=int, default=40, help="0: all")
    options = parser.parse_args()

    zoneinfo.reset_tzpath(to=[os.path.abspath(options.zoneinfo)])
    rng = random.Random(options.seed)
    zones = sorted(zoneinfo.available_timezones() - {"Factory", "localtime"})
    if options.zones:
        always = ["America/New_York", "Pacific/Apia", "Australia/Lord_Howe", "Africa/Casablanca"]
        zones = always + rng.sample(zones, options.zones)
    environment = dict(os.environ, TZDIR=os.path.abspath(options.zoneinfo))
    driver = subprocess.Popen([options.driver], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True, env=environment)
    generator = Generator(rng)
    begin = time.monotonic()
    refused = compared = differences = 0
    for done in range(options.expressions):
        if done and done % 5000 == 0:
            print(f"{done} expressions, {compared} evaluations, {differences} differences",
                  file=sys.stderr, flush=True)
        dialect, text = generator.expression()
        rule = rng.choice(["written", "written", "fixed"])
        pairs = []
        for _ in range(options.pairs):
            zone = rng.choice(zones)
            pairs.append((zone, instants(rng, zone), rng.choice([1, 2, 4])))
        line = "\t".join([rule, dialect, text] + [str(x) for pair in pairs for x in pair])
        driver.stdin.write(line + "\n")
        driver.stdin.flush()
        answer = actual(driver.stdout.readline().rstrip("\n"), pairs)
        try:
            wanted = expected(Expression(text, dialect), rule == "fixed", pairs, {})
            compared += len(pairs)
        except Refused:
            wanted = "REJECT"
            refused += 1
        if answer != wanted:
            differences += 1
            if differences <= 20:
                print(f"DIFFERENCE {line!r}\n  oracle  {wanted}\n  product {answer}")
    driver.stdin.close()
    driver.wait()
    print(f"seed {options.seed}: {options.expressions} expressions ({refused} refused by the "
          f"oracle), {compared} evaluations compared in {len(set(zones))} zones, "
          f"{differences} differences, {time.monotonic() - begin:.0f} s")
    return 1 if differences or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
