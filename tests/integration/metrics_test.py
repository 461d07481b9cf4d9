"""The metrics of the real program, as promtool and a real Prometheus read them.

Ends with 77, and says why, where what it needs is missing.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from headstart_testing import REPOSITORY, SKIPPED, Server, run

RULES = os.path.join(REPOSITORY, "deploy", "prometheus")
PATIENCE_SECONDS = 60  # generous: a loaded machine with sanitizers


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(url):
    with urllib.request.urlopen(url, timeout=20) as response:
        return response.read().decode()


def skip_unless(present, why):
    if not present:
        print(f"skipped: {why}")
        sys.exit(SKIPPED)


class MetricsTest(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.__exit__)
        self.url = f"{self.server.url}/metrics"

    def test_promtool_finds_nothing_to_say(self):
        run("generate", "The lamp", "--max-tokens", "4", "--server", self.server.address)
        # The names of other servers break Prometheus' rules for names; ours do not.
        page = re.sub(r"(?m)^(# (HELP|TYPE) )?vllm:.*\n", "", get(self.url))
        self.assertIn("headstart_requests_total{", page)
        checked = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, text=True, timeout=60)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)

    def test_prometheus_scrapes_it_and_takes_the_rules(self):
        run("generate", "The lamp", "--max-tokens", "4", "--server", self.server.address)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(RULES, "alerts.yml"), folder)
            with open(os.path.join(RULES, "prometheus.yml")) as file:
                config = file.read().replace("127.0.0.1:8780", self.server.url.removeprefix("http://")).replace("15s", "1s")
            with open(os.path.join(folder, "prometheus.yml"), "w") as file:
                file.write(config)
            port = free_port()
            prometheus = subprocess.Popen(
                ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                 f"--web.listen-address=127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                self.await_value(port, 'up{job="headstart"}', "1")
                self.await_value(port, "headstart_build_info", "1")
                self.await_value(port, "sum(headstart_completion_tokens_total)", "4")
                self.await_value(port, "vllm:num_requests_running", "0")
            finally:
                prometheus.kill()
                prometheus.wait()

    def await_value(self, port, expression, wanted):
        """Scrapes come in their own time, and the first may fail on a machine that is busy."""
        url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        until, seen = time.monotonic() + PATIENCE_SECONDS, "nothing"
        while time.monotonic() < until:
            try:
                if result := json.loads(get(url))["data"]["result"]:
                    seen = result[0]["value"][1]
                    if seen == wanted:
                        return
            except urllib.error.URLError:
                pass  # it is still starting
            time.sleep(0.2)  # between two looks at another process
        self.fail(f"Prometheus has {seen} for {expression}, not {wanted}")


if __name__ == "__main__":
    skip_unless(shutil.which("prometheus") and shutil.which("promtool"), "needs Debian's package prometheus")
    sys.exit(unittest.main())
