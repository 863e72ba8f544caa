// Copyright 2026 The Rehearsal Authors
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// manifests are what kustomize makes of the folder, decoded so strictly that a
// field which Kubernetes does not know is an error.
type manifests struct {
	namespaces  []core.Namespace
	configMaps  []core.ConfigMap
	services    []core.Service
	deployments []apps.Deployment
	jobs        []batch.Job
	monitors    []monitoring.ServiceMonitor
}

func decode(t *testing.T) (m manifests) {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range resources.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		switch kind := r.GetKind(); kind {
		case "Namespace":
			m.namespaces = append(m.namespaces, strictly[core.Namespace](t, text))
		case "ConfigMap":
			m.configMaps = append(m.configMaps, strictly[core.ConfigMap](t, text))
		case "Service":
			m.services = append(m.services, strictly[core.Service](t, text))
		case "Deployment":
			m.deployments = append(m.deployments, strictly[apps.Deployment](t, text))
		case "Job":
			m.jobs = append(m.jobs, strictly[batch.Job](t, text))
		case "ServiceMonitor":
			m.monitors = append(m.monitors, strictly[monitoring.ServiceMonitor](t, text))
		default:
			t.Errorf("a manifest of kind %s is not looked at", kind)
		}
	}
	return m
}

func strictly[T any](t *testing.T, text []byte) (v T) {
	t.Helper()
	if err := yaml.UnmarshalStrict(text, &v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

// pods returns what each workload runs, by its name.
func (m *manifests) pods() map[string]core.PodTemplateSpec {
	all := make(map[string]core.PodTemplateSpec)
	for _, d := range m.deployments {
		all["deployment "+d.Name] = d.Spec.Template
	}
	for _, j := range m.jobs {
		all["job "+j.Name] = j.Spec.Template
	}
	return all
}

// TestPodsAreRestricted holds that no pod has privileges: none of root's, none of
// the file system's, none with the API server.
func TestPodsAreRestricted(t *testing.T) {
	m := decode(t)
	if len(m.pods()) != 4 {
		t.Errorf("got %d workloads", len(m.pods()))
	}
	for name, pod := range m.pods() {
		spec := pod.Spec
		if c := spec.SecurityContext; c == nil || c.RunAsNonRoot == nil || !*c.RunAsNonRoot || c.SeccompProfile == nil || c.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s: its security context is %+v", name, c)
		}
		if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken || spec.ServiceAccountName != "" {
			t.Errorf("%s has a token for the API server", name)
		}
		for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
			s := c.SecurityContext
			if s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation ||
				s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
				t.Errorf("%s: the security context of %s is %+v", name, c.Name, s)
			}
			if strings.HasPrefix(c.Image, "rehearsal") {
				t.Errorf("%s: kustomize has not replaced the image %s", name, c.Image)
			}
		}
	}
}

// TestNamesLeadSomewhere holds that what manifests name of one another is there:
// labels, ports, volumes, ConfigMaps. Of Secrets and of the bucket's ConfigMap, which are
// not part of this, that they may be missing.
func TestNamesLeadSomewhere(t *testing.T) {
	m := decode(t)
	configMaps := make(map[string]bool)
	for _, c := range m.configMaps {
		configMaps[c.Name] = true
	}
	for name, pod := range m.pods() {
		volumes := make(map[string]bool)
		for _, v := range pod.Spec.Volumes {
			volumes[v.Name] = true
			if v.ConfigMap != nil && !configMaps[v.ConfigMap.Name] {
				t.Errorf("%s: there is no ConfigMap %s", name, v.ConfigMap.Name)
			}
		}
		for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			for _, mount := range c.VolumeMounts {
				if !volumes[mount.Name] {
					t.Errorf("%s: there is no volume %s", name, mount.Name)
				}
			}
			for _, from := range c.EnvFrom {
				if ref := from.ConfigMapRef; ref != nil && !configMaps[ref.Name] && (ref.Optional == nil || !*ref.Optional) {
					t.Errorf("%s: there is no ConfigMap %s", name, ref.Name)
				}
				if ref := from.SecretRef; ref != nil && (ref.Optional == nil || !*ref.Optional) {
					t.Errorf("%s: a Secret %s is needed", name, ref.Name)
				}
			}
			for _, probe := range []*core.Probe{c.ReadinessProbe, c.StartupProbe} {
				if probe != nil && !hasPort(c, probe.HTTPGet.Port.StrVal) {
					t.Errorf("%s: there is no port %s to probe", name, probe.HTTPGet.Port.StrVal)
				}
			}
		}
	}
	for _, service := range m.services {
		found := false
		for _, d := range m.deployments {
			if !within(service.Spec.Selector, d.Spec.Template.Labels) {
				continue
			}
			found = true
			for _, port := range service.Spec.Ports {
				if !slices.ContainsFunc(slices.Concat(d.Spec.Template.Spec.InitContainers, d.Spec.Template.Spec.Containers),
					func(c core.Container) bool { return hasPort(c, port.TargetPort.StrVal) }) {
					t.Errorf("service %s: %s has no port %s", service.Name, d.Name, port.TargetPort.StrVal)
				}
			}
		}
		if !found {
			t.Errorf("service %s leads to nothing", service.Name)
		}
	}
	for _, monitor := range m.monitors {
		if !slices.ContainsFunc(m.services, func(s core.Service) bool {
			return within(monitor.Spec.Selector.MatchLabels, s.Labels) &&
				slices.ContainsFunc(s.Spec.Ports, func(p core.ServicePort) bool { return p.Name == monitor.Spec.Endpoints[0].Port })
		}) {
			t.Errorf("service monitor %s finds no service", monitor.Name)
		}
	}
}

