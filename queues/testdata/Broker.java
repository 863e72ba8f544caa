import java.net.URI;
import org.apache.activemq.broker.BrokerService;
import org.apache.activemq.broker.TransportConnector;

/** An ActiveMQ for tests: java Broker.java OPENWIRE_ADDRESS STOMP_ADDRESS. It keeps nothing. */
public class Broker {
    public static void main(String[] args) throws Exception {
        BrokerService broker = new BrokerService();
        broker.setBrokerName("test");
        broker.setPersistent(false);
        broker.setUseJmx(false);
        broker.setUseShutdownHook(true);
        broker.setAdvisorySupport(true);
        broker.addConnector("tcp://" + args[0] + "?transport.tcpNoDelay=true");
        broker.addConnector("stomp://" + args[1] + "?transport.tcpNoDelay=true");
        broker.start();
        broker.waitUntilStarted();
        broker.waitUntilStopped();
    }
}
