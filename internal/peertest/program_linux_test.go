// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package peertest

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const asTest = "REHEARSAL_AS_TEST"

// TestProgramsEndWithATestThatIsKilled runs itself as a test that starts a program
// and never ends, and kills that.
func TestProgramsEndWithATestThatIsKilled(t *testing.T) {
	if os.Getenv(asTest) != "" {
		program := exec.Command("sleep", "3600")
		Start(t, program)
		fmt.Println("pid", program.Process.Pid)
		<-make(chan struct{})
	}
	test := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProgramsEndWithATestThatIsKilled$")
	test.Env = append(os.Environ(), asTest+"=1")
	out, err := test.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := test.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscanf(out, "pid %d\n", &pid); err != nil {
		t.Fatal(err)
	}
	if !runs(t, pid) {
		t.Fatal("the program does not run while its test does")
	}
	_ = test.Process.Kill()
	_ = test.Wait() // which is about the kill
	for deadline := time.Now().Add(time.Minute); runs(t, pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("the program outlives its test")
		}
	}
}

// runs reports whether a process is there and is no zombie.
func runs(t *testing.T, pid int) bool {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if os.IsNotExist(err) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func TestServe(t *testing.T) {
	addr := Serve(t, Responding("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
	for range 2 {
		resp, err := http.Post("http://"+addr, "text/plain", strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(body) != "ok" {
			t.Errorf("got %q, error %v", body, err)
		}
	}
}
