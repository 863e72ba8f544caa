// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package gs is the store for gs:// URLs: buckets of Google's Cloud Storage. It is
// a module of its own, so that what its driver needs is no dependency of those who
// do not build with it.
package gs

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"

	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/objects"
)

func init() { caddy.RegisterModule(Store{}) }

// Store keeps recordings and reports in a bucket of Google's Cloud Storage.
//
// Credentials are the application default ones: the file that
// `GOOGLE_APPLICATION_CREDENTIALS` names, who is signed in with gcloud, or the
// service account of a workload or machine. They are not taken in the URL.
type Store struct {
	// The bucket, a prefix for names in it, and options, as `gs://bucket/prefix`.
	// Placeholders are replaced when the configuration is loaded. The option
	// `anonymous=true` has a public bucket read without credentials, and so does an
	// emulator's address in `STORAGE_EMULATOR_HOST`. Required.
	URL string `json:"url,omitempty"`
}

// CaddyModule returns Caddy's information about the module.
func (Store) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: objects.Namespace + ".gs", New: func() caddy.Module { return new(Store) }}
}

const anonymousOption = "anonymous"

// CheckURL implements objects.Driver.
func (*Store) CheckURL(address *url.URL) error {
	if err := objects.CheckOptions(address, anonymousOption); err != nil {
		return err
	}
	_, err := isAnonymous(address)
	return err
}

func isAnonymous(address *url.URL) (bool, error) {
	text := address.Query().Get(anonymousOption)
	if text == "" {
		return os.Getenv("STORAGE_EMULATOR_HOST") != "", nil
	}
	anonymous, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%s is '%s': expected true or false", anonymousOption, text)
	}
	return anonymous, nil
}

// OpenBucket implements objects.Driver.
func (*Store) OpenBucket(ctx context.Context, address *url.URL) (*blob.Bucket, error) {
	anonymous, err := isAnonymous(address)
	if err != nil {
		return nil, err
	}
	client := gcp.NewAnonymousHTTPClient(gcp.DefaultTransport())
	if !anonymous {
		// Tokens are fetched again for as long as the bucket is used.
		credentials, err := gcp.DefaultCredentials(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		if client, err = gcp.NewHTTPClient(gcp.DefaultTransport(), gcp.CredentialsTokenSource(credentials)); err != nil {
			return nil, err
		}
	}
	return gcsblob.OpenBucket(ctx, client, address.Host, nil)
}

// Interface guard
var _ objects.Driver = (*Store)(nil)
