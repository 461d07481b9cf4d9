"""The program's own manners: what it says to a wrong command line, configuration, model or address, and with which exit code."""

import os
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from headstart_testing import BINARY, DEMO_MODEL, Server, run, serve

FAILURE, USAGE = 1, 2


class CommandLineTest(unittest.TestCase):
    def assert_refused(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr + result.stdout)

    def test_version(self):
        result = run("--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"^headstart \d+\.\d+\.\d+")

    def test_help_has_examples(self):
        for arguments in (["--help"], ["serve", "--help"], ["chat", "--help"], ["synth-model", "--help"],
                          ["count", "--help"], ["models", "--help"], ["demo", "--help"], ["generate", "--help"],
                          ["usage", "--help"], ["key", "--help"], ["replay", "--help"], ["cache", "--help"], ["cache", "warm", "--help"], ["cache", "verify", "--help"]):
            result = run(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertIn("Example", result.stdout)

    def test_a_full_disk_behind_standard_output_is_no_success(self):
        for arguments in (["--help"], ["key", "create", "--id", "a", "--tenant", "acme"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                result = subprocess.run([BINARY, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
            self.assertEqual(result.returncode, FAILURE, arguments)
            self.assertIn("standard output", result.stderr)

    def test_replay_of_more_than_can_be_is_refused(self):
        for flag in ("--capacity", "--host", "--disk"):
            self.assert_refused(run("replay", "trace.jsonl", flag, str(2**63 - 1)), USAGE, flag)

    def test_replay_says_what_is_wrong_before_it_reads_anything(self):
        for flags, words in ((["--policy", "lru,fifo"], "--policy has \"fifo\""), (["--disk", "10"], "--host is not"),
                             (["--plot", "/nowhere/plot.svg"], "give --plot a path")):
            self.assert_refused(run("replay", "no-such-trace.jsonl", *flags), FAILURE, words)

    def test_no_policy_finds_more_than_the_bound_for_all_tiers(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace.jsonl")
            with open(trace, "w", encoding="utf-8") as file:
                for i in range(60):
                    file.write('{"timestamp": %d, "input_length": 1024, "output_length": 1, "hash_ids": [%d, %d]}\n'
                               % (i * 1000, i % 5 * 2, i % 5 * 2 + 1))
            rows = run("replay", trace, "--capacity", "2", "--host", "10", "--policy", "lru").stdout.splitlines()[3:]
            ratio = {row.split()[0]: float(row.split()[2]) for row in rows}
            self.assertGreater(ratio["lru"], 0.8)
            self.assertGreaterEqual(ratio["belady"], ratio["lru"])

    def test_no_subcommand(self):
        self.assert_refused(run(), USAGE, "subcommand")

    def test_unknown_flag_is_named(self):
        self.assert_refused(serve("--kv-cash-size", "1GiB"), USAGE,
                            "serve has no flag --kv-cash-size; did you mean --kv-cache-size?")
        self.assert_refused(serve("--quantum=1"), USAGE, "serve has no flag --quantum\n")
        self.assert_refused(run("cache", "list", "--sever", "x"), USAGE, "list has no flag --sever; did you mean --server?")

    def test_unknown_subcommands_and_arguments_are_named(self):
        self.assert_refused(run("srve", "--listen", "x"), USAGE, "headstart has no ")
        self.assert_refused(run("srve"), USAGE, 'headstart has no subcommand "srve"; did you mean serve?')
        self.assert_refused(run("cache", "lst"), USAGE, 'cache has no subcommand "lst"; did you mean list?')
        self.assert_refused(run("generate", "a", "b"), USAGE, 'generate takes no argument "b"', "quotes")

    def test_a_configuration_without_an_end_is_refused(self):
        for path in ("/dev/zero", "/dev/urandom"):
            self.assert_refused(run("serve", "--config", path), USAGE, "--config: the file has more than 1 MiB")

    def test_the_configuration_that_comes_along_is_understood(self):
        repository = os.path.join(os.path.dirname(__file__), "..", "..")
        config = os.path.join(repository, "deploy", "systemd", "headstart.toml")
        self.assert_refused(serve("--config", config, "--model", "/no/such/model"), FAILURE, "/no/such/model: no such")

    def test_what_is_named_wrongly_is_said_with_what_to_write(self):
        nowhere = ["--server", "127.0.0.1:1"]
        for command, code, words in ((["chat", "x", "--server", "127.0.0.1"], FAILURE, "127.0.0.1:8700"),
                                     (["chat", "x", "--server", "127.0.0.1:99999"], FAILURE, "a port that is none"),
                                     (["chat", "x", "--server", "127.0.0.1:x"], FAILURE, "a port that is none"),
                                     (["chat", "x", "--server", "unix:no.sock"], FAILURE, "no server answers at unix:no.sock"),
                                     (["chat", "x", *nowhere], FAILURE, "onnection refused"),
                                     (["chat", "x", "--server", "no-such-host.invalid:1"], FAILURE, "no-such-host"),
                                     (["generate", "", *nowhere], USAGE, "is empty"),
                                     (["count", "", *nowhere], USAGE, "is empty"),
                                     (["usage", "--from", "2026-12-01", "--to", "2026-11-01", *nowhere], USAGE,
                                      "--to 2026-11-01 is before --from 2026-12-01"),
                                     (["key", "revoke", "a", "--file", "/no/keys.yaml"], FAILURE, "/no/keys.yaml: "),
                                     (["synth-model", "/tmp/headstart-m", "--dtype", "q8_0"], FAILURE, "ends in .gguf")):
            self.assert_refused(run(*command), code, words)

    def test_what_the_engine_refuses_is_said_with_the_flags_name(self):
        self.assert_refused(serve("--kv-cache-size", "4"), FAILURE,
                            "--kv-cache-size is 4: one block", "give it at least that")
        self.assert_refused(serve("--max-context-tokens", "100000"), FAILURE,
                            "--max-context-tokens is 100000")

    def test_wrong_values_name_flag_and_value(self):
        for flag, value in (("--kv-cache-size", "2Gigs"), ("--kv-dtype", "f64"), ("--threads", "-1"),
                            ("--eviction-policy", "fifo"), ("--drain-timeout", "soon"),
                            ("--keepalive-min-ping-interval", "5m"), ("--log-level", "loud"),
                            ("--host-cache-size", "much"), ("--disk-cache-size", "-1"), ("--io-threads", "0"),
                            ("--pinned-share", "101")):
            self.assert_refused(serve(flag, value), USAGE, flag, value)

    def test_more_memory_than_the_machine_has_is_refused_with_the_numbers(self):
        self.assert_refused(serve("--kv-cache-size", "4096TiB"), USAGE,
                            "--kv-cache-size 4096TiB", "of memory that this machine has")

    def test_empty_values_are_named(self):
        self.assert_refused(serve("--model", ""), FAILURE, "no model is named")
        self.assert_refused(run("cache", "verify", "--dir", ""), USAGE, "--dir", "is empty")
        self.assert_refused(run("cache", "status", "--server", ""), USAGE, "--server", "is empty")

    def test_synth_model_writes_over_nothing_unless_told_to(self):
        with tempfile.TemporaryDirectory() as folder:
            for path, form in ((os.path.join(folder, "m.gguf"), "gguf"), (os.path.join(folder, "m"), "hf")):
                command = ["synth-model", path, "--format", form]
                self.assertEqual(run(*command).returncode, 0)
                self.assert_refused(run(*command, "--seed", "2"), FAILURE, path, "--force")
                self.assertEqual(run(*command, "--seed", "2", "--force").returncode, 0)

    def test_synth_model_takes_the_format_from_the_ending(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.gguf")
            self.assertEqual(run("synth-model", path).returncode, 0)
            with open(path, "rb") as file:
                self.assertEqual(file.read(4), b"GGUF")

    def test_synth_model_leaves_files_of_others_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            mine = os.path.join(folder, "m.gguf.partial")
            with open(mine, "w") as file:
                file.write("mine")
            self.assertEqual(run("synth-model", os.path.join(folder, "m.gguf")).returncode, 0)
            with open(mine) as file:
                self.assertEqual(file.read(), "mine")
            self.assertEqual(sorted(os.listdir(folder)), ["m.gguf", "m.gguf.partial"])

    def test_numbers_that_are_out_of_range_are_no_other_numbers(self):
        for command in (["synth-model", "m", "--seed"], ["generate", "x", "--seed"], ["generate", "x", "--max-tokens"],
                        ["chat", "x", "--max-tokens"], ["generate", "x", "--top-k"]):
            for number in ("-1", "99999999999999999999999"):
                if command[-1] == "--top-k" and number == "-1":
                    continue  # the server says which are taken
                self.assert_refused(run(*command, number), USAGE, command[-1], number)

    def test_synth_model_that_fails_leaves_nothing(self):
        def small_files_only():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
        with tempfile.TemporaryDirectory() as folder:
            empty = os.path.join(folder, "empty")
            os.mkdir(empty)
            for path in ("m", "a/b/m", "m.gguf", "a/m.gguf", "empty", "empty/m"):
                result = run("synth-model", os.path.join(folder, path), preexec_fn=small_files_only)
                self.assert_refused(result, FAILURE, "cannot write")
                self.assertEqual((os.listdir(folder), os.listdir(empty)), (["empty"], []), path)

    def test_text_that_is_not_utf8_is_refused_before_any_call(self):
        bad = b"caf\xe9"
        for command in (["generate", bad], ["chat", bad], ["chat", "x", "--system", bad], ["count", bad],
                        ["chat", "x", "--stop", bad], ["cache", "warm", bad], ["cache", "warm", "x", "--id", bad],
                        ["cache", "pin", "x", "--name", bad], ["cache", "show", bad], ["cache", "drop", bad],
                        ["cache", "purge", bad], ["usage", "--tenant", bad], ["usage", "--by", b"label=" + bad],
                        ["usage", "export", "--tenant", bad]):
            result = subprocess.run([BINARY, *command, "--server", "127.0.0.1:1"], capture_output=True, timeout=120)
            said = (result.stderr + result.stdout).decode("utf-8", "replace")
            self.assertEqual(result.returncode, USAGE, (command, said))
            self.assertIn("not UTF-8: byte ", said)
            self.assertNotIn("libprotobuf", said)
        result = subprocess.run([BINARY, "chat", "--server", "127.0.0.1:1"], input=bad + b"\n", capture_output=True,
                                timeout=120)
        self.assertIn(b"not UTF-8: byte 3", result.stderr)

    def test_times_out_of_reach_are_refused_with_the_limit(self):
        for flag in ("--from", "--to"):
            self.assert_refused(run("usage", flag, "99999999d"), USAGE, flag, "99999999d", "36500d")
        for expires in ("999999999d", "99999999999999999999d", "9000000h", "3000-01-01T00:00:00Z"):
            self.assert_refused(run("key", "create", "--id", "a", "--tenant", "acme", "--expires", expires), FAILURE,
                                "--expires", expires, "36500d")
        self.assertEqual(run("key", "create", "--id", "a", "--tenant", "acme", "--expires", "36500d").returncode, 0)

    def test_model_name_is_one_line_of_text(self):
        for name in ("a\nb", "a\x1b[31m", b"caf\xe9", "a\x7f"):
            result = subprocess.run([BINARY, "serve", "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--model-name", name],
                                    capture_output=True, text=True, timeout=120)
            self.assert_refused(result, FAILURE, "--model-name")

    def test_wrong_block_size_is_refused_with_its_limits(self):
        self.assert_refused(serve("--block-tokens", "10"), FAILURE, "--block-tokens is 10")

    def test_disk_cache_needs_folder_and_size(self):
        self.assert_refused(serve("--disk-cache-dir", "/no/such/folder"), USAGE, "--disk-cache-dir", "--disk-cache-size")
        self.assert_refused(serve("--disk-cache-size", "1GiB"), USAGE, "--disk-cache-size", "--disk-cache-dir")

    def test_cache_commands_without_server_say_how_to_start_one(self):
        for command in (["status"], ["list"], ["show", "x"], ["drop", "x"], ["warm", "x"], ["pin", "x"], ["flush"],
                        ["purge", "x"], ["verify"]):
            self.assert_refused(run("cache", *command, "--server", "127.0.0.1:1"), FAILURE, "127.0.0.1:1", "headstart serve")

    def test_cache_command_lines_that_are_wrong(self):
        for command in ([], ["nothing"], ["warm"], ["warm", "x", "--file", "y"], ["warm", "x", "--ttl", "soon"], ["show"],
                        ["pin", "x", "--ttl", "1h"], ["verify", "--dir", "x", "--server", "y"]):
            self.assert_refused(run("cache", *command), USAGE)

    def test_folder_without_cache_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assert_refused(run("cache", "verify", "--dir", folder), FAILURE, folder)
            self.assertEqual(os.listdir(folder), [])

    def test_missing_model_is_named(self):
        self.assert_refused(serve("--model", "/no/such/model"), FAILURE, "/no/such/model")

    def test_truncated_model_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in os.listdir(DEMO_MODEL):
                shutil.copy(os.path.join(DEMO_MODEL, name), folder)
            weights = os.path.join(folder, "model.safetensors")
            os.chmod(weights, 0o644)
            for size in (0, 7, 100, os.path.getsize(weights) - 1):
                os.truncate(weights, size)
                result = serve("--model", folder)
                self.assert_refused(result, FAILURE, "error:", "model.safetensors")
                shutil.copy(os.path.join(DEMO_MODEL, "model.safetensors"), weights)

    def test_port_in_use_is_refused_before_loading(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            address = f"127.0.0.1:{other.getsockname()[1]}"
            self.assert_refused(serve("--listen", address, "--model", "/no/such/model"), FAILURE, address, "in use")

    def test_socket_in_use_names_the_flag_that_it_was_given_with(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as other:
            path = os.path.join(folder, "s")
            other.bind(path)
            other.listen()
            self.assert_refused(serve("--http-listen", f"unix:{path}"), FAILURE, path,
                                "another --http-listen")
            self.assert_refused(serve("--listen", f"unix:{path}"), FAILURE, path, "another --listen")
            free = f"unix:{path}2"
            self.assert_refused(serve("--listen", free, "--http-listen", free), FAILURE, free, "its own address")

    def test_ledger_that_cannot_be_opened_says_what_to_do(self):
        with tempfile.NamedTemporaryFile() as file:
            result = serve("--http-listen", "127.0.0.1:0", "--ledger-dir", file.name)
            self.assert_refused(result, FAILURE, file.name, "start without --ledger-dir")
            errors = [line for line in result.stderr.splitlines() if " info " not in line]
            self.assertEqual(len(errors), 1, result.stderr)

    def test_address_that_is_none(self):
        self.assert_refused(serve("--listen", "8700"), FAILURE, "8700", "host:port")

    def test_open_server_does_not_listen_for_other_machines(self):
        self.assert_refused(serve("--listen", "0.0.0.0:0"), FAILURE, "--insecure-open")

    def test_client_without_server_says_how_to_start_one(self):
        self.assert_refused(run("chat", "hello", "--server", "127.0.0.1:1"), FAILURE, "127.0.0.1:1", "headstart serve")

    def test_unknown_key_in_configuration_is_named(self):
        self.assert_refused(self.run_with_configuration('[serve]\nlissten = "127.0.0.1:0"\n'), USAGE, "lissten")

    def test_misplaced_key_or_section_in_configuration_is_explained(self):
        for text, name in (('listen = "127.0.0.1:0"\n', "listen"), ('[nothing]\nlisten = "x"\n', "nothing"),
                           ('[serve\nlisten = "x"\n', "[serve")):
            self.assert_refused(self.run_with_configuration(text), USAGE, f'"{name}', "such as [serve]")

    def test_configuration_of_random_bytes_stays_off_the_terminal(self):
        result = self.run_with_configuration("\x1b[31m\x07\n" * 3)
        self.assert_refused(result, USAGE, "configuration")
        self.assertNotIn("\x1b", result.stderr + result.stdout)

    def test_address_of_unix_socket_that_cannot_be(self):
        self.assert_refused(serve("--listen", "unix:/no/such/folder/s"), FAILURE, "/no/such/folder")
        self.assert_refused(serve("--listen", "unix:/" + "x" * 200), FAILURE, "at most 107")

    def test_sizes_beyond_their_range(self):
        self.assert_refused(serve("--kv-cache-size", "nanGiB"), USAGE, "nanGiB", "not a size")
        self.assert_refused(serve("--max-request-size", "4GiB"), FAILURE,
                            "--max-request-size", "4294967296")

    def test_wrong_value_in_configuration_is_named(self):
        self.assert_refused(self.run_with_configuration('[serve]\nkv-cache-size = "big"\n'), USAGE, "--kv-cache-size", "big")

    def test_configuration_is_read(self):
        self.assert_refused(self.run_with_configuration('[serve]\nmodel = "/no/such/model"\nlisten = "127.0.0.1:0"\n'),
                            FAILURE, "/no/such/model")

    def test_missing_configuration_is_named(self):
        self.assert_refused(run("--config", "/no/such/file.toml", "serve"), USAGE, "/no/such/file.toml")

    def run_with_configuration(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(text)
            file.flush()
            return serve("--config", file.name)


class AgainstAServerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def run(self, result=None):
        with tempfile.TemporaryDirectory() as self.folder:
            return super().run(result)

    def call(self, *arguments):
        return run(*arguments, "--server", self.server.address)

    def test_answers_end_by_themselves_unless_more_is_asked_for(self):
        for command in ("chat", "generate"):
            cut = self.call(command, "The", "--ignore-eos")
            self.assertIn("answer 512 tokens, cut off by --max-tokens", cut.stderr)
            more = self.call(command, "The", "--ignore-eos", "--max-tokens", "520")
            self.assertIn("answer 520 tokens", more.stderr)
            self.assertRegex(run(command, "--help").stdout, r"--max-tokens .*=512\n")

    def test_one_of_something_is_not_many(self):
        warmed = self.call("cache", "warm", "The old piano belongs to Alice.", "--id", "one").stdout
        self.assertRegex(warmed, r"^one: \d+ tokens pinned; \d+ cached, \d+ computed; expires ")
        self.assertRegex(self.call("cache", "flush").stdout, r"and 1 registered prefix$")
        self.assertRegex(self.call("count", " a").stdout, r"^1 token: ")

    def test_status_says_why_the_disk_holds_less_than_it_was_given(self):
        with Server("--disk-cache-dir", os.path.join(self.folder, "disk"), "--disk-cache-size", "64MiB") as server:
            self.assertIn("less than --disk-cache-size", run("cache", "status", "--server", server.address).stdout)
        self.assertNotIn("--disk-cache-size", self.call("cache", "status").stdout)

    def test_an_export_overwrites_nothing_unless_told_to(self):
        self.call("generate", "The", "--max-tokens", "1")
        path = os.path.join(self.folder, "usage.csv")
        command = ("usage", "export", "--format", "csv", "--output", path)
        self.assertEqual(self.call(*command).returncode, 0)
        with open(path, encoding="utf-8") as file:
            first = file.read()
        again = self.call(*command)
        self.assertEqual(again.returncode, FAILURE)
        self.assertIn("--force", again.stderr)
        self.assertEqual(self.call(*command, "--force").returncode, 0)
        # One that fails leaves what was there.
        self.assertEqual(run(*command, "--force", "--server", "127.0.0.1:1").returncode, FAILURE)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read().splitlines()[0], first.splitlines()[0])
        self.assertEqual(os.listdir(self.folder), ["usage.csv"])
        self.assertEqual(self.call("usage", "export", "-o", "/dev/null").returncode, 0)


if __name__ == "__main__":
    unittest.main()
