# Sends requests over STOMP to RabbitMQ and says what came back, as client.py beside
# does over AMQP:
#
#   stomp_client.py HOST:PORT TO COUNT [BAD_REPLY_TO...]
#
# Answers come to a temporary queue. A BAD_REPLY_TO is an address, none, or vanished: the
# temporary queue of a client that is gone. As RabbitMQ lets nobody say a wrong address
# over STOMP, those are said over AMQP 1.0, to the broker at the URL in AMQP.
import json
import os
import re
import socket
import sys
import time

host, port = sys.argv[1].split(":")
to, count, bad = sys.argv[2], int(sys.argv[3]), sys.argv[4:]
QUIET = float(os.environ.get("QUIET", 60))
REPLY = "/temp-queue/answers"


def escape(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace(":", "\\c")


def frame(command, body=b"", **headers):
    lines = [command] + [f"{name.replace('_', '-')}:{escape(str(value))}" for name, value in headers.items()]
    return "\n".join(lines).encode() + b"\n\n" + body + b"\0"


def connect():
    s = socket.create_connection((host, int(port)))
    s.sendall(b"CONNECT\naccept-version:1.2\nhost:/\nlogin:guest\npasscode:guest\n\n\0")
    return s


def ask_and_vanish(i):
    with connect() as s:
        s.settimeout(10)
        s.sendall(frame("SEND", b"vanished", destination=to, correlation_id=f"i:{i}", reply_to="/temp-queue/gone", receipt="sent"))
        received = b""
        while b"receipt-id:sent" not in received:
            received += s.recv(1 << 16)


def ask_over_amqp(i, reply_to):
    from proton import Message
    from proton.utils import BlockingConnection

    connection = BlockingConnection(os.environ["AMQP"], allowed_mechs="PLAIN", virtual_host="vhost:/")
    connection.create_sender("/amq" + to).send(Message(id=f"bad-{i}", correlation_id=f"i:{i}", reply_to=reply_to, body="bad"))
    connection.close()


s = connect()
s.settimeout(0.5)
bads = {f"i:{i}" for i in range(count, count + len(bad))}
asked, came, twice, wrong, latencies = {}, set(), 0, [], []
out = []
for i in range(count + len(bad)):
    headers = {"destination": to, "persistent": "true", "priority": 7, "correlation_id": f"i:{i}", "kind": "a:b\\c", "n": i}
    if i < count:
        headers["reply_to"] = REPLY
        asked[f"i:{i}"] = i
    elif bad[i - count] == "vanished":
        ask_and_vanish(i)
        continue
    elif bad[i - count] != "none":
        ask_over_amqp(i, bad[i - count])
        continue
    out.append(frame("SEND", f"text {i}".encode(), **headers))
began = last = time.time()
s.sendall(b"".join(out))
buffer = b""
while len(came) < count and time.time() - last < QUIET:
    try:
        data = s.recv(1 << 16)
    except socket.timeout:
        continue
    if not data:
        wrong.append("the broker closed the connection")
        break
    buffer += data
    while b"\0" in buffer:
        one, buffer = buffer.split(b"\0", 1)
        head, _, body = one.lstrip(b"\n").partition(b"\n\n")
        command, *lines = head.decode().split("\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers.setdefault(name, re.sub(r"\\(.)", lambda m: {"n": "\n", "r": "\r", "c": ":"}.get(m[1], m[1]), value))
        if command == "ERROR":
            wrong.append(headers.get("message", "") + body.decode())
        if command != "MESSAGE":
            continue
        now = last = time.time()
        key = headers.get("correlation-id")
        if key in bads:
            continue  # the broker has made one of our own addresses of it
        if key in came:
            twice += 1
            continue
        came.add(key)
        if key not in asked:
            wrong.append(f"nobody asked {key}")
            continue
        if headers.get("n") != str(asked[key]) or headers.get("kind") != "a:b\\c" or headers.get("persistent") != "true" or headers.get("priority") != "7" or body != b"hello":
            wrong.append(f"{key}: {headers} {body}")
        latencies.append(round(1000 * (now - began), 2))
print(json.dumps({"answers": len(came), "twice": twice, "wrong": wrong[:5], "wrongs": len(wrong), "took": round(last - began, 3), "latencies": latencies}))
