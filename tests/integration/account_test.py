"""The account of the real program, held against what its callers were told: A1 to A5, A7, T1 and T4.

The cache is small and has all its tiers, so that requests make room for each other and prompts come back from everywhere.
"""

import json
import random
import signal
import sys
import threading
import unittest

from account_callers import PREFIXES, TIERS, Notebook, code_of, reason_of
from account_load import prompt, run_load
from account_testing import PRICES, SMALL, USAGE, SiteTest, charge, total, wait_for
from headstart_testing import grpc


class SumsTest(SiteTest):
    def tiered_site(self):
        site = self.site(*SMALL, "--disk-cache-size", "16MiB")
        site.flags += ("--disk-cache-dir", site.path("disk"))
        return site

    def test_a1_answers_records_sums_and_metrics_agree(self):
        station, notebook = self.start(self.tiered_site()), Notebook()
        run_load(station, notebook, "a", 30)
        account = station.settled_account()
        known = self.assert_told(account, notebook)
        page = self.assert_sums(station, account)
        self.assert_sound(account)
        figures = total(entry["bill"] for entry in account.entries.values())
        print(f"\n  {len(account.entries)} records, {len(known)} with all receipts, {account.attempts()} attempts, "
              f"{page.sum('headstart_preemptions_total')} preemptions, {figures}", file=sys.stderr)
        for tier in ("device", "host", "disk"):
            self.assertGreater(figures[tier], 0, tier)
        self.assertGreater(page.sum("headstart_preemptions_total"), 0)
        self.assertGreater(len(account.entries) - len(known), 0, "nothing was cut off")

    def test_a1_after_a_kill_in_the_middle(self):
        site, notebook = self.tiered_site(), Notebook()
        station, stopped = self.start(site), threading.Event()

        def kill():
            wait_for(lambda: notebook.receipts() > 60 or stopped.is_set(), "60 receipts")
            stopped.set()
            station.server.signal(signal.SIGKILL)
            station.server.wait()
        loads = run_load(station, notebook, "k", 1000, stopped, kill)
        again = self.start(site)
        before = again.account()
        told = notebook.receipts()
        self.assert_told(before, notebook)
        self.assertEqual(again.metrics().sum("headstart_cost_nanos_total"), 0)
        for load in loads:  # whether their records got through or not, what was under way is tried again
            caller = again.caller(load.caller.key_id)
            for name, tokens, most in load.sent[-2:]:
                answer = caller.generate(tokens, most, name)
                self.assertEqual(answer.receipt["repeated"], (caller.tenant, name) in before.entries, name)
                notebook.add(caller, answer)
        run_load(again, notebook, "l", 8)
        account = again.settled_account(before)
        self.assert_told(account, notebook)
        self.assert_sums(again, account, before)
        self.assert_sound(account)
        print(f"\n  {told} receipts before the kill, {len(before.entries)} records after it, {len(account.entries)} at "
              "the end", file=sys.stderr)

    def test_sums_by_other_words_are_the_same(self):
        station, notebook = self.start(self.site()), Notebook()
        run_load(station, notebook, "w", 5)
        station.settled_account()
        sums = []
        for by in ("none", "key", "label=team", "tenant,key,model,label=user,hour", "day"):
            answer = json.loads(station.command("usage", "--by", by, "--json"))
            sums.append(answer["totals"])
            groups = answer.get("groups", [])
            self.assertEqual(sum(int(group["totals"]["charge"]["cost_nanos"]) for group in groups),
                             int(answer["totals"][0]["charge"]["cost_nanos"]), by)
        self.assertTrue(all(each == sums[0] for each in sums))


