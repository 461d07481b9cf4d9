"""Callers for the tests of the account: requests over gRPC and HTTP, and what was learned of each."""

import contextlib
import http.client
import json
import threading

from headstart_testing import grpc

PATIENCE_SECONDS = 60  # generous: a loaded machine with sanitizers
TIERS = ("device", "host", "disk", "remote")
PREFIXES = "headstart.v1.PrefixService"
KEYS = {"ann": ("acme", "user"), "bob": ("acme", "user"), "gil": ("globex", "user"), "ops": ("platform", "operator")}


def bill_of_json(usage, charged):
    """Of a usage and a charge as protobuf writes them in JSON."""
    tiers = {tier: int(usage["cached_by_tier"][tier]) for tier in TIERS}
    return {"prompt": int(usage["prompt_tokens"]), **tiers, "computed": int(usage["computed_prompt_tokens"]),
            "write": int(usage["cache_write_tokens"]), "completion": int(usage["completion_tokens"]),
            "cost": int(charged["cost_nanos"]), "without": int(charged["cost_without_cache_nanos"]),
            "saved": int(charged["saved_nanos"])}


class Answer:
    """What a caller learned of one request."""

    def __init__(self, request_id=None):
        self.request_id = request_id
        self.started = False
        self.tokens = 0     # that it saw: at least so many
        self.ids = []
        self.bill = None    # of this attempt; its amounts are the record's
        self.receipt = {}
        self.refusal = None
        self.more = []      # further choices

    def finish(self, bill, receipt):
        self.bill, self.receipt = bill, receipt


def code_of(refusal):
    return refusal.code() if isinstance(refusal, grpc.RpcError) else refusal[0]


def reason_of(refusal):
    """What holds ErrorInfo's reason, or the code of OpenAI's error."""
    if isinstance(refusal, grpc.RpcError):
        return dict(refusal.trailing_metadata()).get("grpc-status-details-bin", b"")
    return refusal[2]["code"].upper().encode()


class Caller:
    """Sends requests with one key, over gRPC and HTTP."""

    def __init__(self, station, key_id, metadata=()):
        self.station = station
        self.key_id, self.tenant = key_id, KEYS[key_id][0]
        self.credential = f"Bearer {station.site.keys[key_id]}"
        self.metadata = [("authorization", self.credential), *metadata]

    def call(self, name, request, service="headstart.v1.InferenceService", **options):
        return self.station.client.call(name, request, service, metadata=self.metadata, **options)

    def generate(self, tokens, max_tokens, request_id="", stop_after=None, **options):
        """Over gRPC. `stop_after` tokens the caller goes away."""
        fields = {name: options.pop(name) for name in ("labels", "sampling", "cache") if name in options}
        answer = Answer(request_id)
        stream = self.call("Generate", {"input": {"tokens": {"ids": tokens}}, "max_tokens": max_tokens, "ignore_eos": True,
                                        "request_id": request_id, **fields}, **options)
        try:
            for event in stream:
                self._take(event, answer)
                if stop_after is not None and answer.tokens >= stop_after:
                    stream.cancel()
                    break
        except grpc.RpcError as error:
            answer.refusal = error
        return answer

    @staticmethod
    def _take(event, answer):
        if event.HasField("started"):
            answer.started, answer.request_id = True, event.started.request_id
        elif event.HasField("delta"):
            answer.ids += event.delta.token_ids
            answer.tokens = len(answer.ids)
        else:
            answer.finish(*read_answer(event.finished))

    def create_prefix(self, prefix_id, tokens, request_id, ttl="1.5s"):
        answer = Answer(request_id)
        try:
            made = self.call("CreatePrefix", {"id": prefix_id, "input": {"tokens": {"ids": tokens}}, "ttl": ttl,
                                              "request_id": request_id}, PREFIXES)
            answer.finish(*read_answer(made))
        except grpc.RpcError as error:
            answer.refusal = error
        return answer

    def http(self, method, path, body=None, headers=()):
        with contextlib.closing(http.client.HTTPConnection(self.station.http_address, timeout=PATIENCE_SECONDS)) as link:
            self._send(link, method, path, body, headers)
            response = link.getresponse()
            return response.status, response.headers, response.read()

    def _send(self, link, method, path, body, headers):
        fields = {"Authorization": self.credential, **dict(headers)}
        if body is not None:
            fields["Content-Type"] = "application/json"
        link.request(method, path, body=None if body is None else json.dumps(body), headers=fields)

    def complete(self, tokens, max_tokens, request_id=None, headers=(), **fields):
        """Over HTTP, whole. The refusal is (status, headers, error)."""
        body = {"prompt": tokens, "max_tokens": max_tokens, "ignore_eos": True, **fields}
        headers = {**dict(headers), **({"Idempotency-Key": request_id} if request_id else {})}
        status, got, payload = self.http("POST", "/v1/completions", body, headers)
        answer = Answer(request_id)
        if status != 200:
            answer.refusal = (status, got, json.loads(payload)["error"])
            return answer
        usage = json.loads(payload)["usage"]
        take_http_usage(usage, answer)
        answer.request_id, answer.started = got["x-request-id"], True
        return answer

    def stream(self, tokens, max_tokens, request_id=None, stop_after=None, **fields):
        """Over HTTP, piece by piece. `stop_after` pieces the caller closes the connection."""
        body = {"prompt": tokens, "max_tokens": max_tokens, "ignore_eos": True, "stream": True,
                "stream_options": {"include_usage": True}, **fields}
        answer = Answer(request_id)
        with contextlib.closing(http.client.HTTPConnection(self.station.http_address, timeout=PATIENCE_SECONDS)) as link:
            self._send(link, "POST", "/v1/completions", body, {"Idempotency-Key": request_id} if request_id else {})
            response = link.getresponse()
            if response.status != 200:
                answer.refusal = (response.status, response.headers, json.loads(response.read())["error"])
                return answer
            answer.started, answer.request_id = True, response.headers["x-request-id"]
            for line in response:
                if not line.startswith(b"data: {"):
                    continue
                event = json.loads(line[len(b"data: "):])
                answer.tokens += sum(bool(choice["text"]) for choice in event.get("choices", ()))
                if event.get("usage"):
                    take_http_usage(event["usage"], answer)
                if stop_after is not None and answer.tokens >= stop_after:
                    break
        return answer


