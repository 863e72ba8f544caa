// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package rehearsal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/caddytest"
	"github.com/caddy-rehearsal/rehearsal/internal/recording"
)

func TestMain(m *testing.M) {
	caddytest.BecomeCaddy()
	os.Exit(m.Run())
}

// TestNothingIsLostByReloads is what reloads and an exit under load may do: see
// accountForReloads. Its long form has a hundred.
func TestNothingIsLostByReloads(t *testing.T) { accountForReloads(t, 3) }

// The sites of the load, by the name of their directory.
const (
	plain   = "plain"   // a blackhole
	express = "express" // a blackhole with express
	small   = "small"   // a blackhole with hardly any memory, which drops what does not fit
	teed    = "teed"    // a tee with a shadow by URL, a slow one, one by handlers that records, and a record
)

// accountForReloads puts load on all kinds of sites, reloads so many times, each
// time with other options, and has Caddy exit while requests come. Whatever was
// answered has to be recorded once or counted as dropped, and every copy has to have
// an outcome.
func accountForReloads(t *testing.T, reloads int) {
	const patience = time.Minute
	var copied sync.Map // IDs of the copies that arrived
	shadow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		copied.Store(r.Header.Get("X-Request-ID"), true)
	}))
	t.Cleanup(shadow.Close)
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(20 * time.Millisecond) }))
	t.Cleanup(slow.Close)
	primary := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	t.Cleanup(primary.Close)

	dir, admin := t.TempDir(), caddytest.Addr(t)
	addrs := make(map[string]string)
	for _, site := range []string{plain, express, small, teed} {
		addrs[site] = caddytest.Addr(t)
	}
	config := func(n int) string {
		text := "{\nadmin " + admin + "\npersist_config off\n}\n"
		for site, body := range map[string]string{
			plain:   "blackhole {\nname plain\nheader X-N N\nrecord DIR/plain {\nrotate_size FILEMiB\n}\n}",
			express: "blackhole {\nname express\nexpress\nheader X-N N\nrecord DIR/express {\nrotate_size FILEMiB\n}\n}",
			small:   "blackhole {\nname small\nrecord DIR/small {\nmemory 8KiB\nflush_every FLUSHms\non_overflow drop\n}\n}",
			teed: "route {\ntee SHADOW {\nname teed\nheader_up X-N N\nhandle {\nblackhole {\nname behind\nrecord DIR/behind\n}\n}\nrecord DIR/teed\n}\n" +
				"tee SLOW {\nname slow\nqueue 1\nconcurrency 1\nheader_up X-N N\n}\nreverse_proxy PRIMARY\n}",
		} {
			body = strings.NewReplacer("DIR", dir, "SHADOW", shadow.URL, "SLOW", slow.URL, "PRIMARY", primary.URL, "FILE", fmt.Sprint(1+n%2),
				"FLUSH", fmt.Sprint(1000+n), "X-N N", fmt.Sprint("X-N ", n)).Replace(body)
			text += "http://" + addrs[site] + " {\n" + body + "\n}\n"
		}
		return text
	}
	caddy := startCaddy(t, admin, config)

	loads := make(map[string]*load)
	for site, addr := range addrs {
		loads[site] = startLoad(addr)
		defer loads[site].end()
	}
	for n := range reloads {
		before := make(map[string]int64)
		for site, l := range loads {
			before[site] = l.answered.Load()
		}
		for site, l := range loads {
			await(t, patience, "requests between reloads", func() bool { return l.answered.Load() >= before[site]+10 })
		}
		caddy.reload(t, config(n+1))
	}
	loads[small].end()

	// of what can be dropped Caddy itself is asked, when it has nothing in hand
	await(t, patience, "records or drops of a small memory", func() bool {
		n := caddy.metric(t, `caddy_blackhole_records_total{blackhole="small"`) + caddy.metric(t, `caddy_blackhole_dropped_total{blackhole="small"`)
		return n >= loads[small].answered.Load()
	})
	dropped := caddy.metric(t, `caddy_blackhole_dropped_total{blackhole="small"`)

	answered := loads[teed].answered.Load()
	await(t, patience, "requests before the exit", func() bool { return loads[teed].answered.Load() > answered+10 })
	loads[teed].pause()
	outcomes := func(tee string) (n int64) { return caddy.metric(t, `caddy_tee_copies_total{`, `tee="`+tee+`"`) }
	await(t, patience, "an outcome for every copy", func() bool {
		return outcomes("teed") >= 2*loads[teed].answered.Load() && outcomes("slow") >= loads[teed].answered.Load()
	})
	for tee, copies := range map[string]int64{"teed": 2, "slow": 1} {
		lower, upper := copies*loads[teed].answered.Load(), copies*(loads[teed].answered.Load()+loads[teed].failed.Load())
		if n := outcomes(tee); n < lower || n > upper {
			t.Errorf("copies of %s have %d outcomes, want %d to %d", tee, n, lower, upper)
		}
		t.Logf("%s: %d copies, outcomes %v", tee, lower, caddy.outcomes(t, tee))
	}
	failures := caddy.metric(t, `caddy_tee_copies_total{`, `tee="teed"`) - caddy.metric(t, `caddy_tee_copies_total{outcome="sent_2xx"`, `tee="teed"`)
	if failures != 0 {
		t.Errorf("%d copies to healthy shadows were not sent: %v", failures, caddy.outcomes(t, "teed"))
	}
	loads[teed].resume()
	answered = loads[teed].answered.Load()
	await(t, patience, "requests at the exit", func() bool { return loads[teed].answered.Load() > answered+10 })

	caddy.exit(t, patience)
	for _, l := range loads {
		l.end()
	}
	for where, site := range map[string]string{plain: plain, express: express, small: small, teed: teed, "behind": teed} {
		l, lost := loads[site], int64(0)
		if site == small {
			lost = dropped
		}
		ids := recordedIDs(t, filepath.Join(dir, where))
		missing := l.missing(ids)
		sum := int64(len(ids)) + lost
		t.Logf("%s: %d requests answered, %d failed; %d recorded, %d dropped", where, l.answered.Load(), l.failed.Load(), len(ids), lost)
		if site != small && missing != 0 || sum < l.answered.Load() || sum > l.answered.Load()+l.failed.Load() {
			t.Errorf("%s: %d requests answered, %d failed; %d recorded and %d dropped, %d answered ones are not recorded",
				where, l.answered.Load(), l.failed.Load(), len(ids), lost, missing)
		}
	}
	if dropped == 0 {
		t.Error("nothing was dropped, so that counting drops is not tried")
	}
	arrived := make(map[string]bool)
	copied.Range(func(id, _ any) bool {
		arrived[id.(string)] = true
		return true
	})
	t.Logf("shadow: %d copies arrived", len(arrived))
	if n := loads[teed].missing(arrived); n != 0 {
		t.Errorf("%d requests that were answered have no copy", n)
	}
}

