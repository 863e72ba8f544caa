# Sends requests over STOMP to RabbitMQ and says what came back, as client.py beside
# does over AMQP:
#
#   stomp_client.py HOST:PORT TO COUNT [BAD_REPLY_TO...]
#
# Answers come to a temporary queue.
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


s = socket.create_connection((host, int(port)))
s.sendall(b"CONNECT\naccept-version:1.2\nhost:/\nlogin:guest\npasscode:guest\n\n\0")
s.settimeout(0.5)
asked, came, twice, wrong, latencies = {}, set(), 0, [], []
out = []
for i in range(count + len(bad)):
    headers = {"destination": to, "persistent": "true", "priority": 7, "correlation_id": f"i:{i}", "kind": "a:b\\c", "n": i}
    if i < count:
        headers["reply_to"] = REPLY
        asked[f"i:{i}"] = i
    elif bad[i - count] != "none":
        headers["reply_to"] = bad[i - count]
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
