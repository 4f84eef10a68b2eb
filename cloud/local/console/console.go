// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// Path is where the page is.
const Path = "/console/"

const folder, index = "page", "index.html"

//go:embed page
var page embed.FS

// contentTypes are the types of the page's files. They do not depend on what this machine knows.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// headers keep the page from running or loading anything that is not its own, from being framed, and
// from telling its address to others. Trusted Types make the browser refuse to parse text as HTML.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=()",
	// The browser asks each time whether it has the current file.
	"Cache-Control": "no-cache",
}

type file struct {
	content []byte
	tag     string
}

// Handler returns what answers calls to Path and to all paths below it.
func Handler() (http.Handler, error) {
	files, err := load()
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		name := strings.TrimPrefix(r.URL.Path, Path)
		if name == "" {
			name = index
		}
		found, ok := files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
		w.Header().Set("ETag", found.tag)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(found.content))
	}), nil
}

// load returns the files of the page by name.
func load() (map[string]file, error) {
	entries, err := fs.ReadDir(page, folder)
	if err != nil {
		return nil, err
	}
	files := map[string]file{}
	for _, entry := range entries {
		content, err := fs.ReadFile(page, path.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		files[entry.Name()] = file{content: content, tag: `"` + hex.EncodeToString(sum[:16]) + `"`}
	}
	return files, nil
}
