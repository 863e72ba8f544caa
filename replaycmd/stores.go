// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package replaycmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/caddy-rehearsal/rehearsal/internal/objects"
	"github.com/caddy-rehearsal/rehearsal/internal/recording/recorder"
	"github.com/caddy-rehearsal/rehearsal/replaycmd/internal/source"
)

// inStore returns the recordings that the URL of an object store stands for: the
// object of that name, or all below it, but for those that --since and --until
// leave nothing of.
func (s *selection) inStore(ctx context.Context, url string, note func(error)) ([]source.Input, error) {
	bucket, found, err := objectsAt(ctx, url, isRecordingName)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("'%s' has no recording: expected objects named *.fbf or *.lz4", withoutOptions(url))
	}
	within := s.within(found)
	if len(within) == 0 {
		note(fmt.Errorf("%s: none of the %d recordings is of between --since and --until", withoutOptions(url), len(found)))
	}
	var all []source.Input
	for _, object := range within {
		input := source.Input{
			Name: object.Name, Size: object.Size,
			Open: func() (io.ReadCloser, error) { return bucket.Reader(ctx, object.Key, object.Size), nil },
		}
		if _, begun, ok := recorder.ParseName(path.Base(object.Key)); ok {
			input.Begins = begun.UnixNano()
		}
		all = append(all, input)
	}
	return all, nil
}

// objectsAt returns what the URL of an object store stands for: the object of that
// name, or those below it whose names, without folders, are wanted. The bucket is
// closed with ctx.
func objectsAt(ctx context.Context, url string, wanted func(name string) bool) (*objects.Bucket, []objects.Object, error) {
	address, err := objects.Parse(url)
	if err != nil {
		return nil, nil, err
	}
	bucket, err := address.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	context.AfterFunc(ctx, func() { bucket.Close() })
	folder := address.Path()
	if folder != "" && !strings.HasSuffix(folder, "/") {
		object, err := bucket.Find(ctx, folder)
		switch {
		case err != nil:
			return nil, nil, err
		case object != nil:
			return bucket, []objects.Object{*object}, nil
		}
		folder += "/"
	}
	found, err := bucket.List(ctx, folder)
	found = slices.DeleteFunc(found, func(o objects.Object) bool { return !wanted(path.Base(o.Key)) })
	return bucket, found, err
}

// withoutOptions returns a URL up to its options.
func withoutOptions(url string) string {
	bare, _, _ := strings.Cut(url, "?")
	return bare
}

// storedReport is a report that goes to an object store when it is whole.
type storedReport struct {
	bytes.Buffer
	bucket *objects.Bucket
	key    string
}

// lookPatience is how long a run waits for a store to say whether there is the
// bucket of a report.
const lookPatience = 5 * time.Second

// openStored opens the place of a report in an object store.
func openStored(url string) (*storedReport, error) {
	address, err := objects.Parse(url)
	if err != nil {
		return nil, err
	}
	key := address.Path()
	if key == "" || strings.HasSuffix(key, "/") {
		return nil, fmt.Errorf("'%s' is no name for a report: expected one like %s", withoutOptions(url), strings.TrimSuffix(withoutOptions(url), "/")+"/run.json")
	}
	bucket, err := address.Open(context.Background())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookPatience)
	defer cancel()
	if bucket.Missing(ctx) {
		bucket.Close()
		return nil, fmt.Errorf("'%s': the store has no such bucket", withoutOptions(url))
	}
	return &storedReport{bucket: bucket, key: key}, nil
}

// storedTries is how often a report is sent, with pauses of a second, two, and so
// on between: it may be all that is left of a long run.
const storedTries = 6

// storedPatience is how long that may take in all, if the store says nothing.
const storedPatience = 2 * time.Minute

// upload sends the report. If the store does not take it, it is kept in a file.
func (s *storedReport) upload(ctx context.Context, wait func(time.Duration)) (err error) {
	for try := range storedTries {
		if try > 0 {
			wait(time.Second << (try - 1))
		}
		if err = s.bucket.Write(ctx, s.key, s.Bytes()); err == nil {
			return nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	file, errKeep := os.CreateTemp("", "report-*-"+path.Base(s.key))
	if errKeep != nil { // as in a container whose root file system is read-only
		file, errKeep = os.CreateTemp(".", "report-*-"+path.Base(s.key))
	}
	if errKeep == nil {
		_, errKeep = file.Write(s.Bytes())
		errKeep = errors.Join(errKeep, file.Close())
	}
	if errKeep != nil {
		return errors.Join(err, errKeep)
	}
	return fmt.Errorf("%w; the report is kept in %s", err, file.Name())
}

const (
	// nameMargin is by how much the times of records may differ from what names of
	// files and the clock of the store say: a file has requests that began before it
	// did, and one that another has taken the place of may go on for a while.
	nameMargin = 15 * time.Minute

	// longestFile is how long a file may be written of which names alone say that
	// another came after it. That one may be of another recorder in its folder.
	longestFile = 24 * time.Hour
)

// within leaves out the objects that have no records between --since and --until,
// where those are times of the clock. What a file has is from before its own name
// says, if requests took long, to when it was put into the store. If that was
// late, or it was copied since, names decide: see endedBefore.
func (s *selection) within(found []objects.Object) []objects.Object {
	since, hasSince := s.since.Fixed()
	until, hasUntil := s.until.Fixed()
	if s.since.Given() && !hasSince || s.until.Given() && !hasUntil || !hasSince && !hasUntil {
		return found
	}
	names := namesOf(found)
	return slices.DeleteFunc(slices.Clone(found), func(o objects.Object) bool {
		n, ok := nameOf(o)
		switch {
		case !ok:
			return false
		case hasUntil && n.begun >= until+int64(nameMargin):
			return true
		case !hasSince:
			return false
		}
		modified, by := o.Modified.UnixNano(), since-int64(nameMargin)
		return modified >= n.begun && modified < by || names.endedBefore(n, by)
	})
}

// named is what the name of an object says: whose recorder wrote it, as far as
// folder and prefix tell that, and when it was begun.
type named struct {
	recorder string
	begun    int64
}

func nameOf(o objects.Object) (n named, ok bool) {
	prefix, begun, ok := recorder.ParseName(path.Base(o.Key))
	return named{path.Dir(o.Key) + "/" + prefix, begun.UnixNano()}, ok
}

// names are the times at which the files of each recorder were begun, in order.
type names map[string][]int64

func namesOf(found []objects.Object) names {
	all := make(names)
	for _, o := range found {
		if n, ok := nameOf(o); ok {
			all[n.recorder] = append(all[n.recorder], n.begun)
		}
	}
	for _, times := range all {
		slices.Sort(times)
	}
	return all
}

// endedBefore reports whether a file has no records from a time on, as another of
// its recorder was begun before that, and the file itself so long before that it
// would have ended, should several write to its folder.
func (all names) endedBefore(n named, at int64) bool {
	times := all[n.recorder]
	after, _ := slices.BinarySearch(times, n.begun+1)
	return after < len(times) && times[after] < at && n.begun < at-int64(longestFile)
}
