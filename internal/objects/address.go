// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

// Package objects keeps recordings and reports in object stores, and reads them
// from there.
//
// A store is a guest module of Caddy in the namespace rehearsal.stores, named by
// the scheme of its URLs. So a Caddy has the drivers that it was built with, and
// others can add theirs without a change here.
package objects

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"gocloud.dev/blob"

	"github.com/caddyserver/caddy/v2"
)

// Namespace is that of the modules that are stores.
const Namespace = "rehearsal.stores"

// Driver is what a module in the namespace does for the URLs of its scheme. The
// module's JSON has the member `url`, which is the address.
type Driver interface {
	caddy.Module

	// CheckURL returns what is wrong with an address as far as that can be said
	// without asking the store or looking for credentials.
	CheckURL(address *url.URL) error

	// OpenBucket returns the bucket of an address, whose path is none of its
	// business. Credentials come from where the store's users have them.
	OpenBucket(ctx context.Context, address *url.URL) (*blob.Bucket, error)
}

// Address is where in a store something is kept.
type Address struct {
	url    *url.URL
	driver Driver
}

// IsURL reports whether a text is the URL of something that is in a store, rather
// than a file's name or what HTTP fetches.
func IsURL(text string) bool {
	scheme, _, found := strings.Cut(text, "://")
	return found && scheme != "" && scheme != "http" && scheme != "https" && !strings.ContainsFunc(scheme, notInSchemes)
}

func notInSchemes(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '+' && r != '.' && r != '-'
}

// Parse reads an address. Its errors have nothing of a URL that may be secret.
func Parse(text string) (*Address, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return nil, errors.New("not the URL of an object store: expected one like s3://bucket/prefix")
	}
	bare := u.Scheme + "://" + u.Host
	if u.User != nil {
		return nil, fmt.Errorf("%s has credentials in its URL: leave them where the store's own tools look for them, like the environment", bare)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("%s: the options behind ? cannot be read: expected name=value&name=value", bare)
	}
	for name, values := range query {
		switch {
		case isSecret(name):
			return nil, fmt.Errorf("%s: %s would be a credential in a URL: leave it where the store's own tools look for it, like the environment", bare, name)
		case len(values) != 1:
			return nil, fmt.Errorf("%s: %s is given %d times", bare, name, len(values))
		}
	}
	if u.Fragment != "" {
		return nil, fmt.Errorf("%s: a # in a name is written %%23", bare)
	}
	if place := strings.Trim(u.Path, "/"); place != "" && path.Clean("/"+place) != "/"+place {
		return nil, fmt.Errorf("%s: an empty part of the path, . and .. mean nothing in a store: expected one like %s/folder/folder", bare, bare)
	}
	info, err := caddy.GetModule(Namespace + "." + u.Scheme)
	if err != nil {
		return nil, fmt.Errorf("there is no store for %s:// in this Caddy: expected one of %s, or a build --with the package of another", u.Scheme, schemes())
	}
	driver, ok := info.New().(Driver)
	if !ok {
		return nil, fmt.Errorf("the module %s is no store", info.ID)
	}
	if err := driver.CheckURL(u); err != nil {
		return nil, fmt.Errorf("%s: %w", bare, err)
	}
	return &Address{url: u, driver: driver}, nil
}

// isSecret reports whether an option, by its name, is a credential or a part of
// one, in the ways of any store.
func isSecret(name string) bool {
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	if name == "sig" || name == "sas" {
		return true
	}
	return slices.ContainsFunc([]string{"secret", "password", "passwd", "token", "signature", "credential", "accesskey", "accountkey", "sharedkey", "apikey", "privatekey", "connectionstring"},
		func(word string) bool { return strings.Contains(name, word) })
}

// schemes returns what the stores of this Caddy are written with.
func schemes() string {
	modules := caddy.GetModules(Namespace)
	names := make([]string, 0, len(modules))
	for _, module := range modules {
		names = append(names, module.ID.Name()+"://")
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// Scheme returns the scheme of the address.
func (a *Address) Scheme() string { return a.url.Scheme }

// String returns the address without its options.
func (a *Address) String() string { return a.name(a.Path()) }

// name returns what messages call an object of the bucket.
func (a *Address) name(key string) string { return a.url.Scheme + "://" + a.url.Host + "/" + key }

// Path returns what the address names within the bucket, "" for all of it. A
// slash at its end stays.
func (a *Address) Path() string { return strings.TrimLeft(a.url.Path, "/") }

// Key returns a text that only the same address has, options included.
func (a *Address) Key() string { return a.url.String() }

// Open returns the bucket of the address.
func (a *Address) Open(ctx context.Context) (*Bucket, error) {
	bucket, err := a.driver.OpenBucket(ctx, a.url)
	if err != nil {
		return nil, failure{a.name(""), err}
	}
	return &Bucket{address: a, bucket: bucket}, nil
}

// CheckOptions returns an error for an option of the URL that is none of these.
func CheckOptions(address *url.URL, names ...string) error {
	for name := range address.Query() {
		if !slices.Contains(names, name) {
			slices.Sort(names)
			return fmt.Errorf("'%s' is no option of this store: expected one of %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}
