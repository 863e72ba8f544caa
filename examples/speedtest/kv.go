// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
)

// Where etcd listens, and where the upstreams stand in the admin API of the Caddy
// that follows it.
const (
	etcdAddr  = "127.0.0.1:9179"
	upstreams = "http://127.0.0.1:9117/config/apps/http/servers/srv0/routes/0/handle/0/upstreams"
	prefix    = "servers/" // of the keys, which end in addresses
)

// startKV runs the Caddy, and the watcher that tells it what stands in etcd.
func startKV(l *lab) error {
	if err := l.startCaddy("kv", "kv/Caddyfile", "127.0.0.1:9115"); err != nil {
		return err
	}
	watching, err := etcd(l.ctx, "watch", map[string]any{"create_request": inPrefix()})
	if err != nil {
		return err
	}
	go func() {
		defer watching.Close()
		for events := json.NewDecoder(watching); events.Decode(new(struct{})) == nil; {
			if err := follow(l.ctx); err != nil && l.ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "kv:", err)
			}
		}
	}()
	return nil
}

// registerKV makes etcd's keys those of the servers.
func registerKV(l *lab, servers []string) error {
	if !l.runs("etcd") {
		if err := l.start("etcd", etcdAddr, nil, "etcd", "--data-dir", l.file("etcd"), "--log-level", "warn",
			"--listen-client-urls", "http://"+etcdAddr, "--advertise-client-urls", "http://"+etcdAddr,
			"--listen-peer-urls", "http://127.0.0.1:9180", "--initial-advertise-peer-urls", "http://127.0.0.1:9180",
			"--initial-cluster", "default=http://127.0.0.1:9180"); err != nil {
			return err
		}
	}
	known, err := registered(l.ctx)
	if err != nil {
		return err
	}
	for _, server := range servers {
		if !slices.Contains(known, server) {
			if err := change(l.ctx, "put", map[string]any{"key": []byte(prefix + server), "value": []byte("up")}); err != nil {
				return err
			}
		}
	}
	for _, server := range known {
		if !slices.Contains(servers, server) {
			if err := change(l.ctx, "deleterange", map[string]any{"key": []byte(prefix + server)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow makes the upstreams what stands in etcd.
func follow(ctx context.Context) error {
	servers, err := registered(ctx)
	if err != nil {
		return err
	}
	list := make([]map[string]string, len(servers))
	for i, server := range servers {
		list[i] = map[string]string{"dial": server}
	}
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPatch, upstreams, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := sent(req)
	if err != nil {
		return err
	}
	return answer.Close()
}

// registered returns the addresses that stand in etcd.
func registered(ctx context.Context) (servers []string, err error) {
	answer, err := etcd(ctx, "kv/range", inPrefix())
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	var found struct {
		KVs []struct {
			Key []byte `json:"key"`
		} `json:"kvs"`
	}
	err = json.NewDecoder(answer).Decode(&found)
	for _, kv := range found.KVs {
		servers = append(servers, strings.TrimPrefix(string(kv.Key), prefix))
	}
	return servers, err
}

// inPrefix names all keys that begin with the prefix.
func inPrefix() map[string]any {
	return map[string]any{"key": []byte(prefix), "range_end": []byte(prefix[:len(prefix)-1] + "0")} // 0 follows / in ASCII
}

func change(ctx context.Context, what string, arguments map[string]any) error {
	answer, err := etcd(ctx, "kv/"+what, arguments)
	if err != nil {
		return err
	}
	return answer.Close()
}

// etcd calls its API of JSON. []byte becomes base64, as it wants its keys.
func etcd(ctx context.Context, what string, arguments map[string]any) (io.ReadCloser, error) {
	body, err := json.Marshal(arguments)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+etcdAddr+"/v3/"+what, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return sent(req)
}

// sent returns the body of the answer, if its status is 200.
func sent(req *http.Request) (io.ReadCloser, error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
	return nil, fmt.Errorf("%s %s: %s: %s", req.Method, req.URL, resp.Status, said)
}