func hasPort(c core.Container, name string) bool {
	return slices.ContainsFunc(c.Ports, func(p core.ContainerPort) bool { return p.Name == name })
}

// within reports whether labels have all that are selected, which are some.
func within(selected, labels map[string]string) bool {
	for name, value := range selected {
		if labels[name] != value {
			return false
		}
	}
	return len(selected) > 0
}

// TestCommandsAreUnderstood gives the arguments of the jobs to the built command, as
// Kubernetes would: a recording in a folder takes the place of the bucket.
func TestCommandsAreUnderstood(t *testing.T) {
	m := decode(t)
	dir := t.TempDir()
	caddy := filepath.Join(dir, "caddy")
	if out, err := exec.Command("go", "-C", "../..", "build", "-o", caddy, "./cmd/caddy").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.MkdirAll(filepath.Join(dir, "recordings"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "targets"), []byte(strings.Repeat(`{"method":"GET","url":"http://shop.test/","time":"2026-11-30T14:35:00Z"}`+"\n", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(caddy, "replay", "convert", filepath.Join(dir, "targets"), "-o", filepath.Join(dir, "recordings", "a.lz4")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	values := make(map[string]string)
	for _, c := range m.configMaps {
		if strings.HasPrefix(c.Name, "replay") {
			values = c.Data
		}
	}
	if len(values) == 0 {
		t.Fatal("no ConfigMap has the settings of a run")
	}
	values["BUCKET"], values["START_AT"] = dir, time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for _, job := range m.jobs {
		c := job.Spec.Template.Spec.Containers[0]
		if job.Name == "replay" {
			shards := int(*job.Spec.Completions)
			if *job.Spec.CompletionMode != batch.IndexedCompletion || *job.Spec.Parallelism != *job.Spec.Completions || c.Env[0].Name != "REHEARSAL_SHARDS" || c.Env[0].Value != strconv.Itoa(shards) {
				t.Errorf("%d shards at once, and %v", shards, c.Env)
			}
			values["JOB_COMPLETION_INDEX"] = "0"
			args := slices.Concat(c.Args[:len(c.Args)-1], []string{"--dry-run"}, c.Args[len(c.Args)-1:])
			command := exec.Command(caddy, expanded(args, values)...)
			command.Env = append(os.Environ(), "JOB_COMPLETION_INDEX=0", fmt.Sprint("REHEARSAL_SHARDS=", shards))
			if out, err := command.CombinedOutput(); err != nil {
				t.Errorf("%v: %v\n%s", command.Args, err, out)
			}
			continue
		}
		// No report is there yet: that is said, with the status for which Kubernetes tries again.
		if err := os.MkdirAll(filepath.Join(dir, "runs", values["RUN"]), 0o755); err != nil {
			t.Fatal(err)
		}
		command := exec.Command(caddy, expanded(c.Args, values)...)
		out, err := command.CombinedOutput()
		again := command.ProcessState.ExitCode()
		if err == nil || again != 1 || slices.Contains(job.Spec.PodFailurePolicy.Rules[0].OnExitCodes.Values, int32(again)) {
			t.Errorf("%v: %v\n%s", command.Args, err, out)
		}
	}
}

// expanded replaces $(NAME) as Kubernetes does.
func expanded(args []string, values map[string]string) []string {
	all := slices.Clone(args)
	for i := range all {
		for name, value := range values {
			all[i] = strings.ReplaceAll(all[i], "$("+name+")", value)
		}
	}
	return all
}
