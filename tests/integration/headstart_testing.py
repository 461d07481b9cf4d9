"""What the integration tests share: the real program as a process, and a client made from its own reflection service.

No stubs are generated: what a stranger with nothing but the server's address can call is what is tested.
"""

import os
import re
import subprocess
import sys
import threading

SKIPPED = 77  # ctest's SKIP_RETURN_CODE

try:
    import grpc
    from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
except ImportError as error:
    print(f"skipped: needs the packages python3-grpcio and python3-protobuf ({error})")
    sys.exit(SKIPPED)

BINARY = os.environ["HEADSTART_BINARY"]
REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEMO_MODEL = os.path.join(REPOSITORY, "gateway", "demo", "model")
READY_SECONDS = 60  # generous: a loaded machine with sanitizers


def run(*arguments, **options):
    """The program's result for `arguments`, with what it wrote."""
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=120, **options)


def serve(*flags):
    """The result of a server that is expected to end at once; on free ports, unless `flags` say where."""
    ports = [word for flag in ("--listen", "--http-listen") if flag not in flags for word in (flag, "127.0.0.1:0")]
    return run("serve", *ports, *flags)


class Server:
    """A running server on a free port. Its log is kept; leaving the context kills it if it still runs."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [BINARY, "serve", "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.log = []
        self._log_grew = threading.Condition()
        threading.Thread(target=self._read_log, daemon=True).start()
        ready = self.process.stdout.readline()
        found = re.search(r"serving \S+ at (\S+)", ready)
        assert found, f"no ready line, but {ready!r}; log: {self.log}"
        self.address = found.group(1)
        self.url = None
        while self.url is None:
            line = self.process.stdout.readline()
            assert line, f"no HTTP address; log: {self.log}"
            if found := re.search(r"dashboard: (\S+)/", line):
                self.url = found.group(1)

    def _read_log(self):
        for line in self.process.stderr:
            with self._log_grew:
                self.log.append(line)
                self._log_grew.notify_all()

    def wait_for_log(self, pattern):
        """The first line that matches, once it is there."""
        def find():
            return next((line for line in self.log if re.search(pattern, line)), None)
        with self._log_grew:
            assert self._log_grew.wait_for(find, READY_SECONDS), f"no line {pattern!r} in {self.log}"
            return find()

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self):
        return self.process.wait(READY_SECONDS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def _field(message, name, number, kind, type_name=None, repeated=False):
    types = descriptor_pb2.FieldDescriptorProto
    field = message.field.add(name=name, number=number, type=kind)
    field.label = types.LABEL_REPEATED if repeated else types.LABEL_OPTIONAL
    if type_name:
        field.type_name = type_name


def _reflection_file():
    """The part of grpc.reflection.v1alpha that is used here."""
    types = descriptor_pb2.FieldDescriptorProto
    package = "grpc.reflection.v1alpha"
    file = descriptor_pb2.FileDescriptorProto(name="reflection_subset.proto", package=package, syntax="proto3")
    request = file.message_type.add(name="ServerReflectionRequest")
    _field(request, "file_containing_symbol", 4, types.TYPE_STRING)
    _field(request, "list_services", 7, types.TYPE_STRING)
    files = file.message_type.add(name="FileDescriptorResponse")
    _field(files, "file_descriptor_proto", 1, types.TYPE_BYTES, repeated=True)
    service = file.message_type.add(name="ServiceResponse")
    _field(service, "name", 1, types.TYPE_STRING)
    services = file.message_type.add(name="ListServiceResponse")
    _field(services, "service", 1, types.TYPE_MESSAGE, f".{package}.ServiceResponse", repeated=True)
    response = file.message_type.add(name="ServerReflectionResponse")
    _field(response, "file_descriptor_response", 4, types.TYPE_MESSAGE, f".{package}.FileDescriptorResponse")
    _field(response, "list_services_response", 6, types.TYPE_MESSAGE, f".{package}.ListServiceResponse")
    return file


class Client:
    """Calls by name, with requests as dictionaries in the form of JSON."""

    def __init__(self, address):
        self.channel = grpc.insecure_channel(address)
        self.pool = descriptor_pool.DescriptorPool()
        self.pool.Add(_reflection_file())
        self.loaded = set()
        self.factory = message_factory.MessageFactory(self.pool)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()

    def message_class(self, name):
        return self.factory.GetPrototype(self.pool.FindMessageTypeByName(name))

    def _reflect(self, **question):
        package = "grpc.reflection.v1alpha"
        request = self.message_class(f"{package}.ServerReflectionRequest")(**question)
        response_class = self.message_class(f"{package}.ServerReflectionResponse")
        call = self.channel.stream_stream(
            f"/{package}.ServerReflection/ServerReflectionInfo",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=response_class.FromString)
        return next(iter(call(iter([request]))))

    def services(self):
        return [service.name for service in self._reflect(list_services="*").list_services_response.service]

    def _load(self, symbol):
        encoded = self._reflect(file_containing_symbol=symbol).file_descriptor_response.file_descriptor_proto
        files = {file.name: file for file in map(descriptor_pb2.FileDescriptorProto.FromString, encoded)}
        while files:  # what others import goes first
            name = next(iter(files))
            while missing := [imported for imported in files[name].dependency if imported in files]:
                name = missing[0]
            if name not in self.loaded:
                self.pool.Add(files[name])
                self.loaded.add(name)
            del files[name]

    def method(self, service, name):
        try:
            descriptor = self.pool.FindServiceByName(service)
        except KeyError:
            self._load(service)
            descriptor = self.pool.FindServiceByName(service)
        return descriptor.methods_by_name[name]

    def call(self, name, request, service="headstart.v1.InferenceService", **options):
        """The answer of a unary call, or the iterator of a stream's events."""
        method = self.method(service, name)
        streams = method.output_type.name in ("GenerateResponse",)
        make = self.channel.unary_stream if streams else self.channel.unary_unary
        stub = make(f"/{service}/{name}",
                    request_serializer=lambda message: message.SerializeToString(),
                    response_deserializer=self.factory.GetPrototype(method.output_type).FromString)
        message = self.factory.GetPrototype(method.input_type)()
        return stub(json_format.ParseDict(request, message), **options)

    def health(self, service=""):
        health = self.call("Check", {"service": service}, service="grpc.health.v1.Health")
        return type(health).ServingStatus.Name(health.status)
