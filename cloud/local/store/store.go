// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

const openTimeout = 2 * time.Second

var (
	instances     = []byte("instances")
	instanceNames = []byte("instance-names")
	userData      = []byte("user-data")
	pools         = []byte("pools")
	balancers     = []byte("load-balancers")
	addresses     = []byte("addresses")
	faults        = []byte("faults")
	meta          = []byte("meta")
)

var (
	networkKey     = []byte("network")
	lastAddressKey = []byte("last-address")
)

// ErrInUse means that another process has the state file open.
var ErrInUse = errors.New("in use by another process")

// Store is the state of the cloud.
type Store struct {
	db *bolt.DB
}

// Open opens the state file and creates it if missing.
func Open(path string) (*Store, error) {
	db, err := open(path, &bolt.Options{Timeout: openTimeout, FreelistType: bolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range [][]byte{instances, instanceNames, userData, pools, balancers, addresses, faults, meta} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return fmt.Errorf("make bucket %s: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("prepare state file %s: %w", path, err)
	}
	return &Store{db: db}, nil
}

func open(path string, options *bolt.Options) (*bolt.DB, error) {
	db, err := bolt.Open(path, 0o600, options)
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("state file %s is %w", path, ErrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("open state file %s: %w", path, err)
	}
	return db, nil
}

// ReadNetwork returns what a cloud changed on the host, or nil if there is no such cloud. It never
// writes to the state file, and never waits for it: while the cloud runs, it returns ErrInUse.
func ReadNetwork(path string) (*Network, error) {
	// The file is empty if the first daemon was killed as it began.
	if info, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil, nil
	}
	db, err := open(path, &bolt.Options{Timeout: time.Nanosecond, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	var record *Network
	err = db.View(func(tx *bolt.Tx) (err error) {
		if tx.Bucket(meta) != nil {
			record, err = (&Tx{tx: tx}).Network()
		}
		return err
	})
	return record, err
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

// View runs fn on a consistent snapshot of the state.
func (s *Store) View(fn func(*Tx) error) error {
	return s.db.View(func(tx *bolt.Tx) error { return fn(&Tx{tx: tx}) })
}

// Update runs fn as one transaction. If fn returns an error, none of its changes are kept.
func (s *Store) Update(fn func(*Tx) error) error {
	return s.db.Update(func(tx *bolt.Tx) error { return fn(&Tx{tx: tx}) })
}

// Tx is one transaction.
type Tx struct {
	tx *bolt.Tx
}

// Version changes with every change of the state.
func (t *Tx) Version() int { return t.tx.ID() }

// key scopes a name to a tenant. Neither can contain the separator.
func key(tenant, name string) []byte { return []byte(tenant + "\x00" + name) }

func get[T any](tx *Tx, bucket, key []byte) (*T, error) {
	text := tx.tx.Bucket(bucket).Get(key)
	if text == nil {
		return nil, nil
	}
	record := new(T)
	if err := json.Unmarshal(text, record); err != nil {
		return nil, fmt.Errorf("read %s %q: %w", bucket, key, err)
	}
	return record, nil
}

func put[T any](tx *Tx, bucket, key []byte, record *T) error {
	text, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("write %s %q: %w", bucket, key, err)
	}
	if err := tx.tx.Bucket(bucket).Put(key, text); err != nil {
		return fmt.Errorf("write %s %q: %w", bucket, key, err)
	}
	return nil
}

func remove(tx *Tx, bucket, key []byte) error {
	if err := tx.tx.Bucket(bucket).Delete(key); err != nil {
		return fmt.Errorf("delete %s %q: %w", bucket, key, err)
	}
	return nil
}
