# Sends a request for a quote and an order, and prints the answers.
#
#   python3 ask.py [amqp://USER:PASSWORD@HOST:PORT]
import sys

from proton import Message
from proton.utils import BlockingConnection

url = sys.argv[1] if len(sys.argv) > 1 else "amqp://guest:guest@127.0.0.1:5672"
connection = BlockingConnection(url, allowed_mechs="PLAIN", virtual_host="vhost:/")
answers = connection.create_receiver("/queue/answers")
requests = connection.create_sender("/queue/orders")
requests.send(Message(id="1", reply_to="/queue/answers", properties={"kind": "quote"}, body='{"article": "pen"}'))
requests.send(Message(id="2", reply_to="/queue/answers", properties={"kind": "order"}, body='{"article": "pen", "count": 3}'))
for _ in range(2):
    answer = answers.receive(timeout=10)
    answers.accept()
    currency = answer.properties.get("currency")
    print(f"{answer.correlation_id}: {answer.body}" + (f", currency {currency}" if currency else ""))
connection.close()