class RequestTest(SiteTest):
    """One request and what becomes of it."""

    def setUp(self):
        self.station = self.start(self.site("--kv-cache-size", "64MiB"))
        self.ann = self.station.caller("ann")
        self.rng = random.Random(self.id())

    def entry(self, request_id, tenant="acme"):
        return self.station.settled_account().entries[(tenant, request_id)]

    def test_a2_next_turn_finds_prompt_and_answer(self):
        question = prompt(self.rng, 100)
        first = self.ann.generate(question, 50, "first")
        second = question + first.ids + prompt(self.rng, 50)
        bill = self.ann.generate(second, 1, "second").bill
        self.assertIn(bill["device"], (149, 150))
        self.assertEqual(bill["prompt"], 200)
        self.assertEqual(self.ann.complete(second, 1, "again").bill["device"], 199)
        self.assertEqual(self.entry("second")["bill"], bill)

    def test_a3_retries_are_billed_once(self):
        tokens = prompt(self.rng, 64)
        first = self.ann.generate(tokens, 8, "same")
        attempts = [self.ann.generate(tokens, 8, "same") for _ in range(3)]
        self.assertFalse(first.receipt["repeated"])
        self.assertTrue(all(again.receipt["repeated"] for again in attempts))
        entry = self.entry("same")
        self.assertEqual((entry["attempts"], entry["bill"]), (4, first.bill))
        self.assert_sums(self.station, self.station.account())

    def test_a3_retries_at_the_same_time_are_billed_once(self):
        tokens = prompt(self.rng, 64)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.ann.generate(tokens, 40, "same"))) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(not answer.receipt["repeated"] for answer in answers), 1)
        entry = self.entry("same")
        self.assertEqual(entry["attempts"], 6)
        self.assertEqual(entry["bill"]["completion"], 40)
        self.assert_sums(self.station, self.station.account())

    def test_a3_choices_of_a_retry_over_http(self):
        tokens = prompt(self.rng, 64)
        first = self.ann.complete(tokens, 8, "same", n=2, temperature=1)
        again = self.ann.complete(tokens, 8, "same", n=2, temperature=1)
        self.assertIsNone(again.refusal)
        self.assertTrue(all(part.receipt["repeated"] for part in (again, *again.more)))
        self.assertEqual(self.entry("same#1")["bill"], first.more[0].bill)
        self.assertEqual(len(self.station.account().entries), 2)

    def test_another_request_under_a_used_id_is_refused(self):
        tokens = prompt(self.rng, 64)
        self.ann.generate(tokens, 8, "used")
        others = [self.ann.generate(tokens, 9, "used"), self.ann.generate(tokens[1:], 8, "used"),
                  self.ann.stream(tokens[1:], 8, "used"), self.ann.complete(tokens[1:], 8, "used"),
                  self.ann.create_prefix("p", tokens, "used")]
        for answer in others:
            self.assertIn(code_of(answer.refusal), (grpc.StatusCode.INVALID_ARGUMENT, 400))
            self.assertIn(b"REQUEST_ID_REUSED", reason_of(answer.refusal))
        # Another tenant's ids are its own.
        self.assertIsNotNone(self.station.caller("gil").generate(tokens[2:], 8, "used").bill)
        self.assertEqual(self.entry("used")["attempts"], 1)

    def test_answer_and_prefix_of_the_same_tokens_are_two_requests(self):
        tokens = prompt(self.rng, 64)
        self.ann.create_prefix("p", tokens, "made")
        stream = self.ann.call("Generate", {"input": {"tokens": {"ids": tokens}}, "request_id": "made"})
        with self.assertRaises(grpc.RpcError) as refused:
            list(stream)
        self.assertIn(b"REQUEST_ID_REUSED", reason_of(refused.exception))

    def test_refused_prefix_leaves_no_record_and_its_retry_is_billed(self):
        self.assertIsNotNone(self.ann.create_prefix("p", prompt(self.rng, 64), "one", "60s").bill)
        tokens = prompt(self.rng, 96)
        taken = self.ann.create_prefix("p", tokens, "two", "60s")
        self.assertEqual(code_of(taken.refusal), grpc.StatusCode.ALREADY_EXISTS)
        self.assertEqual([place[1] for place in self.station.settled_account().entries], ["one"])
        self.ann.call("DeletePrefix", {"id": "p"}, PREFIXES)
        made = self.ann.create_prefix("p", tokens, "two", "60s")
        self.assertEqual(made.bill["computed"], 96)
        self.assertFalse(made.receipt["repeated"])
        self.assertEqual(self.entry("two")["bill"], made.bill)
        self.assertEqual(made.bill["cost"], charge(made.bill, PRICES)[0])

    def test_a4_callers_that_go_away_are_billed_once_for_what_they_got(self):
        tokens = prompt(self.rng, 64)
        gone = [self.ann.generate(tokens, 3900, "cancelled", stop_after=20),
                self.ann.stream(tokens, 3900, "closed", stop_after=20),
                self.ann.generate(tokens, 3901, "late", timeout=0.2),
                self.ann.generate(tokens, 3900, stop_after=3)]
        account = self.station.settled_account()
        self.assertEqual([answer.bill for answer in gone], [None] * 4)
        places = {("acme", answer.request_id) for answer in gone if answer.started}
        self.assertGreaterEqual(len(places), 3)
        self.assertLessEqual(account.entries.keys() ^ places, {("acme", "late")})
        for answer in gone:
            if answer.started:
                entry = account.entries[("acme", answer.request_id)]
                self.assertGreaterEqual(entry["bill"]["completion"], answer.tokens)
                self.assertLess(entry["bill"]["completion"], 3900)
                self.assertIn(entry["finish_reason"], ("FINISH_REASON_CANCELLED", "FINISH_REASON_DEADLINE"))
        self.assert_sums(self.station, account)
        # The one that comes back for the rest pays for the longest answer, once.
        whole = self.ann.generate(tokens, 3900, "cancelled")
        self.assertTrue(whole.receipt["repeated"])
        entry = self.entry("cancelled")
        self.assertEqual((entry["attempts"], entry["bill"]["completion"]), (2, 3900))
        self.assertEqual(entry["bill"]["cost"], whole.bill["cost"])
        self.assert_sums(self.station, self.station.account())
        self.assert_sound(self.station.account())

    def test_a4_attempt_that_is_cut_off_at_once_pays_for_no_other(self):
        tokens = prompt(self.rng, 3000)
        self.ann.generate(tokens, 4, "hasty", stop_after=0)
        self.assertLess(self.entry("hasty")["bill"]["prompt"], 3000, "the attempt was not cut short")
        whole = self.ann.generate(tokens, 4, "hasty")
        bill = self.entry("hasty")["bill"]
        self.assertEqual((bill["prompt"], bill["completion"], bill["cost"]), (3000, 4, whole.bill["cost"]))
        self.assert_sums(self.station, self.station.account())
        self.assert_sound(self.station.account())


