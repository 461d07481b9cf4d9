"""A served demo model: what a client sees of it, and how it ends."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from headstart_testing import BINARY, DEMO_MODEL, Client, Server, grpc, run


SHUTDOWN = 5  # FINISH_REASON_SHUTDOWN


def conversation():
    with open(os.path.join(DEMO_MODEL, "prompts.jsonl"), encoding="utf-8") as file:
        return json.loads(file.readline())


def chat(messages, **fields):
    return {"input": {"chat": {"messages": messages}}, "sampling": {"temperature": 0}, **fields}


def endless(tokens):
    """A request that goes on for `tokens` tokens whatever the model says."""
    return {"input": {"text": {"text": "The"}}, "ignore_eos": True, "max_tokens": tokens}


def text_of(events):
    return "".join(event.delta.text for event in events)


class ServeTest(unittest.TestCase):
    def test_reflection_lists_the_services(self):
        with Server() as server, Client(server.address) as client:
            self.assertLessEqual({"headstart.v1.InferenceService", "headstart.v1.PrefixService", "headstart.v1.AdminService",
                                  "grpc.health.v1.Health"}, set(client.services()))
            self.assertEqual(client.health(), "SERVING")

    def test_answers_and_counts(self):
        recorded = conversation()
        request = chat(recorded["messages"])
        with Server() as server, Client(server.address) as client:
            counted = client.call("CountTokens", {"input": request["input"], "include_token_ids": True})
            self.assertEqual(list(counted.token_ids), recorded["prompt_ids"])
            cold = list(client.call("Generate", request))
            warm = list(client.call("Generate", request))
            self.assertEqual(text_of(cold), recorded["greedy"])
            self.assertEqual(text_of(warm), recorded["greedy"])
            self.assertEqual(cold[-1].finished.usage.cached_tokens, 0)
            self.assertTrue(cold[-1].finished.usage.HasField("cached_tokens"))
            self.assertEqual(warm[-1].finished.usage.cached_tokens, recorded["prompt_tokens"] - 1)
            models = client.call("ListModels", {}).models
            self.assertEqual([model.name for model in models], ["demo"])

    def test_command_line_client_streams_and_reports(self):
        recorded = conversation()
        system, question = (message["content"] for message in recorded["messages"])
        with Server() as server:
            arguments = ["chat", question, "--system", system, "--server", server.address]
            for cached in (0, recorded["prompt_tokens"] - 1):
                result = run(*arguments)
                self.assertEqual(result.stdout, recorded["greedy"] + "\n")
                self.assertIn(f"{cached} cached", result.stderr)
            spoken = json.loads(run(*arguments, "--json").stdout)
            self.assertEqual(spoken["delta"]["text"], recorded["greedy"])
            self.assertEqual(spoken["finished"]["usage"]["recomputed_tokens"], "0")
            counted = run("count", "The lamp", "--server", server.address, "--ids")
            self.assertIn("2 tokens", counted.stdout)
            self.assertIn("demo", run("models", "--server", server.address).stdout)

    def test_conversation_over_standard_input(self):
        recorded = conversation()
        system, question = (message["content"] for message in recorded["messages"])
        with Server() as server:
            result = run("chat", "--system", system, "--server", server.address, input=f"{question}\n{question}\n")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout.splitlines()[0], recorded["greedy"])
            self.assertNotIn(" 0 cached", result.stderr.splitlines()[2])

    def test_prompt_beyond_the_context(self):
        with Server() as server, Client(server.address) as client:
            with self.assertRaises(grpc.RpcError) as refused:
                list(client.call("Generate", {"input": {"text": {"text": "x" * 5000}}}))
            self.assertEqual(refused.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
            self.assertIn("5000", refused.exception.details())
            self.assertIn("grpc-status-details-bin", dict(refused.exception.trailing_metadata()))
            self.assertEqual(client.health(), "SERVING")

    def test_prompts_are_never_logged(self):
        with Server("--log-level", "debug") as server, Client(server.address) as client:
            list(client.call("Generate", chat(conversation()["messages"], labels={"secret": "label"})))
            line = server.wait_for_log("generate request_id=")
            self.assertIn("tenant=default", line)
            self.assertNotIn("broken box", "".join(server.log))
            self.assertNotIn("secret", "".join(server.log))

    # The pool holds one context. What the dead client's request held must be free again for the next.
    def test_killed_client_frees_its_blocks(self):
        with Server("--kv-cache-size", "8MiB") as server, Client(server.address) as client:
            doomed = subprocess.Popen([BINARY, "generate", "The", "--max-tokens", "4000", "--ignore-eos",
                                       "--server", server.address], stdout=subprocess.PIPE)
            doomed.stdout.read(1)
            doomed.kill()
            doomed.wait()
            doomed.stdout.close()
            server.wait_for_log("generate .*reason=cancelled")
            events = list(client.call("Generate", endless(4000)))
            self.assertEqual(events[-1].finished.usage.completion_tokens, 4000)

    def test_cancelled_call_stops_at_once(self):
        with Server() as server, Client(server.address) as client:
            call = client.call("Generate", endless(4000))
            next(call)
            next(call)
            call.cancel()
            line = server.wait_for_log("reason=cancelled")
            self.assertNotIn("completion_tokens=4000", line)

    def test_second_server_on_the_port_is_refused(self):
        with Server() as server:
            result = run("serve", "--listen", server.address, "--http-listen", "127.0.0.1:0")
            self.assertEqual(result.returncode, 1)
            self.assertIn(server.address, result.stderr)
            self.assertIn("in use", result.stderr)


class CacheTest(unittest.TestCase):
    """Looking after the cache, over the command line and, where it has no command, the API."""

    def cache(self, server, *arguments, code=0):
        result = run("cache", *arguments, "--server", server.address)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stdout + result.stderr

    def test_status(self):
        with Server("--kv-cache-size", "64MiB") as server, Client(server.address) as client:
            text = self.cache(server, "status")
            self.assertRegex(text, r"device +on +0 B +64\.0 MiB")
            self.assertRegex(text, r"disk +none")
            spoken = json.loads(self.cache(server, "status", "--json"))
            self.assertEqual(spoken["tiers"][0]["capacity_bytes"], str(64 << 20))
            status = client.call("GetStatus", {}, service="headstart.v1.AdminService")
            self.assertRegex(status.version, r"^\d+\.\d+\.\d+$")
            self.assertEqual(status.model.fingerprint, spoken["model"]["fingerprint"])

    def test_without_prefixes_or_disk(self):
        with Server() as server:
            self.assertIn("no prefixes", self.cache(server, "list"))
            self.assertIn("error:", self.cache(server, "show", "nothing", code=1))
            self.assertIn("error:", self.cache(server, "verify", code=1))
            self.assertIn("removed 0 blocks", self.cache(server, "flush"))

    def test_warmed_prefix_is_found_by_the_first_question(self):
        recorded = conversation()
        system, question = (message["content"] for message in recorded["messages"])
        with Server() as server, Client(server.address) as client:
            self.assertIn("; 0 cached", self.cache(server, "warm", system, "--system", "--id", "inventory"))
            self.assertIn("inventory", self.cache(server, "list"))
            events = list(client.call("Generate", chat(recorded["messages"])))
            self.assertEqual(text_of(events), recorded["greedy"])
            prefix = client.call("GetPrefix", {"id": "inventory"}, service="headstart.v1.PrefixService").prefix
            self.assertGreaterEqual(events[0].started.split.cached_tokens, prefix.tokens - 1)
            self.assertEqual(prefix.pinned_tokens, prefix.tokens)
            server.wait_for_log("create_prefix request_id=")
            with self.assertRaises(grpc.RpcError) as refused:
                client.call("CreatePrefix", {"id": "inventory", "input": {"text": {"text": "x"}}},
                            service="headstart.v1.PrefixService")
            self.assertEqual(refused.exception.code(), grpc.StatusCode.ALREADY_EXISTS)
            self.cache(server, "drop", "inventory")
            self.assertIn("no prefixes", self.cache(server, "list"))

    def test_flush_forgets(self):
        request = chat(conversation()["messages"])
        with Server() as server, Client(server.address) as client:
            list(client.call("Generate", request))
            self.assertNotIn("removed 0 blocks", self.cache(server, "flush"))
            events = list(client.call("Generate", request))
            self.assertEqual(events[0].started.split.cached_tokens, 0)

    def test_disk_survives_the_server_and_is_verified(self):
        request = chat(conversation()["messages"])
        with tempfile.TemporaryDirectory() as folder:
            directory = os.path.join(folder, "cache")
            tiers = ("--host-cache-size", "16MiB", "--disk-cache-dir", directory, "--disk-cache-size", "256MiB")
            with Server(*tiers) as server, Client(server.address) as client:
                if not os.path.isdir(directory):
                    self.skipTest("this engine uses no disk yet")
                list(client.call("Generate", request))
                self.assertIn("0 bad", self.cache(server, "verify"))
                self.assertIn("in use", run("cache", "verify", "--dir", directory).stderr)
                server.signal(signal.SIGTERM)
                self.assertEqual(server.wait(), 0)
            verified = run("cache", "verify", "--dir", directory)
            self.assertEqual(verified.returncode, 0, verified.stderr)
            self.assertNotIn("verified 0 blocks", verified.stdout)
            with Server(*tiers) as server, Client(server.address) as client:
                events = list(client.call("Generate", request))
                self.assertGreater(events[0].started.split.cached_by_tier.disk, 0)


class SignalTest(unittest.TestCase):
    def test_sigterm_without_work_ends_at_once(self):
        with Server() as server:
            server.signal(signal.SIGTERM)
            self.assertEqual(server.wait(), 0)

    def test_sigint_is_the_same(self):
        with Server() as server:
            server.signal(signal.SIGINT)
            self.assertEqual(server.wait(), 0)

    def test_reader_of_the_log_may_go_away(self):
        process = subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0", "--http-listen", ""],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            address = re.search(r"at (\S+)", process.stdout.readline()).group(1)
            process.stderr.close()
            with Client(address) as client:
                for _ in range(3):  # each of them is a line of the log
                    self.assertEqual(list(client.call("Generate", endless(2)))[-1].finished.usage.completion_tokens, 2)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(60), 0)
        finally:
            process.kill()
            process.stdout.close()

    def test_running_answers_finish_while_new_ones_are_refused(self):
        with Server() as server, Client(server.address) as client:
            self.assertEqual(client.health(), "SERVING")
            stream = client.call("Generate", endless(3500))
            next(stream)
            server.signal(signal.SIGTERM)
            server.wait_for_log("draining")
            self.assertEqual(client.health(), "NOT_SERVING")
            self.assertEqual(client.health("headstart.v1.InferenceService"), "NOT_SERVING")
            with self.assertRaises(grpc.RpcError) as refused:
                list(client.call("Generate", endless(1)))
            self.assertEqual(refused.exception.code(), grpc.StatusCode.UNAVAILABLE)
            events = list(stream)
            self.assertEqual(events[-1].finished.usage.completion_tokens, 3500)
            self.assertEqual(server.wait(), 0)

    # Many long answers at once: more work than is done while this process is kept from running.
    def test_drain_has_a_limit(self):
        with Server("--drain-timeout", "0s") as server, Client(server.address) as client:
            streams = [client.call("Generate", endless(4000)) for _ in range(32)]
            next(streams[0])
            server.signal(signal.SIGTERM)
            self.assertEqual(server.wait(), 0)
            server.wait_for_log("drain timed out")
            for stream in streams:
                events = []
                with self.assertRaises(grpc.RpcError) as ended:
                    for event in stream:
                        events.append(event)
                self.assertEqual(ended.exception.code(), grpc.StatusCode.UNAVAILABLE)
                self.assertIn(b"SERVER_STOPPING", dict(ended.exception.trailing_metadata())["grpc-status-details-bin"])
                if events or stream is streams[0]:  # others may have come too late to begin
                    self.assertEqual(events[-1].WhichOneof("event"), "finished")
                    self.assertEqual(events[-1].finished.reason, SHUTDOWN)

    def test_drain_that_took_too_long_is_said_over_http(self):
        with Server("--drain-timeout", "0s") as server:
            answers = []
            for streams in (True, False):
                body = {"messages": [{"role": "user", "content": "x"}], "max_tokens": 4000, "ignore_eos": True,
                        "n": 8, "stream": streams}
                connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=60)
                connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
                answers.append(connection)
            streamed = answers[0].getresponse()
            streamed.readline()  # it runs
            server.signal(signal.SIGTERM)
            text = streamed.read().decode()
            self.assertIn("event: error\n", text)
            self.assertIn('"code":"server_stopping"', text)
            whole = answers[1].getresponse()
            self.assertEqual(whole.status, 503)
            self.assertEqual(json.load(whole)["error"]["code"], "server_stopping")
            self.assertEqual(server.wait(), 0)

    def test_second_signal_stops_at_once(self):
        with Server() as server, Client(server.address) as client:
            streams = [client.call("Generate", endless(4000)) for _ in range(32)]
            next(streams[0])
            server.signal(signal.SIGTERM)
            server.wait_for_log("draining")
            server.signal(signal.SIGTERM)
            self.assertEqual(server.wait(), 1)


class KeepaliveTest(unittest.TestCase):
    # Raw HTTP/2: a connection that only pings, as fast as they are answered, and without a call.
    def test_pings_without_calls_are_answered(self):
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
        goaway = 7
        with Server("--keepalive-min-ping-interval", "0s") as server:
            host, port = server.address.rsplit(":", 1)
            with socket.create_connection((host, int(port)), timeout=20) as connection:
                connection.sendall(preface)
                frames = Frames(connection)
                for number in range(8):
                    connection.sendall(b"\0\0\x08\6\0\0\0\0\0" + number.to_bytes(8, "big"))
                    kind, payload = frames.until({6, goaway}, ack=True)
                    self.assertEqual((kind, int.from_bytes(payload, "big")), (6, number))


class Frames:
    """The frames that come in on an HTTP/2 connection."""

    ACK = 1

    def __init__(self, connection):
        self.file = connection.makefile("rb")

    def until(self, kinds, ack):
        while True:
            header = self.file.read(9)
            if len(header) < 9:
                raise EOFError("the server closed the connection")
            payload = self.file.read(int.from_bytes(header[:3], "big"))
            if header[3] in kinds and bool(header[4] & self.ACK) == ack:
                return header[3], payload


if __name__ == "__main__":
    sys.exit(unittest.main())
