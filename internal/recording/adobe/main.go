// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// The command adobe reads recordings as adobe/blackhole's replay does, with the
// versions of the libraries that it pins, and prints a line for each request as
// net/http understands it. It is a module of its own because of those versions.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/pierrec/lz4/v4"
)

func main() {
	for _, name := range os.Args[1:] {
		if err := read(name); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

// read prints the requests of one file, which is compressed if its name ends so.
func read(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	in := io.Reader(bufio.NewReaderSize(file, 64<<10))
	if strings.HasSuffix(name, ".lz4") {
		in = lz4.NewReader(in)
	}
	for {
		var size [8]byte
		if _, err := io.ReadFull(in, size[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a size: %w", err)
		}
		record := make([]byte, binary.LittleEndian.Uint64(size[:]))
		if _, err := io.ReadFull(in, record); err != nil {
			return fmt.Errorf("reading a record of %d bytes: %w", len(record), err)
		}
		if err := show(fields(record)); err != nil {
			return err
		}
	}
}

// fields returns the five fields that adobe/blackhole knows: id, method, uri,
// headers and body.
func fields(record []byte) (all [5][]byte) {
	table := flatbuffers.Table{Bytes: record, Pos: flatbuffers.GetUOffsetT(record)}
	for i := range all {
		if at := table.Offset(flatbuffers.VOffsetT(4 + 2*i)); at != 0 {
			all[i] = table.ByteVector(flatbuffers.UOffsetT(at) + table.Pos)
		}
	}
	return all
}

// show assembles a request and prints what it is: its id, method and target, how
// many lines its header has, and size and hash of its body.
func show(f [5][]byte) error {
	id, method, uri, headers, body := f[0], f[1], f[2], f[3], f[4]
	message := bytes.Join([][]byte{method, []byte(" "), uri, []byte(" HTTP/1.1\n"), headers, body}, nil)
	request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(message)))
	if err != nil {
		return fmt.Errorf("assembling request %s: %w", id, err)
	}
	sent := body
	if len(request.TransferEncoding) == 0 { // the body is recorded without its chunks
		if sent, err = io.ReadAll(request.Body); err != nil {
			return fmt.Errorf("reading the body of request %s: %w", id, err)
		}
	}
	lines := 1 // Host, which net/http keeps apart
	for _, values := range request.Header {
		lines += len(values)
	}
	fmt.Printf("%s %s %s %d %d %x\n", id, request.Method, request.RequestURI, lines, len(sent), sha256.Sum256(sent))
	return nil
}