class CacheFiguresTest(SiteTest):
    def test_a5_unique_prompts_under_preemption_hit_nothing(self):
        station = self.start(self.site(*SMALL))
        rng = random.Random(5)
        answers = []

        def work(number):
            for each in range(8):
                tokens = [200 + 8 * number + each] + prompt(rng, 100)  # none begins as another does
                send = station.caller("gil").generate if each % 2 else station.caller("gil").complete
                answers.append(send(tokens, 120))
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        account = station.settled_account()
        page = self.assert_sums(station, account)
        self.assertEqual(len(account.entries), 64)
        self.assertTrue(all(answer.bill["computed"] == 101 for answer in answers))
        figures = account.figures("globex")
        self.assertEqual(sum(figures[tier] for tier in TIERS), 0)
        for name in ("headstart_cache_hit_tokens_total", "vllm:prefix_cache_hits_total"):
            self.assertEqual(page.sum(name), 0, name)
        self.assertEqual(page.sum("headstart_cache_queried_tokens_total"), figures["prompt"])
        self.assertGreater(page.sum("headstart_preemptions_total"), 0)
        recomputed = sum(answer.receipt["recomputed"] for answer in answers)
        self.assertGreater(recomputed, 0)
        self.assertEqual(page.sum("headstart_recomputed_tokens_total"), recomputed)
        self.assert_sound(account)

    def test_a7_resident_is_not_in_use(self):
        station = self.start(self.site("--kv-cache-size", "64MiB"))
        ann, rng = station.caller("ann"), random.Random(7)
        tokens = prompt(rng, 128)
        in_use, resident = "headstart_cache_leased_bytes", "headstart_cache_resident_bytes"
        streams = [ann.call("Generate", {"input": {"tokens": {"ids": tokens}}, "max_tokens": 3900, "ignore_eos": True})
                   for _ in range(8)]
        # Levels are those between steps; eight answers of such a length are not done before one is looked at.
        busy = wait_for(lambda: (page := station.metrics()).sum(in_use, tier="device") > 0 and page, "a running request")
        for stream in streams:
            list(stream)
        idle = wait_for(lambda: (page := station.metrics()).sum("headstart_requests_running") == 0 and page, "idleness")
        self.assertGreater(busy.sum(in_use, tier="device"), 0)
        self.assertLessEqual(busy.sum(in_use, tier="device"), busy.sum(resident, tier="device"))
        self.assertEqual(idle.sum(in_use, tier="device"), 0)
        self.assertEqual(idle.sum("vllm:kv_cache_usage_perc"), 0)
        self.assertGreater(idle.sum(resident, tier="device"), 0)
        self.assertGreaterEqual(idle.sum("headstart_cache_resident_tokens"), 128)
        self.assertEqual(ann.generate(tokens, 1).bill["device"], 127)
        self.assertIsNotNone(ann.create_prefix("kept", tokens, "kept", "60s").bill)
        pinned = station.metrics()
        self.assertGreater(pinned.sum("headstart_cache_pinned_bytes"), 0)
        self.assertEqual(pinned.sum(in_use, tier="device"), pinned.sum("headstart_cache_pinned_bytes"))


