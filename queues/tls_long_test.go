// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build long

package queues_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
	"github.com/caddy-rehearsal/rehearsal/queues/internal/brokertest"
)

// TestRabbitMQOverTLS answers over TLS, with a certificate that the broker asks for, and
// connects to nobody whose certificate or who without one is not trusted.
func TestRabbitMQOverTLS(t *testing.T) {
	ours, other := brokertest.NewAuthority(t), brokertest.NewAuthority(t)
	amqps, stomps := caddytest.Addr(t), caddytest.Addr(t)
	b := brokertest.RunRabbitMQ(t,
		"listeners.ssl.default = "+amqps, "stomp.listeners.ssl.1 = "+stomps,
		"ssl_options.cacertfile = "+ours.CA, "ssl_options.certfile = "+ours.Cert, "ssl_options.keyfile = "+ours.Key,
		"ssl_options.verify = verify_peer", "ssl_options.fail_if_no_peer_cert = true")
	peertest.AwaitListening(t, amqps, stomps)
	for _, protocol := range []struct {
		name, broker string
		ask          func(t *testing.T, count int) outcome
	}{
		{"amqp", "amqps://guest:guest@" + amqps + " {\nsender_per_address on\nvirtual_host vhost:/\n", func(t *testing.T, count int) outcome {
			return asker{"amqp://guest:guest@" + b.AMQP, "/queue/tls-amqp", "/queue/tls-answers"}.ask(t, count, 0)
		}},
		{"stomp", "stomps://guest:guest@" + stomps + " {\nvirtual_host /\n", func(t *testing.T, count int) outcome {
			return python(t, []string{"testdata/stomp_client.py", b.Stomp, "/queue/tls-stomp", fmt.Sprint(count)}, nil)()
		}},
	} {
		t.Run(protocol.name, func(t *testing.T) {
			over := func(options string) suite {
				return suite{address: "/queue/tls-" + protocol.name, broker: protocol.broker + "tls {\n" + options + "\n}\n}"}
			}
			own := fmt.Sprintf("cert %s\nkey %s", ours.Cert, ours.Key)
			for what, options := range map[string]string{
				"an authority that is not the broker's": "ca " + other.CA + "\n" + own,
				"the system's authorities":              own,
				"no certificate":                        "ca " + ours.CA,
				"a certificate of another authority":    fmt.Sprintf("ca %s\ncert %s\nkey %s", ours.CA, other.Cert, other.Key),
				"another name":                          "ca " + ours.CA + "\n" + own + "\nserver_name broker.example",
			} {
				t.Run(what, func(t *testing.T) {
					s := &simulator{t: t, admin: caddytest.Addr(t)}
					s.Server = caddytest.Run(t, configOf(s.admin, over(options).broker, over(options).service("stage 0s")))
					caddytest.Eventually(t, "it cannot connect", func() bool {
						for line := range strings.Lines(s.Logs()) {
							if strings.Contains(line, "cannot connect; trying again") && (strings.Contains(line, "certificate") || strings.Contains(line, "unknown")) {
								return true
							}
						}
						return false
					})
				})
			}
			t.Run("trusted", func(t *testing.T) {
				const count = 200
				over("ca "+ours.CA+"\n"+own).simulate(t, "stage 0s 5ms")
				protocol.ask(t, count).expect(t, count)
			})
		})
	}
}
