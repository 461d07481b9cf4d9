"""Many tenants on one server: what they share is what an operator made public, and is computed once (T2)."""

import hashlib
import random
import signal
import socket
import time
import unittest

from account_callers import PREFIXES, TIERS, Caller
from account_load import prompt
from account_testing import SiteTest, wait_for
from headstart_testing import grpc

TENANTS = 256


class TenantCaller(Caller):
    """One of the tenants that only this test knows."""

    def __init__(self, station, tenant, key):
        self.station, self.tenant, self.key_id = station, tenant, f"{tenant}-key"
        self.credential = f"Bearer {key}"
        self.metadata = [("authorization", self.credential)]


class TenantsTest(SiteTest):
    def site_of_many(self):
        site = self.site()
        keys = {f"t{number}": f"hsk_{random.Random(number).getrandbits(256):064x}" for number in range(TENANTS)}
        with open(site.keys_file, encoding="utf-8") as file:
            text = file.read().rstrip("\n")
        for tenant, key in keys.items():
            digest = hashlib.sha256(key.encode()).hexdigest()
            text += f'\n  - {{id: {tenant}-key, tenant: {tenant}, role: user, sha256: "{digest}"}}'
        site.replace(site.keys_file, text + "\n")
        return site, keys

    def test_t2_a_public_prefix_is_computed_once_for_all(self):
        site, keys = self.site_of_many()
        station = self.start(site)
        shared = prompt(random.Random(0), 512)
        made = station.caller("ops").call("CreatePrefix", {
            "id": "shared", "scope": "PREFIX_SCOPE_PUBLIC", "input": {"tokens": {"ids": shared}}, "ttl": "600s"}, PREFIXES)
        self.assertEqual(made.usage.computed_prompt_tokens, 512)
        for number, (tenant, key) in enumerate(keys.items()):
            own = prompt(random.Random(1000 + number), 8 + number % 5)
            bill = TenantCaller(station, tenant, key).generate(shared + own, 1).bill
            self.assertEqual((bill["device"], bill["computed"]), (512, len(own)), tenant)
        # The private rest of each is its own.
        again = TenantCaller(station, "t1", keys["t1"]).generate(shared + prompt(random.Random(1000), 8), 1).bill
        self.assertEqual(sum(again[tier] for tier in TIERS), 512)
        page = station.metrics()
        self.assertEqual(page.sum("headstart_prompt_tokens_total", source="device"), 512 * (TENANTS + 1))
        # 100 have labels of their own, the rest one together.
        self.assertEqual(page.sum("headstart_requests_total", tenant="other", kind="generate", outcome="length"),
                         TENANTS + 1 - 100)

    def test_tenant_may_not_make_public_what_others_would_read(self):
        station = self.start(self.site())
        with self.assertRaises(grpc.RpcError) as refused:
            station.caller("ann").call("CreatePrefix", {
                "id": "shared", "scope": "PREFIX_SCOPE_PUBLIC", "input": {"tokens": {"ids": [1, 2, 3]}}, "ttl": "600s"}, PREFIXES)
        self.assertEqual(refused.exception.code(), grpc.StatusCode.PERMISSION_DENIED)

    def test_body_of_a_stranger_is_not_read(self):
        station = self.start(self.site())
        host, port = station.http_address.split(":")
        for credential in ("", "Authorization: Bearer hsk_none\r\n"):
            with socket.create_connection((host, int(port)), timeout=60) as link:
                link.sendall(f"POST /v1/completions HTTP/1.1\r\nHost: a\r\n{credential}Content-Type: application/json\r\n"
                             "Content-Length: 16000000\r\n\r\n".encode())
                self.assertIn(b" 401 ", link.recv(4096))

    def test_registered_prefix_is_charged_for_the_time_it_was_kept(self):
        site = self.site()
        station = self.start(site)
        begun = time.time()
        station.caller("ann").create_prefix("kept", prompt(random.Random(5), 320), "made", "600s")
        wait_for(lambda: time.time() > begun + 2.1, "what is charged, which is time itself")
        station.server.signal(signal.SIGTERM)
        self.assertEqual(station.server.wait(), 0)
        kept = time.time() - begun
        account = self.start(site).account()
        [entry] = [entry for entry in account.entries.values() if entry["kind"] == "USAGE_KIND_STORAGE"]
        self.assertEqual((entry["tenant"], entry["bill"]["prompt"]), ("acme", 0))
        self.assertGreaterEqual(int(entry["storage_token_seconds"]), 320 * 2)
        self.assertLessEqual(int(entry["storage_token_seconds"]), 320 * (kept + 1))
        # 0.05 for a million tokens and an hour.
        exact = int(entry["storage_token_seconds"]) * 50_000_000 / 3600 / 1_000_000
        self.assertAlmostEqual(int(entry["charge"]["cost_nanos"]), exact, delta=1)
        self.assertEqual(int(entry["charge"]["saved_nanos"]), 0)


if __name__ == "__main__":
    unittest.main()
