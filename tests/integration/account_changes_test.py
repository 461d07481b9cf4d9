"""Prices, budgets and keys that change under a running server, and what callers and the account see of it."""

import datetime
import os
import random
import signal
import sys
import threading
import time
import unittest

from account_callers import code_of, reason_of
from account_load import prompt
from account_testing import PRICES, SMALL, SiteTest, charge, price_book, price_version, wait_for
from headstart_testing import DEMO_MODEL, grpc, run, serve


class ChangingFilesTest(SiteTest):
    def test_a6_prices_change_under_load(self):
        site = self.site(*SMALL)
        station, stopped = self.start(site), threading.Event()
        dearer = {**PRICES, "input": "7", "output": "9.5"}
        noon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=3)
        answers, rng = [], random.Random(6)

        def work(number):
            caller = station.caller(("ann", "gil")[number % 2])
            while not stopped.is_set():
                send = rng.choice((caller.generate, caller.complete, caller.stream))
                answers.append((caller.tenant, send(prompt(rng, 50), 30)))
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        first = price_version("first", "2026-01-01T00:00:00Z", PRICES)
        second = price_version("second", noon.isoformat(), dearer)
        site.replace(site.prices_file, price_book(first, second))
        station.server.wait_for_log(" info .*prices.yaml was read anew")
        wait_for(lambda: any(answer.receipt["version"] == "second" for _, answer in list(answers)), "the second version")
        site.replace(site.prices_file, price_book(first, second) + "  - version: third\n    effective_form: never\n")
        broken = station.server.wait_for_log(" warning .*prices.yaml.*last good version")
        self.assertRegex(broken, r"line 1\d")
        count = len(answers)
        wait_for(lambda: len(answers) > count + 8, "more answers")
        stopped.set()
        for thread in threads:
            thread.join()
        account = station.settled_account()
        seen = set()
        for tenant, answer in answers:
            entry = account.entries[(tenant, answer.request_id)]
            began = datetime.datetime.fromisoformat(entry["start_time"][:26].rstrip("Z") + "+00:00")
            version = "second" if began >= noon else "first"
            seen.add((version, answer.receipt["version"]))
            self.assertEqual(entry["charge"]["price_version"], version)
            prices = dearer if version == "second" else PRICES
            self.assertEqual((entry["bill"]["cost"], entry["bill"]["without"]), charge(entry["bill"], prices))
            self.assertEqual(entry["bill"], answer.bill)
        self.assertEqual(seen, {("first", "first"), ("second", "second")})
        self.assert_sums(station, account)

    def budget(self, site, soft, hard, currency="USD"):
        with open(site.keys_file, encoding="utf-8") as file:
            keys = file.read().partition("tenants:")[0]
        site.replace(site.keys_file, f"{keys}tenants:\n  acme: {{budget: {{period: day, currency: {currency}, soft: {soft}, "
                                     f"hard: {hard}}}}}\n")

    def test_budgets_warn_refuse_and_are_raised(self):
        site = self.site()
        self.budget(site, "0.0005", "0.001")
        station = self.start(site)
        ann, bob, rng = station.caller("ann"), station.caller("bob"), random.Random(8)
        warnings, spent = [], 0
        while spent < 10**6:
            send = rng.choice((ann.generate, ann.complete, bob.stream))
            answer = send(prompt(rng, 20), 25)
            spent += answer.bill["cost"]
            self.assertEqual(answer.receipt["warning"], spent >= 5 * 10**5)
            warnings.append(answer.receipt["warning"])
        self.assertIn(False, warnings)
        midnight = 86400 - time.time() % 86400
        refused = ann.generate([1, 2, 3], 1, "refused").refusal
        self.assertEqual(refused.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        for detail in (b"google.rpc.QuotaFailure", b"google.rpc.RetryInfo", b"BUDGET_EXHAUSTED"):
            self.assertIn(detail, reason_of(refused))
        for send in (bob.complete, bob.stream):
            status, headers, error = send([1, 2, 3], 1, "refused").refusal
            self.assertEqual((status, error["code"]), (429, "insufficient_quota"))
            self.assertLessEqual(abs(int(headers["Retry-After"]) - midnight), 60)
        self.assertEqual(code_of(ann.create_prefix("p", [1, 2, 3], "refused").refusal), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertIsNotNone(station.caller("gil").generate([1, 2, 3], 1).bill, "another tenant has money")
        account = station.settled_account()
        self.assertEqual(account.figures("acme")["cost"], spent)
        self.assertNotIn(("acme", "refused"), account.entries)
        self.budget(site, "0.0005", "1")
        wait_for(lambda: ann.generate([1, 2, 3], 1).bill, "the higher budget")
        self.assertTrue(bob.complete([1, 2, 3], 1).receipt["warning"])
        for command in ("chat", "generate"):
            said = run(command, "x", "--max-tokens", "1", "--server", station.server.address,
                       env={**os.environ, "HEADSTART_API_KEY": site.keys["ann"]}).stderr
            self.assertIn("soft budget", said)
        # The next server has not forgotten what was spent.
        station.server.signal(signal.SIGKILL)
        station.server.wait()
        self.budget(site, "0.0005", "0.001")
        again = self.start(site)
        self.assertEqual(code_of(again.caller("ann").generate([1, 2, 3], 1).refusal), grpc.StatusCode.RESOURCE_EXHAUSTED)

    def test_budgets_that_no_charge_counts_against_are_refused_or_said(self):
        site = self.site()
        self.budget(site, "1", "2", "EUR")
        for prices in (["--prices", site.prices_file], []):
            refused = serve("--model", DEMO_MODEL, "--keys", site.keys_file, *prices)
            self.assertEqual(refused.returncode, 1)
            self.assertIn('tenant "acme" has a budget', refused.stderr)
            self.assertIn("in EUR, and the price book charges in USD" if prices else "--prices", refused.stderr)
        self.budget(site, "1", "2")
        station = self.start(site)
        self.budget(site, "1", "2", "EUR")
        station.server.wait_for_log(" warning .*budget in EUR.*write the budget in USD")

    def test_revoked_key_ends_within_seconds_and_running_answers_finish(self):
        site = self.site("--kv-cache-size", "64MiB")
        station = self.start(site)
        ann, bob = station.caller("ann"), station.caller("bob")
        body = {"input": {"tokens": {"ids": [5, 6, 7]}}, "max_tokens": 3900, "ignore_eos": True, "sampling": {"temperature": 0}}
        running = [ann.call("Generate", {**body, "request_id": f"long-{number}"}) for number in range(16)]
        for stream in running:
            next(stream)
        revoked = run("key", "revoke", "ann", "--file", site.keys_file)
        self.assertEqual(revoked.returncode, 0, revoked.stderr)
        since = time.monotonic()
        wait_for(lambda: ann.generate([1, 2, 3], 1).refusal, "the revocation")
        took = time.monotonic() - since
        self.assertLess(took, 20)
        self.assertGreater(station.metrics().sum("headstart_requests_running"), 0, "the answers ended too early to tell")
        refused = ann.generate([1, 2, 3], 1).refusal
        self.assertEqual(refused.code(), grpc.StatusCode.UNAUTHENTICATED)
        self.assertIn(b"CREDENTIAL_INVALID", reason_of(refused))
        self.assertEqual(ann.complete([1, 2, 3], 1).refusal[0], 401)
        self.assertIsNotNone(bob.generate([1, 2, 3], 1).bill)
        for stream in running:
            finished = list(stream)[-1].finished
            self.assertEqual(finished.usage.completion_tokens, 3900)
            self.assertTrue(finished.receipt.recorded)
        print(f"\n  refused {took:.1f} s after the revocation", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main())
