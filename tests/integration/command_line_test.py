"""The program's own manners: what it says to a wrong command line, configuration, model or address, and with which exit code."""

import os
import shutil
import socket
import subprocess
import tempfile
import unittest

from headstart_testing import BINARY, DEMO_MODEL, run

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
                          ["cache", "--help"], ["cache", "warm", "--help"], ["cache", "verify", "--help"]):
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

    def test_no_subcommand(self):
        self.assert_refused(run(), USAGE, "subcommand")

    def test_unknown_flag_is_named(self):
        self.assert_refused(run("serve", "--kv-cash-size", "1GiB"), USAGE, "--kv-cash-size")

    def test_wrong_values_name_flag_and_value(self):
        for flag, value in (("--kv-cache-size", "2Gigs"), ("--kv-dtype", "f64"), ("--threads", "-1"),
                            ("--eviction-policy", "fifo"), ("--drain-timeout", "soon"),
                            ("--keepalive-min-ping-interval", "5m"), ("--log-level", "loud"),
                            ("--host-cache-size", "much"), ("--disk-cache-size", "-1"), ("--io-threads", "0"),
                            ("--pinned-share", "101")):
            self.assert_refused(run("serve", flag, value), USAGE, flag, value)

    def test_more_memory_than_the_machine_has_is_refused_with_the_numbers(self):
        self.assert_refused(run("serve", "--listen", "127.0.0.1:0", "--kv-cache-size", "4096TiB"), USAGE,
                            "--kv-cache-size 4096TiB", "of memory that this machine has")

    def test_empty_values_are_named(self):
        self.assert_refused(run("serve", "--model", ""), FAILURE, "no model is named")
        self.assert_refused(run("cache", "verify", "--dir", ""), USAGE, "--dir", "is empty")
        self.assert_refused(run("cache", "status", "--server", ""), USAGE, "--server", "is empty")

    def test_synth_model_writes_over_nothing_unless_told_to(self):
        with tempfile.TemporaryDirectory() as folder:
            for path, form in ((os.path.join(folder, "m.gguf"), "gguf"), (os.path.join(folder, "m"), "hf")):
                command = ["synth-model", path, "--format", form]
                self.assertEqual(run(*command).returncode, 0)
                self.assert_refused(run(*command, "--seed", "2"), FAILURE, path, "--force")
                self.assertEqual(run(*command, "--seed", "2", "--force").returncode, 0)

    def test_wrong_block_size_is_refused_with_its_limits(self):
        self.assert_refused(run("serve", "--listen", "127.0.0.1:0", "--block-tokens", "10"), FAILURE, "block_tokens", "10")

    def test_disk_cache_needs_folder_and_size(self):
        self.assert_refused(run("serve", "--disk-cache-dir", "/no/such/folder"), USAGE, "--disk-cache-dir", "--disk-cache-size")
        self.assert_refused(run("serve", "--disk-cache-size", "1GiB"), USAGE, "--disk-cache-size", "--disk-cache-dir")

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
        self.assert_refused(run("serve", "--listen", "127.0.0.1:0", "--model", "/no/such/model"), FAILURE, "/no/such/model")

    def test_truncated_model_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in os.listdir(DEMO_MODEL):
                shutil.copy(os.path.join(DEMO_MODEL, name), folder)
            weights = os.path.join(folder, "model.safetensors")
            os.chmod(weights, 0o644)
            for size in (0, 7, 100, os.path.getsize(weights) - 1):
                os.truncate(weights, size)
                result = run("serve", "--listen", "127.0.0.1:0", "--model", folder)
                self.assert_refused(result, FAILURE, "error:", "model.safetensors")
                shutil.copy(os.path.join(DEMO_MODEL, "model.safetensors"), weights)

    def test_port_in_use_is_refused_before_loading(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            address = f"127.0.0.1:{other.getsockname()[1]}"
            self.assert_refused(run("serve", "--listen", address, "--model", "/no/such/model"), FAILURE, address, "in use")

    def test_address_that_is_none(self):
        self.assert_refused(run("serve", "--listen", "8700"), FAILURE, "8700", "host:port")

    def test_open_server_does_not_listen_for_other_machines(self):
        self.assert_refused(run("serve", "--listen", "0.0.0.0:0"), FAILURE, "--insecure-open")

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
        self.assert_refused(run("serve", "--listen", "unix:/no/such/folder/s"), FAILURE, "/no/such/folder")
        self.assert_refused(run("serve", "--listen", "unix:/" + "x" * 200), FAILURE, "at most 107")

    def test_sizes_beyond_their_range(self):
        self.assert_refused(run("serve", "--kv-cache-size", "nanGiB"), USAGE, "nanGiB", "not a size")
        self.assert_refused(run("serve", "--listen", "127.0.0.1:0", "--max-request-size", "4GiB"), FAILURE,
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
            return run("serve", "--config", file.name)


if __name__ == "__main__":
    unittest.main()
