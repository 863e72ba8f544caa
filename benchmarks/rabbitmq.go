// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// rabbitMQ is where Debian has RabbitMQ's server.
const rabbitMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server"

// startRabbitMQ runs RabbitMQ with its plugin for AMQP 1.0 on the half of the load
// generators, and returns its URL. It keeps nothing of what the machine has of
// RabbitMQ, its names neither. What it returns too ends it.
func (l *lab) startRabbitMQ() (url string, stop func(), err error) {
	var ports [3]string
	var addr string
	for i := range ports {
		if addr, err = freeAddr(); err != nil {
			return "", nil, err
		}
		_, ports[i], _ = net.SplitHostPort(addr) // as Listen has it
	}
	dir := filepath.Join(l.dir, "rabbitmq")
	for name, content := range map[string]string{
		"rabbitmq/enabled":       "[rabbitmq_amqp1_0].\n",
		"rabbitmq/rabbitmq.conf": "listeners.tcp.default = " + addr + "\nloopback_users = none\n",
	} {
		if _, err := l.file(name, content); err != nil {
			return "", nil, err
		}
	}
	if _, err := l.startOn(clientHalf, "epmd", "127.0.0.1:"+ports[0], "epmd", "-port", ports[0], "-address", "127.0.0.1"); err != nil {
		return "", nil, err
	}
	variables := []string{
		"env", "HOME=" + dir, "RABBITMQ_NODENAME=benchmark@localhost", "RABBITMQ_CONF_ENV_FILE=" + filepath.Join(dir, "none"),
		"RABBITMQ_MNESIA_BASE=" + filepath.Join(dir, "mnesia"), "RABBITMQ_LOG_BASE=" + filepath.Join(dir, "log"),
		"RABBITMQ_CONFIG_FILE=" + filepath.Join(dir, "rabbitmq"), "RABBITMQ_ENABLED_PLUGINS_FILE=" + filepath.Join(dir, "enabled"),
		"RABBITMQ_PID_FILE=" + filepath.Join(dir, "pid"), "RABBITMQ_DIST_PORT=" + ports[1], "ERL_EPMD_PORT=" + ports[0], "ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+sbwt none -start_epmd false",
	}
	s, err := l.startOn(clientHalf, "rabbitmq", addr, append(variables, rabbitMQ)...)
	stop = func() { // its script is not it
		if pid, err := os.ReadFile(filepath.Join(dir, "pid")); err == nil {
			if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err == nil && n > 1 {
				if broker, err := os.FindProcess(n); err == nil {
					_ = broker.Kill()
				}
			}
		}
		if s != nil {
			s.stop()
		}
	}
	return fmt.Sprintf("amqp://guest:guest@%s", addr), stop, err
}
