"""A load for the tests of the account: requests of all kinds, mixed by chance, from several callers at once."""

import http.client
import random
import threading

from account_callers import Answer

WORKERS = 6


def prompt(rng, length):
    return [rng.randrange(10, 460) for _ in range(length)]


class Load:
    """Random requests of all kinds, of a worker with its own ids and random numbers."""

    def __init__(self, name, rng, caller, prompts, notebook, stopped):
        self.name, self.rng, self.caller, self.prompts = name, rng, caller, prompts
        self.notebook, self.stopped = notebook, stopped
        self.sent = []  # (id, tokens, max_tokens) of what can be tried again

    def run(self, count):
        actions = [self.generate] * 5 + [self.complete] * 3 + [self.stream] * 3 + [
            self.cancel, self.cancel, self.disconnect, self.deadline, self.retry, self.retry, self.reuse, self.choices,
            self.prefix]
        for number in range(count):
            if self.stopped.is_set():
                return
            tokens = self.rng.choice(self.prompts)[:self.rng.randrange(20, 300)] + prompt(self.rng, self.rng.randrange(1, 40))
            name = f"{self.name}-{number}"
            try:
                self.rng.choice(actions)(name, tokens, self.rng.randrange(1, 60))
            except (OSError, http.client.HTTPException):
                if not self.stopped.is_set():
                    raise
                for choice in (name, f"{name}#1", f"{name}#2"):  # its server was killed, so nobody knows
                    self.keep(Answer(choice))

    def keep(self, answer):
        self.notebook.add(self.caller, answer)
        return answer

    def generate(self, name, tokens, most):
        self.sent.append((name, tokens, most))
        self.keep(self.caller.generate(tokens, most, name, labels={"team": self.rng.choice("xyz")}))

    def complete(self, name, tokens, most):
        self.keep(self.caller.complete(tokens, most, name, user=self.rng.choice("uvw")))

    def stream(self, name, tokens, most):
        self.keep(self.caller.stream(tokens, most, name, metadata={"team": self.rng.choice("xyz")}))

    def cancel(self, name, tokens, most):
        self.keep(self.caller.generate(tokens, most + 100, name, stop_after=self.rng.randrange(most)))

    def disconnect(self, name, tokens, most):
        self.keep(self.caller.stream(tokens, most + 100, name, stop_after=self.rng.randrange(most)))

    def deadline(self, name, tokens, most):
        self.keep(self.caller.generate(tokens, most + 100, name, timeout=self.rng.uniform(0.01, 0.1)))

    def retry(self, _, __, ___):
        if self.sent:
            name, tokens, most = self.rng.choice(self.sent)
            answer = self.keep(self.caller.generate(tokens, most, name))
            assert not answer.bill or answer.receipt["repeated"], name

    def reuse(self, _, tokens, most):
        if self.sent:
            name = self.rng.choice(self.sent)[0]
            answer = self.caller.generate(tokens + [299], most, name)
            assert answer.bill is None, f"another request was taken for {name}"

    def choices(self, name, tokens, most):
        self.keep(self.caller.complete(tokens, most, name, n=3, seed=7, temperature=1))

    def prefix(self, name, tokens, _):
        self.keep(self.caller.create_prefix(name, tokens[:100], name))


def nothing():
    pass


def run_load(station, notebook, name, count, stopped=None, until=nothing):
    stopped = stopped or threading.Event()
    rng = random.Random(name)
    shared = {"acme": [prompt(rng, 300) for _ in range(6)], "globex": [prompt(rng, 300) for _ in range(3)]}
    callers = [station.caller(("ann", "bob", "gil")[number % 3]) for number in range(WORKERS)]
    loads = [Load(f"{name}{number}", random.Random(f"{name}{number}"), caller, shared[caller.tenant], notebook, stopped)
             for number, caller in enumerate(callers)]
    errors = []

    def work(load):
        try:
            load.run(count)
        except BaseException as error:  # told by the test's own thread
            errors.append(error)
            stopped.set()
    threads = [threading.Thread(target=work, args=(load,)) for load in loads]
    for thread in threads:
        thread.start()
    try:
        until()
    finally:
        if until is not nothing:
            stopped.set()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
    return loads
