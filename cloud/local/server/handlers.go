// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

type handle = func(b Backend, w http.ResponseWriter, r *http.Request) error

func health(w http.ResponseWriter, _ *http.Request) { sendText(w, api.Text, []byte("ok\n")) }

func document(w http.ResponseWriter, _ *http.Request) { sendText(w, api.YAML, api.Document) }

func getTenant(c *caller, w http.ResponseWriter) {
	send(w, http.StatusOK, api.Tenant{Name: c.Name, ReadOnly: c.readOnly})
}

func sendText(w http.ResponseWriter, kind string, text []byte) {
	w.Header().Set("Content-Type", kind)
	if _, err := w.Write(text); err != nil {
		klog.Background().V(1).Info("Caller disconnected before the answer was sent", "reason", err.Error())
	}
}

func sendList[T any](w http.ResponseWriter, items []T) {
	if items == nil {
		items = []T{}
	}
	send(w, http.StatusOK, api.List[T]{Items: items})
}

func getList[T any](list func(Backend, context.Context) ([]T, error)) handle {
	return func(b Backend, w http.ResponseWriter, r *http.Request) error {
		items, err := list(b, r.Context())
		if err == nil {
			sendList(w, items)
		}
		return err
	}
}

func getTagged[T any](list func(Backend, context.Context, cloud.Tags) ([]T, error)) handle {
	return func(b Backend, w http.ResponseWriter, r *http.Request) error {
		tags, err := parseTags(r)
		if err != nil {
			return err
		}
		items, err := list(b, r.Context(), tags)
		if err == nil {
			sendList(w, items)
		}
		return err
	}
}

func parseTags(r *http.Request) (cloud.Tags, error) {
	tags := cloud.Tags{}
	for _, pair := range r.URL.Query()[api.ParameterTag] {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, &cloud.InvalidError{Field: api.ParameterTag, Value: pair, Problem: "is not key=value"}
		}
		tags[key] = value
	}
	return tags, nil
}

func getQuota(b Backend, w http.ResponseWriter, r *http.Request) error {
	quota, err := b.Quota(r.Context())
	if err == nil {
		send(w, http.StatusOK, quota)
	}
	return err
}

func getOne[T any](part string, get func(Backend, context.Context, string) (T, error)) handle {
	return func(b Backend, w http.ResponseWriter, r *http.Request) error {
		item, err := get(b, r.Context(), r.PathValue(part))
		if err == nil {
			send(w, http.StatusOK, item)
		}
		return err
	}
}

// order requests work that continues after the answer.
func order(part string, order func(Backend, context.Context, string) error) handle {
	return func(b Backend, w http.ResponseWriter, r *http.Request) error {
		err := order(b, r.Context(), r.PathValue(part))
		if err == nil {
			w.WriteHeader(http.StatusAccepted)
		}
		return err
	}
}

func switchInstance(b Backend, w http.ResponseWriter, r *http.Request) error {
	err := b.SwitchInstance(r.Context(), r.PathValue("id"), engine.Power(r.PathValue("action")))
	if err == nil {
		w.WriteHeader(http.StatusAccepted)
	}
	return err
}

func ensureNamed[S, T any](nameOf func(S) string, ensure func(Backend, context.Context, S) (T, error)) handle {
	return func(b Backend, w http.ResponseWriter, r *http.Request) error {
		spec, err := receive[S](r)
		if err != nil {
			return err
		}
		if name := nameOf(spec); name != r.PathValue("name") {
			return wrongName(name, r.PathValue("name"))
		}
		item, err := ensure(b, r.Context(), spec)
		if err == nil {
			send(w, http.StatusOK, item)
		}
		return err
	}
}

func ensurePool(b Backend, w http.ResponseWriter, r *http.Request) error {
	version := r.URL.Query().Get(api.ParameterVersion)
	return ensureNamed(func(spec cloud.PoolSpec) string { return spec.Name },
		func(b Backend, ctx context.Context, spec cloud.PoolSpec) (cloud.Pool, error) {
			return b.EnsurePool(ctx, spec, version)
		})(b, w, r)
}

func scalePool(b Backend, w http.ResponseWriter, r *http.Request) error {
	order, err := receive[api.PoolSize](r)
	if err != nil {
		return err
	}
	pool, err := b.ScalePool(r.Context(), r.PathValue("name"), order.Size, r.URL.Query().Get(api.ParameterVersion))
	if err == nil {
		send(w, http.StatusOK, pool)
	}
	return err
}

func ensureInstance(b Backend, w http.ResponseWriter, r *http.Request) error {
	spec, err := receive[cloud.InstanceSpec](r)
	if err != nil {
		return err
	}
	instance, err := b.EnsureInstance(r.Context(), spec)
	if err == nil {
		send(w, http.StatusOK, instance)
	}
	return err
}

func listInstances(b Backend, w http.ResponseWriter, r *http.Request) error {
	tags, err := parseTags(r)
	if err != nil {
		return err
	}
	values := r.URL.Query()
	instances, err := b.ListInstances(r.Context(), cloud.InstanceFilter{
		Name: values.Get(api.ParameterName), Pool: values.Get(api.ParameterPool), Tags: tags,
	})
	if err == nil {
		sendList(w, instances)
	}
	return err
}

func getLog(b Backend, w http.ResponseWriter, r *http.Request) error {
	log, err := parseLog(r.URL.Query())
	if err != nil {
		return err
	}
	content, err := b.Log(r.Context(), r.PathValue("id"), log)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	w.Header().Set("Content-Type", api.Text)
	stream(w, content)
	return nil
}

// maxTail limits the lines whose places the daemon remembers while it looks for the last lines of a log.
const maxTail = 100_000

func parseLog(values url.Values) (engine.Log, error) {
	log := engine.Log{Source: engine.LogConsole}
	if source := values.Get(api.ParameterSource); source != "" {
		log.Source = engine.LogSource(source)
	}
	invalid := func(field, problem string, allowed ...string) error {
		return &cloud.InvalidError{Field: field, Value: values.Get(field), Problem: problem, Allowed: allowed}
	}
	var err error
	if follow := values.Get(api.ParameterFollow); follow != "" {
		if log.Follow, err = strconv.ParseBool(follow); err != nil {
			return log, invalid(api.ParameterFollow, "is neither true nor false", "true", "false")
		}
	}
	if tail := values.Get(api.ParameterTail); tail != "" {
		lines, err := strconv.Atoi(tail)
		if err != nil || lines < 0 || lines > maxTail {
			return log, invalid(api.ParameterTail, "is not an allowed number of lines", fmt.Sprint("0 to ", maxTail))
		}
		log.Tail = &lines
	}
	if since := values.Get(api.ParameterSince); since != "" {
		if log.Since, err = time.Parse(time.RFC3339, since); err != nil {
			return log, invalid(api.ParameterSince, "is not a time in RFC 3339 format")
		}
	}
	return log, nil
}
