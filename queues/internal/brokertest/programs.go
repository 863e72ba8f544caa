// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package brokertest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/Azure/go-amqp"

	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

// RabbitMQ is a real RabbitMQ with its plugins for AMQP 1.0 and STOMP, in which
// guest may do everything.
type RabbitMQ struct {
	// AMQP and Stomp are where it listens.
	AMQP, Stomp string

	t      testing.TB
	dir    string
	env    []string
	server *exec.Cmd
}

// RunRabbitMQ starts it, with further lines of its configuration. It ends with the
// test, and so does its epmd.
func RunRabbitMQ(t testing.TB, lines ...string) *RabbitMQ {
	t.Helper()
	b := &RabbitMQ{t: t, dir: t.TempDir(), AMQP: peertest.Addr(t), Stomp: peertest.Addr(t)}
	names, distribution := portOf(peertest.Addr(t)), portOf(peertest.Addr(t))
	b.write("enabled", "[rabbitmq_amqp1_0,rabbitmq_stomp].\n")
	b.write("rabbitmq.conf", fmt.Sprintf("listeners.tcp.default = %s\nstomp.listeners.tcp.1 = %s\nloopback_users = none\n%s\n", b.AMQP, b.Stomp, strings.Join(lines, "\n")))
	path := func(name string) string { return filepath.Join(b.dir, name) }
	b.env = append(os.Environ(),
		"HOME="+b.dir, "RABBITMQ_NODENAME=test"+names+"@localhost", "RABBITMQ_CONF_ENV_FILE="+path("none"),
		"RABBITMQ_MNESIA_BASE="+path("mnesia"), "RABBITMQ_LOG_BASE="+path("log"), "RABBITMQ_CONFIG_FILE="+path("rabbitmq"),
		"RABBITMQ_ENABLED_PLUGINS_FILE="+path("enabled"), "RABBITMQ_PID_FILE="+path("pid"), "RABBITMQ_DIST_PORT="+distribution,
		"ERL_EPMD_PORT="+names, "ERL_EPMD_ADDRESS=127.0.0.1", "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+sbwt none -start_epmd false",
	)
	peertest.Start(t, exec.Command("epmd", "-port", names, "-address", "127.0.0.1"), net.JoinHostPort("127.0.0.1", names)) //nolint:gosec // the test's own arguments
	t.Cleanup(func() { b.end(syscall.SIGKILL) })
	b.Start()
	return b
}

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}

func (b *RabbitMQ) write(name, text string) {
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// Start starts it and waits until it listens.
func (b *RabbitMQ) Start() {
	b.t.Helper()
	b.server = exec.Command("/usr/lib/rabbitmq/bin/rabbitmq-server")
	b.server.Env = b.env
	b.server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output, err := os.Create(filepath.Join(b.dir, "output"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer output.Close()
	b.server.Stdout, b.server.Stderr = output, output
	if err := b.server.Start(); err != nil {
		b.t.Fatal(err)
	}
	peertest.AwaitListening(b.t, b.AMQP, b.Stomp)
}

// Stop stops it in good order.
func (b *RabbitMQ) Stop() { b.end(syscall.SIGTERM) }

// end sends the broker a signal, then ends all that it has started.
func (b *RabbitMQ) end(signal syscall.Signal) {
	if b.server == nil {
		return
	}
	if pid, err := os.ReadFile(filepath.Join(b.dir, "pid")); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err == nil && n > 1 {
			_ = syscall.Kill(n, signal)
		}
	}
	if signal == syscall.SIGKILL {
		_ = syscall.Kill(-b.server.Process.Pid, signal)
	}
	_ = b.server.Wait() // which is about the signal
	_ = syscall.Kill(-b.server.Process.Pid, syscall.SIGKILL)
	b.server = nil
}

// Drain takes so many messages from an address, and returns the ids that they are answers to.
func (b *RabbitMQ) Drain(ctx context.Context, address string, n int) (ids []string) {
	b.t.Helper()
	conn, err := amqp.Dial(ctx, "amqp://guest:guest@"+b.AMQP, &amqp.ConnOptions{HostName: "vhost:/"})
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Close()
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	receiver, err := session.NewReceiver(ctx, address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for len(ids) < n {
		m, err := receiver.Receive(ctx, nil)
		if err != nil {
			b.t.Fatalf("%s has %d of %d messages: %v", address, len(ids), n, err)
		}
		if err := receiver.AcceptMessage(ctx, m); err != nil {
			b.t.Fatal(err)
		}
		id := ""
		if m.Properties != nil {
			id = fmt.Sprint(m.Properties.CorrelationID)
		}
		ids = append(ids, id)
	}
	return ids
}

// Declare makes a queue that outlives the broker, as its STOMP does and its AMQP 1.0
// does not.
func (b *RabbitMQ) Declare(queue string) {
	b.t.Helper()
	conn, err := net.Dial("tcp", b.Stomp)
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT\naccept-version:1.2\nhost:/\nlogin:guest\npasscode:guest\n\n\x00"+
		"SUBSCRIBE\nid:0\ndestination:/queue/%s\nack:client\nreceipt:declared\n\n\x00", queue)
	for in := bufio.NewReader(conn); ; {
		command, headers, body, err := readStomp(in)
		if err != nil || command == "ERROR" {
			b.t.Fatalf("declaring %s: %v %s", queue, err, body)
		}
		if command == "RECEIPT" && headers["receipt-id"] == "declared" {
			return
		}
	}
}

// ActiveMQ is a real ActiveMQ, in memory.
type ActiveMQ struct {
	// OpenWire and Stomp are where it listens.
	OpenWire, Stomp string
}

// classPath has the libraries of ActiveMQ as Debian packages them.
func classPath() string {
	jars := []string{
		"activemq-broker", "activemq-client", "activemq-stomp", "activemq-openwire-legacy", "activemq-jaas",
		"geronimo-jms_1.1_spec", "geronimo-j2ee-management-1.1-spec", "hawtbuf", "slf4j-api", "slf4j-nop",
	}
	for i, name := range jars {
		jars[i] = filepath.Join("/usr/share/java", name+".jar")
	}
	return strings.Join(jars, ":")
}

// Java returns a program of testdata, with ActiveMQ's libraries.
func Java(t testing.TB, source string, args ...string) *exec.Cmd {
	return exec.CommandContext(t.Context(), "java", append([]string{"-cp", classPath(), source}, args...)...) //nolint:gosec // programs of the tests
}

// RunActiveMQ starts it with testdata/Broker.java of the test's package. It ends with
// the test.
func RunActiveMQ(t testing.TB) *ActiveMQ {
	t.Helper()
	b := &ActiveMQ{OpenWire: peertest.Addr(t), Stomp: peertest.Addr(t)}
	peertest.Start(t, Java(t, "testdata/Broker.java", b.OpenWire, b.Stomp), b.OpenWire, b.Stomp)
	return b
}
