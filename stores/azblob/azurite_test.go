// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build external

package azblob

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"

	"github.com/caddy-rehearsal/rehearsal/internal/objects"
	"github.com/caddy-rehearsal/rehearsal/internal/peertest"
)

// The emulator's one account, whose key everybody knows.
const (
	account = "devstoreaccount1"
	key     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// azurite starts Azure's emulator, as npm has it, with one container, and returns
// the URL of that.
func azurite(t *testing.T) string {
	t.Helper()
	addr := peertest.Addr(t)
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	peertest.Start(t, exec.Command(filepath.Join(peertest.NPM(t, "azurite@3.37.0"), "node_modules/.bin/azurite-blob"),
		"--blobHost", host, "--blobPort", port, "--location", t.TempDir(), "--skipApiVersionCheck", "--disableTelemetry", "--silent"), addr)
	t.Setenv("AZURE_STORAGE_ACCOUNT", account)
	t.Setenv("AZURE_STORAGE_KEY", key)
	credential, err := azblob.NewSharedKeyCredential(account, key)
	if err != nil {
		t.Fatal(err)
	}
	client, err := azblob.NewClientWithSharedKeyCredential("http://"+addr+"/"+account, credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateContainer(t.Context(), "recordings", nil); err != nil {
		t.Fatal(err)
	}
	return "azblob://recordings/shop?protocol=http&domain=" + addr + "&localemu=true"
}

// file makes a file of random bytes.
func file(t *testing.T, size int, seed byte) (*os.File, []byte) {
	t.Helper()
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(content)
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, content
}

// TestContainersOfAzure puts files into a container of the emulator, once and never
// over another, and reads them.
func TestContainersOfAzure(t *testing.T) {
	address, err := objects.Parse(azurite(t))
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := address.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer bucket.Close()
	const name = "shop/web-1/requests_20261130T143500Z_482113-9f3c01ab.fbf"
	for _, size := range []int{1000, 20 << 20} {
		key := fmt.Sprintf("%s.%d", name, size)
		one, content := file(t, size, 1)
		for again := range 2 {
			if _, err := one.Seek(0, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			if got, err := bucket.Upload(t.Context(), key, one); err != nil || got.Key != key || got.Present != (again == 1) {
				t.Errorf("got %+v, error %v", got, err)
			}
		}
		other, _ := file(t, size, 2)
		got, err := bucket.Upload(t.Context(), key, other)
		if err != nil || got.Key == key || got.Present {
			t.Errorf("got %+v, error %v", got, err)
		}
		reader := bucket.Reader(t.Context(), key, int64(size))
		read, err := io.ReadAll(reader)
		if err != nil || !bytes.Equal(read, content) {
			t.Errorf("read %d bytes, error %v", len(read), err)
		}
		reader.Close()
	}
	if found, err := bucket.List(context.Background(), "shop/"); err != nil || len(found) != 4 || found[0].Size == 0 {
		t.Errorf("found %v, error %v", found, err)
	}
	if err := bucket.Write(t.Context(), "run.json", []byte("{}")); err != nil {
		t.Error(err)
	}
	if object, err := bucket.Find(t.Context(), "run.json"); err != nil || object == nil || object.Size != 2 || object.Name != "azblob://recordings/run.json" {
		t.Errorf("found %+v, error %v", object, err)
	}
	if object, err := bucket.Find(t.Context(), "none"); err != nil || object != nil {
		t.Errorf("found %+v, error %v", object, err)
	}
}