def read_answer(message):
    """Bill and receipt of a message that has usage and receipt."""
    usage, receipt = message.usage, message.receipt
    cached = usage.cached_by_tier
    for field in ("prompt_tokens", "cached_tokens", "computed_prompt_tokens", "completion_tokens", "recomputed_tokens"):
        assert usage.HasField(field), f"{field} is missing"
    assert usage.cached_tokens == cached.device + cached.host + cached.disk + cached.remote
    bill = {"prompt": usage.prompt_tokens, **{tier: getattr(cached, tier) for tier in TIERS},
            "computed": usage.computed_prompt_tokens, "write": usage.cache_write_tokens,
            "completion": usage.completion_tokens, "cost": receipt.charge.cost_nanos,
            "without": receipt.charge.cost_without_cache_nanos, "saved": receipt.charge.saved_nanos}
    return bill, {"recorded": receipt.recorded, "repeated": receipt.repeated, "warning": receipt.budget_warning,
                  "version": receipt.charge.price_version, "recomputed": usage.recomputed_tokens}


def take_http_usage(usage, answer):
    headstart = usage["headstart"]
    assert usage["prompt_tokens_details"]["cached_tokens"] == headstart["cached_tokens"]
    requests = headstart.get("requests", [headstart])
    assert usage["completion_tokens"] == sum(request["completion_tokens"] for request in requests)
    assert headstart["cost"]["cost_nanos"] == sum(request["cost"]["cost_nanos"] for request in requests)
    answers = [answer] + [Answer(request["request_id"]) for request in requests[1:]]
    answer.more = answers[1:]
    for part, request in zip(answers, requests):
        receipt = {"recorded": request["recorded"], "repeated": request["repeated"], "warning": request["budget_warning"],
                   "version": request["cost"]["price_version"], "recomputed": request["recomputed_tokens"]}
        part.finish(bill_of_json(request, request["cost"]), receipt)
        part.tokens = request["completion_tokens"]


REFUSED_BEFORE_WORK = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.ALREADY_EXISTS, 400)


class Notebook:
    """What callers know, by (tenant, request id): to be held against the account."""

    def __init__(self):
        self._lock = threading.Lock()
        self.attempts = {}  # every answer that may have left a record

    def add(self, caller, answer):
        if answer.refusal is not None and code_of(answer.refusal) in REFUSED_BEFORE_WORK:
            return
        with self._lock:
            for part in (answer, *answer.more):
                self.attempts.setdefault((caller.tenant, part.request_id), []).append(part)

    def receipts(self):
        with self._lock:
            return sum(answer.bill is not None for answers in self.attempts.values() for answer in answers)

    def expected(self, place):
        """The bill of a record whose first attempt got its receipt; None when nobody was told."""
        answers = self.attempts[place]
        first = next((answer for answer in answers if answer.bill and not answer.receipt["repeated"]), None)
        if first is None or any(answer.bill is None for answer in answers):
            return None
        dearest = max((answer.bill for answer in answers if answer.bill), key=lambda bill: bill["cost"])
        longest = max(answer.bill["completion"] for answer in answers)
        return {**first.bill, "completion": longest, **{name: dearest[name] for name in ("cost", "without", "saved")}}
