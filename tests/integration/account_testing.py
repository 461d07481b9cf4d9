"""What the tests of the account share: a server's files, and the account as seen from all sides."""

import functools
import json
import os
import re
import tempfile
import time
import unittest

from account_callers import KEYS, PATIENCE_SECONDS, PREFIXES, TIERS, Caller, bill_of_json
from headstart_testing import Client, Server, run

FIGURES = ("prompt", *TIERS, "computed", "write", "completion", "cost", "without", "saved")
# A pool in which requests make room for each other.
SMALL = ("--kv-cache-size", "2MiB", "--max-context-tokens", "512", "--max-running", "8", "--host-cache-size", "1MiB")
USAGE = "headstart.v1.UsageService"
PRICES = {"input": "1.234567891", "device": "0.100000007", "host": "0.2", "disk": "0.3", "remote": "0.4",
          "write": "0.25", "output": "4.1", "storage": "0.05"}


def nanos(price):
    """Nano-units, of a price that is written as a decimal."""
    units, _, decimals = str(price).partition(".")
    return int(units) * 10**9 + int(decimals.ljust(9, "0") or 0)


def charge(bill, prices):
    """Cost and cost without a cache of a bill, as docs/accounting.md has it."""
    def rounded(exact):
        return (exact + 500_000) // 1_000_000
    price = {name: nanos(amount) for name, amount in prices.items()}
    answer = bill["completion"] * price["output"]
    cost = answer + bill["computed"] * price["input"] + bill["write"] * price["write"]
    cost += sum(bill[tier] * price[tier] for tier in TIERS)
    return rounded(cost), rounded(answer + bill["prompt"] * price["input"])


def price_version(name, effective_from, prices):
    cached = ", ".join(f"{tier}: {prices[tier]}" for tier in TIERS)
    return (f"  - version: {name}\n    effective_from: {effective_from}\n    models:\n      \"*\":\n"
            f"        {{input: {prices['input']}, cached_input: {{{cached}}}, cache_write: {prices['write']}, "
            f"output: {prices['output']}, storage: {prices['storage']}}}\n")


def price_book(*versions):
    return "currency: USD\nversions:\n" + "".join(versions)


@functools.cache
def make_keys():
    """The keys by their ids, and the file that knows them."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "keys.yaml")
        keys = {}
        for key_id, (tenant, role) in KEYS.items():
            made = run("key", "create", "--id", key_id, "--tenant", tenant, "--role", role, "--file", path)
            assert made.returncode == 0, made.stderr
            keys[key_id] = made.stdout.strip()
        with open(path, encoding="utf-8") as file:
            return keys, file.read()


class Site:
    """A server's files, and the server on them, however often it is started."""

    def __init__(self, folder, *flags):
        self.folder = folder
        self.flags = flags
        self.keys_file, self.prices_file = self.path("keys.yaml"), self.path("prices.yaml")
        self.keys, key_file = make_keys()
        self.replace(self.keys_file, key_file)
        self.replace(self.prices_file, price_book(price_version("first", "2026-01-01T00:00:00Z", PRICES)))

    def path(self, name):
        return os.path.join(self.folder, name)

    def replace(self, path, text):
        """As editors and Kubernetes do it: whole or not at all."""
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)

    def start(self):
        return Station(self)


class Station:
    """A running server of a site. Leaving the context kills it."""

    def __init__(self, site):
        self.site = site
        self.server = Server("--keys", site.keys_file, "--prices", site.prices_file, "--ledger-dir", site.path("ledger"),
                             *site.flags)
        self.http_address = re.search(r"http=http://(\S+)", self.server.wait_for_log("serving model=")).group(1)
        self.client = Client(self.server.address)
        for service, method in (("headstart.v1.InferenceService", "Generate"), (PREFIXES, "CreatePrefix"),
                                (USAGE, "ListUsage")):
            self.client.method(service, method)  # reflection, before threads share the client

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.__exit__()
        self.server.__exit__()

    def caller(self, key_id, metadata=()):
        return Caller(self, key_id, metadata)

    def account(self):
        return Account.read(self)

    def settled_account(self, before=None):
        """Once nothing runs, and the records of what was cut off are written. `before`: as the server found it."""
        def settled():
            page = self.metrics()
            if page.sum("headstart_requests_running") + page.sum("headstart_requests_waiting"):
                return None
            account = self.account()
            attempts = account.attempts() - (before.attempts() if before else 0)
            return account if attempts == page.sum("headstart_requests_total") else None
        return wait_for(settled, "an account with as many attempts as requests that ended")

    def metrics(self):
        status, _, body = self.caller("ops").http("GET", "/metrics")
        assert status == 200, body
        return Metrics(body.decode())

    def command(self, *arguments, key_id="ops"):
        environment = {**os.environ, "HEADSTART_API_KEY": self.site.keys[key_id]}
        result = run(*arguments, "--server", self.server.address, env=environment)
        assert result.returncode == 0, result.stderr
        return result.stdout


def wait_for(look, what):
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        if found := look():
            return found
        time.sleep(0.05)  # between two looks at another process
    raise AssertionError(f"waited {PATIENCE_SECONDS} s in vain for {what}")


