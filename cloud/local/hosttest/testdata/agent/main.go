// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command agent stands in for the node agent in tests: it runs the bootstrap data as a shell script, reports how that
// went, and answers on port 6443 as an API server would, until it gets SIGTERM. As "agent escape" it tries to get out of where it runs.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "escape" {
		escape(os.Args[2:])
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("agent: stopped gently")
}

func run(ctx context.Context) error {
	fmt.Println("agent: started as process", os.Getpid())
	if err := report("Running", ""); err != nil {
		return err
	}
	script := exec.Command("sh", "/run/foo/user-data")
	script.Stdout, script.Stderr = os.Stdout, os.Stderr
	state, message := "Succeeded", ""
	if err := script.Run(); err != nil {
		state, message = "Failed", err.Error()
	}
	fmt.Println("agent: the script has ended")
	if err := report(state, message); err != nil {
		return err
	}
	go func() { log.Fatal(serve()) }()
	<-ctx.Done()
	return nil
}

func report(state, message string) error {
	text, err := json.Marshal(map[string]any{
		"phase": "Running", "bootstrap": map[string]string{"state": state, "message": message},
	})
	if err != nil {
		return err
	}
	const path = "/run/foo/report/status.json"
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func serve() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	hostname, err := os.Hostname()
	if err != nil {
		return err
	}
	server := &http.Server{
		Addr:              ":6443",
		ReadHeaderTimeout: time.Minute,
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, hostname) }),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
	}
	return server.ListenAndServeTLS("", "")
}
