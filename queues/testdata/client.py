# Sends requests over AMQP 1.0 and says what came back, for the tests beside.
#
#   client.py URL TO REPLY_TO COUNT [BAD_REPLY_TO...]
#
# Of ids it sends each type that there is, of bodies texts and bytes. It prints JSON:
# how many answers came, how many of them twice, what was wrong with them, the
# latency of each in milliseconds, and how long all took in seconds.
import json
import os
import sys
import time
import uuid

from proton import Message, ulong
from proton.handlers import MessagingHandler
from proton.reactor import Container

url, to, reply_to, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
plain = "PLAIN" in os.environ  # ids are texts, and answers do not keep kinds of bodies
source = os.environ.get("SOURCE", reply_to)  # what the client calls the place that it says is the reply-to
only_send = "ONLY_SEND" in os.environ
bad = sys.argv[5:]
QUIET = float(os.environ.get("QUIET", 60))  # seconds without an answer after which it ends


def identity(i):
    return f"id-{i}" if plain else [f"id-{i}", ulong(10**6 + i), uuid.UUID(int=2**100 + i), f"bin-{i}".encode()][i % 4]


def key_of(value):
    return str(int(value)) if isinstance(value, int) else str(value)


class Client(MessagingHandler):
    def __init__(self):
        super().__init__(prefetch=1000, auto_accept=True)
        self.sent, self.accepted, self.when, self.came = 0, 0, {}, {}
        self.twice, self.wrong, self.latencies = 0, [], []
        self.last = self.began = time.time()

    def on_start(self, event):
        self.container = event.container
        self.conn = event.container.connect(url, reconnect=[0.2] * 200, allowed_mechs="PLAIN", virtual_host="vhost:/", heartbeat=30)
        if not only_send:
            event.container.create_receiver(self.conn, source)
        self.sender = event.container.create_sender(self.conn, to)
        event.container.schedule(0.5, self)

    def on_timer_task(self, event):
        if time.time() - self.last > QUIET:
            self.finish()
        else:
            event.container.schedule(0.5, self)

    def on_sendable(self, event):
        while event.sender.credit and self.sent < count + len(bad):
            i = self.sent
            self.sent += 1
            m = Message(body=f"text {i}" if i % 2 else f"bytes {i}".encode(), durable=True, priority=7)
            m.properties = {"kind": "quote", "n": i}
            if i < count:
                m.reply_to = reply_to
                m.id = identity(i)
                if i % 8 >= 4:
                    m.id, m.correlation_id = None, identity(i)
                self.when[key_of(identity(i))] = (time.time(), i)
            else:
                if bad[i - count] != "none":
                    m.reply_to = bad[i - count]
                m.id = f"bad-{i - count}"
            if not i:
                self.began = time.time()
            event.sender.send(m)

    def on_accepted(self, event):
        self.accepted += 1
        if only_send and self.accepted == count:
            self.finish()

    def on_message(self, event):
        m, now = event.message, time.time()
        self.last = now
        key = key_of(m.correlation_id)
        if key in self.came:
            self.twice += 1
            return
        self.came[key] = True
        if key not in self.when:
            self.wrong.append(f"nobody asked {key}")
            return
        began, i = self.when[key]
        if not plain and isinstance(m.correlation_id, int) != isinstance(identity(i), int):
            self.wrong.append(f"id {i} is {type(m.correlation_id)}")
        text = isinstance(m.body, str)
        if not plain and text != bool(i % 2):
            self.wrong.append(f"{i} is a {type(m.body)}")
        if m.properties.get("kind") != "quote" or str(m.properties.get("n")) != str(i) or not m.durable or m.priority != 7:
            self.wrong.append(f"{i} carries {m.properties} {m.durable} {m.priority}")
        self.latencies.append(round(1000 * (now - began), 2))
        if len(self.came) == count:
            self.finish()

    def finish(self):
        self.container.stop()
        self.took = self.last - self.began


client = Client()
Container(client).run()
print(json.dumps({
    "answers": len(client.came), "twice": client.twice, "wrong": client.wrong[:5], "wrongs": len(client.wrong),
    "took": round(client.took, 3), "latencies": client.latencies,
}))
