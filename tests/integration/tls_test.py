"""The real program with certificates: gRPC and HTTP encrypted alike, client certificates in place of keys, renewal."""

import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import unittest

from account_testing import SiteTest, wait_for
from headstart_testing import SKIPPED, Server, grpc, run

if shutil.which("openssl") is None:
    print("skipped: needs the program openssl")
    sys.exit(SKIPPED)


class Authority:
    """Makes certificates in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                      "-subj", "/CN=test authority", "-keyout", self.path("ca.key"), "-out", self.path("ca.crt"))

    def path(self, name):
        return os.path.join(self.folder, name)

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)

    def issue(self, name, alternative_name):
        """name.crt and name.key, put in place whole."""
        key, request, certificate = (self.path(f"{name}.new.{end}") for end in ("key", "csr", "crt"))
        with open(self.path("extensions"), "w", encoding="utf-8") as file:
            file.write(f"subjectAltName={alternative_name}\n")
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                      "-keyout", key, "-out", request)
        self._openssl("x509", "-req", "-in", request, "-CA", self.path("ca.crt"), "-CAkey", self.path("ca.key"),
                      "-CAcreateserial", "-days", "1", "-extfile", self.path("extensions"), "-out", certificate)
        os.replace(key, self.path(f"{name}.key"))
        os.replace(certificate, self.path(f"{name}.crt"))
        return self.path(f"{name}.crt"), self.path(f"{name}.key")


class TlsTest(SiteTest):
    def serve(self, *flags):
        self.site_ = self.site()
        self.authority = Authority(self.site_.folder)
        certificate, key = self.authority.issue("server", "IP:127.0.0.1,DNS:localhost")
        with open(self.site_.keys_file, "a", encoding="utf-8") as file:
            file.write('certificates:\n  - {id: billing, tenant: acme, san_uri: "spiffe://example.org/billing"}\n')
        server = Server("--keys", self.site_.keys_file, "--tls-cert", certificate, "--tls-key", key,
                        "--tls-client-ca", self.authority.path("ca.crt"), *flags)
        self.addCleanup(server.__exit__)
        self.assertTrue(server.url.startswith("https://"), server.url)
        return server

    def context(self, client=None):
        context = ssl.create_default_context(cafile=self.authority.path("ca.crt"))
        if client:
            context.load_cert_chain(*client)
        return context

    def models(self, server, context, headers=()):
        """The answer's code, and the serial number of the certificate that it came under."""
        link = http.client.HTTPSConnection(server.url.removeprefix("https://"), context=context, timeout=60)
        try:
            link.request("GET", "/v1/models", headers=dict(headers))
            serial = link.sock.getpeercert()["serialNumber"]
            answer = link.getresponse()
            answer.read()
            return answer.status, serial
        finally:
            link.close()

    def key(self, key_id="ann"):
        return {"Authorization": f"Bearer {self.site_.keys[key_id]}"}

    def grpc_models(self, server, client=None, metadata=()):
        def read(path):
            with open(path, "rb") as file:
                return file.read()
        chain, key = (read(client[0]), read(client[1])) if client else (None, None)
        credentials = grpc.ssl_channel_credentials(read(self.authority.path("ca.crt")), key, chain)
        with grpc.secure_channel(server.address, credentials) as channel:
            call = channel.unary_unary("/headstart.v1.InferenceService/ListModels")
            return call(b"", metadata=metadata, timeout=60)

    def test_a_key_opens_both_and_nothing_opens_without(self):
        server = self.serve()
        self.assertEqual(self.models(server, self.context(), self.key())[0], 200)
        self.assertEqual(self.models(server, self.context())[0], 401)
        self.assertTrue(self.grpc_models(server, metadata=[("authorization", self.key()["Authorization"])]))
        with self.assertRaises(grpc.RpcError) as refused:
            self.grpc_models(server)
        self.assertEqual(refused.exception.code(), grpc.StatusCode.UNAUTHENTICATED)

    def test_client_certificate_stands_in_for_a_key(self):
        server = self.serve()
        known = self.authority.issue("billing", "URI:spiffe://example.org/billing")
        self.assertEqual(self.models(server, self.context(known))[0], 200)
        self.assertTrue(self.grpc_models(server, known))
        unknown = self.authority.issue("other", "URI:spiffe://example.org/other")
        self.assertEqual(self.models(server, self.context(unknown))[0], 401)
        with self.assertRaises(grpc.RpcError) as refused:
            self.grpc_models(server, unknown)
        self.assertEqual(refused.exception.code(), grpc.StatusCode.UNAUTHENTICATED)

    def test_required_client_certificate(self):
        server = self.serve("--tls-require-client-cert")
        # TLS 1.3 tells the client with its first answer.
        with self.assertRaises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
            self.models(server, self.context(), self.key())
        with self.assertRaises(grpc.RpcError) as refused:
            self.grpc_models(server, metadata=[("authorization", self.key()["Authorization"])])
        self.assertEqual(refused.exception.code(), grpc.StatusCode.UNAVAILABLE)
        known = self.authority.issue("billing", "URI:spiffe://example.org/billing")
        self.assertEqual(self.models(server, self.context(known))[0], 200)
        self.assertTrue(self.grpc_models(server, known))

    def test_renewed_certificate_is_taken_without_a_restart(self):
        server = self.serve()
        before = self.models(server, self.context(), self.key())[1]
        self.authority.issue("server", "IP:127.0.0.1,DNS:localhost")
        server.signal(signal.SIGHUP)
        def renewed():
            return self.models(server, self.context(), self.key())[1] != before
        wait_for(renewed, "the renewed certificate over HTTP")
        self.assertTrue(self.grpc_models(server, metadata=[("authorization", self.key()["Authorization"])]))

    def test_damaged_renewal_leaves_the_old_one_in_use(self):
        server = self.serve()
        before = self.models(server, self.context(), self.key())[1]
        with open(self.authority.path("server.crt"), "w", encoding="utf-8") as file:
            file.write("-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n")
        server.signal(signal.SIGHUP)
        server.wait_for_log("server.crt")
        self.assertEqual(self.models(server, self.context(), self.key()), (200, before))

    def test_plain_text_is_not_answered(self):
        server = self.serve()
        host, port = server.url.removeprefix("https://").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as link:
            link.sendall(b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = link.recv(4096)
        self.assertNotIn(b"200 OK", answer)

    def test_the_programs_own_client(self):
        server = self.serve()
        environment = {**os.environ, "HEADSTART_API_KEY": self.site_.keys["ann"]}
        told = run("generate", "The red lamp", "--max-tokens", "2", "--json", "--server", server.address,
                   "--tls-ca", self.authority.path("ca.crt"), env=environment)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertGreater(int(json.loads(told.stdout)["finished"]["usage"]["prompt_tokens"]), 0)
        distrusted = run("models", "--server", server.address, "--tls", env=environment)
        self.assertNotEqual(distrusted.returncode, 0)


if __name__ == "__main__":
    unittest.main()
