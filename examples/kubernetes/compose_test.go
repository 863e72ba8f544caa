// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

// TestComposeFile holds that the file of the example for one machine is what Compose
// takes, and that the files which it mounts and builds are there.
func TestComposeFile(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{filepath.Join("..", "compose", "compose.yaml")}, cli.WithProfiles([]string{"*"}))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(project.Services) != 3 {
		t.Errorf("got %v", project.ServiceNames())
	}
	for name, service := range project.Services {
		if !service.ReadOnly || len(service.CapDrop) != 1 || service.User == "root" {
			t.Errorf("%s has privileges", name)
		}
		if _, err := os.Stat(filepath.Join(service.Build.Context, service.Build.Dockerfile)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, volume := range service.Volumes {
			if strings.HasSuffix(volume.Source, "Caddyfile") {
				if _, err := os.Stat(volume.Source); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}
