// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package azblob is the store for azblob:// URLs: containers of Azure's blob
// storage. It is a module of its own, so that what its driver needs is no
// dependency of those who do not build with it.
package azblob

import (
	"context"
	"net/url"

	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/objects"
)

func init() { caddy.RegisterModule(Store{}) }

// Store keeps recordings and reports in a container of Azure's blob storage.
//
// Credentials are those of the environment: `AZURE_STORAGE_ACCOUNT` with
// `AZURE_STORAGE_KEY`, `AZURE_STORAGE_CONNECTION_STRING` or
// `AZURE_STORAGE_SAS_TOKEN`, else what Azure's own tools find: a workload's or a
// managed identity, `AZURE_CLIENT_ID`, or who is signed in. They are not taken in
// the URL.
type Store struct {
	// The container, a prefix for names in it, and options, as
	// `azblob://container/prefix?storage_account=shop`. Placeholders are replaced when
	// the configuration is loaded. Options are: `storage_account`, by default that of
	// the environment; `domain` of another cloud than the public one; `protocol`,
	// `http` or `https`; `localemu=true` for an emulator, whose accounts are a part of
	// the path. Required.
	URL string `json:"url,omitempty"`
}

// CaddyModule returns Caddy's information about the module.
func (Store) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: objects.Namespace + ".azblob", New: func() caddy.Module { return new(Store) }}
}

// CheckURL implements objects.Driver.
func (*Store) CheckURL(address *url.URL) error {
	return objects.CheckOptions(address, "storage_account", "domain", "protocol", "localemu")
}

// OpenBucket implements objects.Driver.
func (*Store) OpenBucket(ctx context.Context, address *url.URL) (*blob.Bucket, error) {
	return blob.DefaultURLMux().OpenBucketURL(ctx, &url.URL{Scheme: azureblob.Scheme, Host: address.Host, RawQuery: address.RawQuery})
}

// Interface guard
var _ objects.Driver = (*Store)(nil)