// load are clients of one address, half of which keep their connections.
type load struct {
	answered, failed atomic.Int64
	mu               sync.Mutex
	ids              []string // of the requests answered
	paused           sync.RWMutex
	senders          sync.WaitGroup
	done             chan struct{}
	end              func()
}

func startLoad(addr string) *load {
	l := &load{done: make(chan struct{})}
	l.end = sync.OnceFunc(func() {
		close(l.done)
		l.senders.Wait()
	})
	for sender := range 4 {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: sender%2 == 0}}
		l.senders.Go(func() {
			defer client.CloseIdleConnections()
			body := strings.Repeat("a body ", 100+sender)
			for n := 0; ; n++ {
				select {
				case <-l.done:
					return
				case <-time.After(time.Millisecond):
				}
				l.paused.RLock()
				l.send(client, addr, fmt.Sprintf("%d-%d", sender, n), body)
				l.paused.RUnlock()
			}
		})
	}
	return l
}

func (l *load) send(client *http.Client, addr, id, body string) {
	// a body that cannot be had again keeps the client from sending it twice
	r, _ := http.NewRequest("POST", "http://"+addr+"/"+id, io.MultiReader(strings.NewReader(body)))
	r.Header.Set("X-Request-ID", id)
	resp, err := client.Do(r)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return // nobody has it
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		l.failed.Add(1)
		return
	}
	l.mu.Lock()
	l.ids = append(l.ids, id)
	l.mu.Unlock()
	l.answered.Add(1)
}