class TenantTest(SiteTest):
    """T1 and T4: whose prompts are found is the key's to say, and nothing else's."""

    def test_t1_tenants_share_nothing_and_keys_of_one_tenant_all(self):
        station = self.start(self.site())
        for number, send in enumerate(("generate", "complete")):
            tokens = prompt(random.Random(number), 200)
            found = [getattr(station.caller(key), send)(tokens, 4).bill["device"] for key in ("ann", "ann", "bob", "gil", "gil")]
            self.assertEqual(found, [0, 199, 199, 0, 199], send)

    def test_t4_words_of_the_caller_change_nothing(self):
        station = self.start(self.site())
        tokens = prompt(random.Random(4), 200)
        station.caller("ann").generate(tokens, 4, "hers")
        words = {"tenant": "acme", "x-tenant": "acme", "x-headstart-tenant": "acme", "x-headstart-scope": "acme",
                 "x-cache-salt": "acme", "openai-organization": "acme", "x-key-id": "ann", "x-forwarded-user": "ann"}
        labels = {"tenant": "acme", "key_id": "ann", "scope": "tenant:acme"}
        for name, word in words.items():
            # A length of its own for each, so that what is found can only be hers.
            answers = [station.caller("gil", [(name, word)]).generate(tokens[:150], 1, cache={"write": False}, labels=labels),
                       station.caller("gil").complete(tokens[:150], 1, headers=[(name, word)], cache={"write": False},
                                                      prompt_cache_key="acme", user="acme", metadata=labels, tenant="acme")]
            for answer in answers:
                self.assertIsNone(answer.refusal, name)
                self.assertEqual(sum(answer.bill[tier] for tier in TIERS), 0, name)
        for field in ("cache_salt", "scope", "salt", "key", "kv_transfer_params"):
            answer = station.caller("gil").complete(tokens[:150], 1, cache={"write": False}, **{field: "acme"})
            self.assertTrue(answer.refusal or answer.bill["device"] == 0, field)
        account = station.settled_account()
        self.assertEqual(account.tenants(), ["acme", "globex"])
        self.assertEqual({entry["key_id"] for (tenant, _), entry in account.entries.items() if tenant == "globex"}, {"gil"})
        self.assertEqual(len([tenant for tenant, _ in account.entries if tenant == "acme"]), 1)

    def test_accounts_of_others_are_not_shown(self):
        station = self.start(self.site())
        station.caller("ann").generate([1, 2, 3], 1, "hers")
        gil = station.caller("gil", [("x-tenant", "acme")])
        self.assertEqual(len(gil.call("ListUsage", {"group_by": ["USAGE_DIMENSION_TENANT"]}, USAGE).groups), 0)
        with self.assertRaises(grpc.RpcError) as refused:
            gil.call("ListUsage", {"tenant": "acme"}, USAGE)
        self.assertEqual(refused.exception.code(), grpc.StatusCode.PERMISSION_DENIED)
        self.assertEqual(gil.http("GET", "/metrics")[0], 403)


if __name__ == "__main__":
    sys.exit(unittest.main())
