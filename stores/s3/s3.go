// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package s3 is the store for s3:// URLs: Amazon's S3 and what speaks its
// protocol.
package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-rehearsal/rehearsal/internal/objects"
)

func init() { caddy.RegisterModule(Store{}) }

// Store keeps recordings and reports in a bucket of Amazon's S3, or of a store
// that speaks its protocol.
//
// Credentials are those that AWS's own tools find: the environment
// (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_PROFILE`), shared files, the
// role of a pod, container or machine. They are not taken in the URL.
type Store struct {
	// The bucket, a prefix for names in it, and options, as
	// `s3://bucket/prefix?region=eu-west-1`. Placeholders are replaced when the
	// configuration is loaded. Options are: `region`; `endpoint`, the URL of another
	// store than Amazon's, in which buckets are a part of the path unless
	// `use_path_style=false`; `profile`, a section of the shared files; `role`,
	// the ARN of a role to assume; `ssetype` and `kmskeyid`, how the store encrypts;
	// `request_checksum_calculation=when_required` for stores that know no
	// checksums; `anonymous`, `accelerate`, `dualstack`, `fips`. Required.
	URL string `json:"url,omitempty"`
}

// CaddyModule returns Caddy's information about the module.
func (Store) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: objects.Namespace + ".s3", New: func() caddy.Module { return new(Store) }}
}

const (
	regionOption    = "region"
	endpointOption  = "endpoint"
	pathStyleOption = "use_path_style"

	// anyRegion is what requests are signed for where a store has no regions.
	anyRegion = "us-east-1"
)

var (
	truth     = []string{"true", "false"}
	checksums = []string{"when_required", "when_supported"}

	// values are those of the options that have few, in any case. The driver would
	// refuse others, but only when something is to be sent.
	values = map[string][]string{
		pathStyleOption: truth, "anonymous": truth, "accelerate": truth, "dualstack": truth, "fips": truth,
		"request_checksum_calculation": checksums, "response_checksum_validation": checksums,
		"ssetype": {"AES256", "aws:kms", "aws:kms:dsse"},
	}
)

// CheckURL implements objects.Driver.
func (*Store) CheckURL(address *url.URL) error {
	if err := objects.CheckOptions(address, regionOption, endpointOption, pathStyleOption, "profile", "role", "ssetype", "kmskeyid",
		"request_checksum_calculation", "response_checksum_validation", "anonymous", "accelerate", "dualstack", "fips"); err != nil {
		return err
	}
	if address.Port() != "" {
		return errors.New("a bucket has no port: expected the address of the store in endpoint=")
	}
	query := address.Query()
	for name := range query {
		value, allowed := query.Get(name), values[name]
		if allowed != nil && !slices.ContainsFunc(allowed, func(a string) bool { return strings.EqualFold(a, value) }) {
			return fmt.Errorf("%s is '%s': expected %s", name, value, strings.Join(allowed, " or "))
		}
	}
	if role := query.Get("role"); query.Has("role") && !strings.HasPrefix(role, "arn:") {
		return fmt.Errorf("role is '%s': expected an ARN like arn:aws:iam::123456789012:role/recorder", role)
	}
	if !query.Has(endpointOption) {
		return nil
	}
	endpoint, err := url.Parse(query.Get(endpointOption))
	switch {
	case err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https":
		return fmt.Errorf("%s is not the URL of a store: expected one like https://minio.example:9000", endpointOption)
	case endpoint.User != nil || endpoint.RawQuery != "":
		return fmt.Errorf("%s has more than scheme, host and path: credentials stay where AWS's own tools look for them", endpointOption)
	}
	return nil
}

// OpenBucket implements objects.Driver.
func (*Store) OpenBucket(ctx context.Context, address *url.URL) (*blob.Bucket, error) {
	query := address.Query()
	if query.Has(endpointOption) {
		if !query.Has(pathStyleOption) {
			query.Set(pathStyleOption, "true")
		}
		if query.Get(regionOption) == "" && cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")) == "" && !query.Has("profile") {
			query.Set(regionOption, anyRegion)
		}
		query.Set(endpointOption, strings.TrimSuffix(query.Get(endpointOption), "/"))
	}
	return new(s3blob.URLOpener).OpenBucketURL(ctx, &url.URL{Scheme: address.Scheme, Host: address.Host, RawQuery: query.Encode()})
}

// Interface guard
var _ objects.Driver = (*Store)(nil)