// pause returns when no request is in hand.
func (l *load) pause()  { l.paused.Lock() }
func (l *load) resume() { l.paused.Unlock() }

// missing counts the requests answered that are not among those with these IDs.
func (l *load) missing(among map[string]bool) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range l.ids {
		if !among[id] {
			n++
		}
	}
	return n
}

// recordedIDs returns the IDs of the records in the finished files of a
// directory, in which there may be no others, and none twice.
func recordedIDs(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	ids := make(map[string]bool)
	for _, name := range files {
		if !strings.HasSuffix(name, ".fbf.lz4") {
			t.Errorf("%s is not finished", name)
			continue
		}
		file, err := recording.OpenFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for {
			r, err := file.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if ids[string(r.ID)] {
				t.Errorf("%s: %s is recorded twice", name, r.ID)
			}
			ids[string(r.ID)] = true
		}
		file.Close()
	}
	return ids
}

// process is a Caddy of its own.
type process struct {
	admin  string
	exited chan error
	signal func(os.Signal) error
	logs   *bytes.Buffer // until it has exited, not to be read
}

func startCaddy(t *testing.T, admin string, config func(n int) string) *process {
	t.Helper()
	file := filepath.Join(t.TempDir(), "Caddyfile")
	if err := os.WriteFile(file, []byte(config(0)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &process{admin: admin, exited: make(chan error, 1), logs: new(bytes.Buffer)}
	cmd := caddytest.Command(t, "run", "--config", file)
	cmd.Stderr = p.logs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.signal = cmd.Process.Signal
	go func() { p.exited <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	await(t, time.Minute, "Caddy to start", func() bool {
		conn, err := net.Dial("tcp", admin)
		if err != nil {
			return false
		}
		return conn.Close() == nil && p.page(t, "/config/apps/http") != "null\n"
	})
	return p
}

func (p *process) reload(t *testing.T, config string) {
	t.Helper()
	resp, err := http.Post("http://"+p.admin+"/load", "text/caddyfile", strings.NewReader(config))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Fatalf("reload: %s: %s", resp.Status, text)
	}
}

func (p *process) exit(t *testing.T, patience time.Duration) {
	t.Helper()
	if err := p.signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-p.exited:
		if logs := p.logs.String(); err != nil || strings.Contains(logs, "panic") {
			t.Errorf("Caddy exited with %v: %s", err, logs)
		}
	case <-time.After(patience):
		t.Fatal("Caddy does not exit")
	}
}

// page fetches a page of the admin endpoint.
func (p *process) page(t *testing.T, path string) string {
	t.Helper()
	resp, err := http.Get("http://" + p.admin + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// metric returns the sum of the series whose line has a prefix and all the parts.
func (p *process) metric(t *testing.T, prefix string, parts ...string) (sum int64) {
	t.Helper()
	for _, n := range p.series(t, prefix, parts...) {
		sum += n
	}
	return sum
}

// outcomes returns the outcomes of a tee's copies that there are.
func (p *process) outcomes(t *testing.T, tee string) []string {
	var all []string
	series := p.series(t, "caddy_tee_copies_total{", `tee="`+tee+`"`)
	for _, name := range slices.Sorted(maps.Keys(series)) {
		if n := series[name]; n > 0 {
			_, outcome, _ := strings.Cut(name, `outcome="`)
			outcome, _, _ = strings.Cut(outcome, `"`)
			all = append(all, fmt.Sprintf("%s %d", outcome, n))
		}
	}
	return all
}

func (p *process) series(t *testing.T, prefix string, parts ...string) map[string]int64 {
	t.Helper()
	all := make(map[string]int64)
	for line := range strings.Lines(p.page(t, "/metrics")) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "} ")
		if !ok || !strings.HasPrefix(name, prefix) || slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(name, part) }) {
			continue
		}
		var n float64
		if _, err := fmt.Sscan(value, &n); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all[name] += int64(n)
	}
	return all
}

func await(t *testing.T, patience time.Duration, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !reached(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waiting for %s", what)
		}
	}
}
