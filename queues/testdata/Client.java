import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.jms.BytesMessage;
import javax.jms.Connection;
import javax.jms.DeliveryMode;
import javax.jms.Destination;
import javax.jms.Message;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Session;
import javax.jms.TemporaryQueue;
import javax.jms.TextMessage;
import org.apache.activemq.ActiveMQConnectionFactory;

/**
 * A JMS client over OpenWire: java Client.java URL QUEUE REPLY|temporary COUNT [BAD...], where BAD is none, vanished or the name of a
 * queue. Half of the requests are texts and half bytes; half have a correlation id. It prints JSON.
 */
public class Client {
    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[3]);
        Connection connection = new ActiveMQConnectionFactory(args[0]).createConnection();
        connection.start();
        Session receiving = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        Session sending = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        Destination reply = args[2].equals("temporary") ? receiving.createTemporaryQueue() : receiving.createQueue(args[2]);
        MessageConsumer consumer = receiving.createConsumer(reply);
        MessageProducer producer = sending.createProducer(sending.createQueue(args[1]));
        producer.setDeliveryMode(DeliveryMode.PERSISTENT);
        ConcurrentHashMap<String, Object[]> asked = new ConcurrentHashMap<>();
        List<String> wrong = Collections.synchronizedList(new ArrayList<>());
        List<Double> latencies = Collections.synchronizedList(new ArrayList<>());
        Set<String> came = Collections.synchronizedSet(new HashSet<>());
        int[] twice = {0};
        CountDownLatch sent = new CountDownLatch(1), all = new CountDownLatch(count);
        consumer.setMessageListener(m -> {
            try {
                long now = System.nanoTime();
                String id = m.getJMSCorrelationID();
                if (!came.add(String.valueOf(id))) {
                    twice[0]++;
                    return;
                }
                sent.await(); // until ids are known
                Object[] request = asked.get(String.valueOf(id));
                if (request == null) {
                    wrong.add("nobody asked " + id);
                    return;
                }
                int n = (int) request[0];
                String body = null;
                if (n % 2 == 0 && m instanceof TextMessage) {
                    body = ((TextMessage) m).getText();
                } else if (n % 2 == 1 && m instanceof BytesMessage) {
                    byte[] data = new byte[(int) ((BytesMessage) m).getBodyLength()];
                    ((BytesMessage) m).readBytes(data);
                    body = new String(data, "UTF-8");
                }
                if (!"hello".equals(body)) {
                    wrong.add(n + " is " + m.getClass().getSimpleName() + " with " + body);
                }
                if (!"quote".equals(m.getStringProperty("kind"))) {
                    wrong.add(n + " has the kind " + m.getStringProperty("kind"));
                }
                latencies.add((now - (long) request[1]) / 1e6);
                all.countDown();
            } catch (Exception e) {
                wrong.add(e.toString());
            }
        });
        long began = System.nanoTime();
        for (int i = 0; i < count + args.length - 4; i++) {
            Message m;
            if (i % 2 == 0) {
                m = sending.createTextMessage("text " + i);
            } else {
                BytesMessage bytes = sending.createBytesMessage();
                bytes.writeBytes(("bytes " + i).getBytes("UTF-8"));
                m = bytes;
            }
            m.setStringProperty("kind", "quote");
            m.setJMSReplyTo(reply);
            if (i >= count) {
                String bad = args[4 + i - count];
                if (bad.equals("none")) {
                    m.setJMSReplyTo(null);
                } else if (bad.equals("vanished")) {
                    TemporaryQueue gone = sending.createTemporaryQueue();
                    m.setJMSReplyTo(gone);
                    gone.delete();
                } else {
                    m.setJMSReplyTo(sending.createQueue(bad));
                }
            }
            String id = i % 4 < 2 ? "mine " + i : null;
            m.setJMSCorrelationID(id);
            long now = System.nanoTime();
            producer.send(m);
            if (i < count) {
                asked.put(id != null ? id : m.getJMSMessageID(), new Object[] {i, now});
            }
        }
        sent.countDown();
        all.await(60, TimeUnit.SECONDS);
        double took = (System.nanoTime() - began) / 1e9;
        connection.close();
        StringBuilder problems = new StringBuilder();
        for (String one : wrong.subList(0, Math.min(5, wrong.size()))) {
            problems.append(problems.length() > 0 ? "," : "").append('"').append(one.replace('"', '\'')).append('"');
        }
        System.out.println("{\"answers\":" + latencies.size() + ",\"twice\":" + twice[0] + ",\"wrong\":[" + problems + "],\"wrongs\":" + wrong.size()
            + ",\"took\":" + took + ",\"latencies\":" + latencies + "}");
    }
}
