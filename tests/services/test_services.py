"""The services of a fleet, as `scripts/services.sh` starts, stops, restarts and kills them."""

import concurrent.futures
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import botocore.session
import deltalake
import pika
import psycopg
import pyarrow
import pytest
from botocore.exceptions import ClientError

SCRIPT = Path(__file__).parents[2] / "scripts/services.sh"
NAMES = ["ledger", "broker", "store"]
BUCKET = "manyworlds"


class Services:
    """Services in a folder of their own."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp())

    def run(self, *words):
        """What the script says on both streams, and its exit code."""
        environment = {**os.environ, "MANYWORLDS_SERVICES": str(self.folder)}
        with tempfile.TemporaryFile("w+") as said:  # not a pipe: it would wait for whoever the script left running
            code = subprocess.run([SCRIPT, *words], env=environment, stdout=said, stderr=subprocess.STDOUT).returncode
            said.seek(0)
            return said.read(), code

    def do(self, *words):
        said, code = self.run(*words)
        assert code == 0, said
        return said

    def start(self):
        self.environment = dict(re.findall(r"^export (\w+)='?(.*?)'?$", self.do("start"), re.MULTILINE))
        return self

    def processes(self):
        """The numbers of the processes that run, by service."""
        return {name: int(number) for name, number in re.findall(r"^(\w+): process (\d+)", self.run("status")[0], re.MULTILINE)}

    def ports(self):
        return [int(port) for port in re.findall(r"_port=(\d+)", (self.folder / "settings").read_text())]

    def query(self, sql, address=None):
        with psycopg.connect(address or self.environment["MANYWORLDS_LEDGER"], autocommit=True) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else None

    def channel(self, address=None):
        channel = pika.BlockingConnection(pika.URLParameters(address or self.environment["MANYWORLDS_BROKER"])).channel()
        channel.confirm_delivery()
        return channel

    def client(self, key=None):
        return botocore.session.Session().create_client(
            "s3",
            endpoint_url=self.environment["MANYWORLDS_S3"],
            region_name=self.environment["AWS_REGION"],
            aws_access_key_id=key or self.environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.environment["AWS_SECRET_ACCESS_KEY"],
        )

    def left(self):
        """What is known of processes that have to do with the folder."""
        return [known for process in Path("/proc").glob("[0-9]*") if str(self.folder) in (known := what_is_known(process))]


def what_is_known(process):
    try:
        known = [(process / name).read_bytes().decode(errors="replace") for name in ("cmdline", "environ")]
        return " ".join([*known, os.readlink(process / "cwd")])
    except OSError:
        return ""  # it has ended


def listening(process):
    """The addresses that a process listens on, as the kernel writes them."""
    sockets = set()
    for file in Path(f"/proc/{process}/fd").iterdir():
        sockets.update(re.findall(r"socket:\[(\d+)\]", os.readlink(file)))
    found = []
    for table in ("tcp", "tcp6"):
        for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = row.split()
            if fields[3] == "0A" and fields[9] in sockets:
                found.append(fields[1].split(":")[0])
    return found


@pytest.fixture(scope="module")
def services():
    services = Services()
    try:
        yield services.start()
    finally:
        services.do("stop", "--wipe")
        shutil.rmtree(services.folder, ignore_errors=True)


def test_the_ledger_answers_to_its_password_only(services):
    assert services.query("SHOW fsync") == [("on",)]
    assert services.query("SELECT current_database()") == [("manyworlds",)]
    address = services.environment["MANYWORLDS_LEDGER"]
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        services.query("SELECT 1", re.sub(r":[0-9a-f]{32}@", ":wrong@", address))


def test_the_broker_answers_to_its_password_only(services):
    services.channel().connection.close()
    with pytest.raises(pika.exceptions.ProbableAuthenticationError):
        services.channel(re.sub(r":[0-9a-f]{32}@", ":wrong@", services.environment["MANYWORLDS_BROKER"]))


def test_the_store_answers_to_its_key_only(services):
    client = services.client()
    client.put_object(Bucket=BUCKET, Key="answer", Body=b"42")
    assert client.get_object(Bucket=BUCKET, Key="answer")["Body"].read() == b"42"
    with pytest.raises(ClientError, match="InvalidAccessKeyId"):
        services.client(key="somebody").put_object(Bucket=BUCKET, Key="answer", Body=b"43")


def test_nobody_listens_beyond_this_machine(services):
    processes = [int(file.read_text().split()[0]) for file in services.folder.glob("*.pid")]
    addresses = [listening(process) for process in processes]
    assert len(addresses) == 4 and all(addresses)
    assert {one for many in addresses for one in many} <= {"0100007F", "00000000000000000000000001000000"}


def test_a_second_start_changes_nothing(services):
    before = services.processes()
    services.start()
    assert services.processes() == before
    assert list(before) == NAMES


def keep(services):
    """Something that each service promises to keep."""
    services.query("CREATE TABLE kept AS SELECT 1 AS value")
    channel = services.channel()
    channel.basic_publish("", "kept", b"1", pika.BasicProperties(delivery_mode=2))
    channel.connection.close()
    services.client().put_object(Bucket=BUCKET, Key="kept", Body=b"1")


def assert_kept(services):
    assert services.query("SELECT value FROM kept") == [(1,)]
    services.query("DROP TABLE kept")
    channel = services.channel()
    deadline = time.monotonic() + 30
    while channel.queue_declare("kept", passive=True).method.message_count == 0:  # the queue elects its leader
        assert time.monotonic() < deadline, "the message is lost"
        time.sleep(0.05)
    assert channel.basic_get("kept", auto_ack=True)[2] == b"1"
    channel.connection.close()
    assert services.client().get_object(Bucket=BUCKET, Key="kept")["Body"].read() == b"1"


def test_what_was_promised_survives_restarts_and_crashes(services):
    channel = services.channel()
    channel.queue_declare("kept", durable=True, arguments={"x-queue-type": "quorum"})
    channel.connection.close()
    # The graceful restart comes first: RabbitMQ forgets a quorum queue that is killed in the first second of its life.
    for how in [], ["--kill"]:
        before = services.processes()
        keep(services)
        for name in NAMES:
            services.do("restart", name, *how)
        after = services.processes()
        assert list(after) == NAMES
        assert all(after[name] != before[name] for name in NAMES)
        assert_kept(services)


@pytest.mark.parametrize("name", NAMES)
def test_start_brings_back_what_has_crashed_and_only_that(services, name):
    before = services.processes()
    os.kill(before.pop(name), signal.SIGKILL)
    while services.run("status")[1] == 0:
        pass  # a large process takes its time to end
    assert services.processes() == before
    services.start()
    after = services.processes()
    assert after.pop(name) and after == before


def race(services, key, **condition):
    """The number of winners among eight that put at once; the others are told that the condition does not hold."""
    together = threading.Barrier(8)
    client = services.client()

    def put(number):
        together.wait()
        try:
            # A body of its own, since its hash is what the next condition is about.
            client.put_object(Bucket=BUCKET, Key=key, Body=f"{number} {condition}".encode(), **condition)
            return 200
        except ClientError as error:
            return error.response["ResponseMetadata"]["HTTPStatusCode"]

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(put, range(8)))
    assert set(answers) <= {200, 412}
    return answers.count(200)


def test_of_those_who_create_or_replace_an_object_at_once_one_wins(services):
    client = services.client()
    for round in range(10):
        assert race(services, f"race/{round}", IfNoneMatch="*") == 1
        assert race(services, f"race/{round}", IfMatch=client.head_object(Bucket=BUCKET, Key=f"race/{round}")["ETag"]) == 1


def test_an_object_of_several_parts_is_whole_and_listed(services):
    client = services.client()
    where = {"Bucket": BUCKET, "Key": "parts/whole"}
    upload = client.create_multipart_upload(**where)["UploadId"]
    parts = [b"a" * (5 << 20), b"b"]
    tags = [
        {"PartNumber": number, "ETag": client.upload_part(**where, UploadId=upload, PartNumber=number, Body=part)["ETag"]}
        for number, part in enumerate(parts, 1)
    ]
    client.complete_multipart_upload(**where, UploadId=upload, MultipartUpload={"Parts": tags})
    assert client.get_object(**where)["Body"].read() == b"".join(parts)
    for number in range(3):
        client.put_object(Bucket=BUCKET, Key=f"parts/{number}", Body=b"")
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix="parts/", PaginationConfig={"PageSize": 2})
    assert [one["Key"] for page in pages for one in page["Contents"]] == ["parts/0", "parts/1", "parts/2", "parts/whole"]


def test_writers_of_one_table_lose_nothing(services):
    address = f"s3://{BUCKET}/table"
    options = {name: value for name, value in services.environment.items() if name.startswith("AWS_")}
    deltalake.write_deltalake(address, pyarrow.table({"value": [0]}), storage_options=options)

    def append(writer):
        for _ in range(5):
            deltalake.write_deltalake(address, pyarrow.table({"value": [writer]}), mode="append", storage_options=options)

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        list(threads.map(append, range(1, 5)))
    table = deltalake.DeltaTable(address, storage_options=options)
    assert table.version() == 20
    assert sorted(table.to_pyarrow_table()["value"].to_pylist()) == [0] + [writer for writer in range(1, 5) for _ in range(5)]


def test_copies_do_not_meet_and_leave_nothing(services):
    before = services.processes()
    copy = Services().start()
    ports = copy.ports()
    assert not set(ports) & set(services.ports())
    assert copy.left()
    copy.do("stop")
    assert copy.left() == []
    for port in ports:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
    assert services.processes() == before
    copy.do("stop", "--wipe")
    assert not copy.folder.exists()


def test_a_folder_of_somebody_elses_is_left_alone():
    services = Services()
    theirs = services.folder / "theirs"
    theirs.write_text("precious")
    said, code = services.run("start")
    assert code == 2 and "is not empty" in said
    services.do("stop", "--wipe")
    assert theirs.read_text() == "precious"
    shutil.rmtree(services.folder)