class Metrics:
    """A page of metrics."""

    def __init__(self, page):
        self.samples = []
        for name, labels, value in re.findall(r"(?m)^([a-z][\w:]*)(?:\{(.*)\})? (\S+)$", page):
            self.samples.append((name, dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(value)))

    def sum(self, name, **labels):
        values = [value for sample, has, value in self.samples if sample == name and labels.items() <= has.items()]
        return int(sum(values))

    def figures(self, tenant):
        """What has been counted for a tenant since the server began, as an account's sums."""
        sources = {tier: self.sum("headstart_prompt_tokens_total", tenant=tenant, source=tier)
                   for tier in (*TIERS, "computed")}
        cost = self.sum("headstart_cost_nanos_total", tenant=tenant, currency="USD")
        without = self.sum("headstart_cost_without_cache_nanos_total", tenant=tenant, currency="USD")
        return {"prompt": sum(sources.values()), **sources,
                "write": self.sum("headstart_cache_write_tokens_total", tenant=tenant),
                "completion": self.sum("headstart_completion_tokens_total", tenant=tenant),
                "cost": cost, "without": without, "saved": without - cost}


def total(bills):
    bills = list(bills)
    return {figure: sum(bill[figure] for bill in bills) for figure in FIGURES}


class Account:
    """The records as `headstart usage export` writes them, by (tenant, request id)."""

    def __init__(self, entries):
        self.entries = {}
        for entry in entries:
            place = (entry["tenant"], entry["request_id"])
            assert place not in self.entries, f"{place} is in the account twice"
            entry["bill"] = bill_of_json(entry["usage"], entry["charge"])
            self.entries[place] = entry

    @staticmethod
    def read(station):
        exported = station.command("usage", "export", "--format", "jsonl")
        return Account(json.loads(line) for line in exported.splitlines())

    def attempts(self):
        return sum(int(entry["attempts"]) for entry in self.entries.values() if entry["kind"] != "USAGE_KIND_STORAGE")

    def tenants(self):
        return sorted({tenant for tenant, _ in self.entries})

    def figures(self, tenant):
        return total(entry["bill"] for (owner, _), entry in self.entries.items() if owner == tenant)

    @staticmethod
    def sums(station):
        """What `headstart usage` says of each tenant."""
        listed = json.loads(station.command("usage", "--by", "tenant", "--json"))
        return {group["tenant"]: bill_of_json(group["totals"]["usage"], group["totals"]["charge"])
                for group in listed.get("groups", [])}


class SiteTest(unittest.TestCase):
    def site(self, *flags):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Site(folder.name, *flags)

    def start(self, site):
        station = site.start()
        self.addCleanup(station.__exit__)
        return station

    def assert_told(self, account, notebook):
        """Every record says what its caller was told, every receipt has its record, and nobody else has one."""
        known = {}
        for place, answers in notebook.attempts.items():
            expected = notebook.expected(place)
            entry = account.entries.get(place)
            if any(answer.bill and answer.receipt["recorded"] for answer in answers):
                self.assertIsNotNone(entry, place)
            if expected is not None:
                self.assertEqual(entry["bill"], expected, place)
                known[place] = expected
            elif entry is not None:
                self.assertGreaterEqual(entry["bill"]["completion"], max(answer.tokens for answer in answers), place)
        unknown = account.entries.keys() - notebook.attempts.keys()
        strangers = [place for place in unknown if account.entries[place]["kind"] != "USAGE_KIND_STORAGE"]
        self.assertEqual(strangers, [])
        self.assertEqual(total(known.values()), total(account.entries[place]["bill"] for place in known))
        return known

    def assert_sums(self, station, account, before=None):
        """Records, sums and what the metrics grew by since the server began: all the same."""
        sums = Account.sums(station)
        page = station.metrics()
        self.assertEqual(sorted(sums), account.tenants())
        for tenant in account.tenants():
            figures = account.figures(tenant)
            self.assertEqual(sums[tenant], figures, tenant)
            recorded = before.figures(tenant) if before else dict.fromkeys(FIGURES, 0)
            grown = {figure: figures[figure] - recorded[figure] for figure in FIGURES}
            self.assertEqual(page.figures(tenant), grown, tenant)
        return page

    def assert_sound(self, account):
        """Each record by itself: its parts make the whole, and its price is that of its parts."""
        for place, entry in account.entries.items():
            if entry["kind"] == "USAGE_KIND_STORAGE":
                continue
            bill = entry["bill"]
            cached = sum(bill[tier] for tier in TIERS)
            self.assertEqual(bill["prompt"], cached + bill["computed"], place)
            # Of a prompt that was cut short, what was found and computed is all there is.
            is_whole = entry["finish_reason"] in ("FINISH_REASON_STOP", "FINISH_REASON_LENGTH")
            self.assertLessEqual(cached, bill["prompt"] - is_whole, place)
            self.assertEqual((bill["cost"], bill["without"]), charge(bill, PRICES), place)
            self.assertEqual(bill["saved"], bill["without"] - bill["cost"], place)
