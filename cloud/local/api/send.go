// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"net/http"
)

// Send answers a call with a status and a JSON body. It fails if the caller has gone.
func Send(w http.ResponseWriter, status int, body any) error {
	w.Header().Set("Content-Type", JSON)
	w.WriteHeader(status)
	return json.NewEncoder(w).Encode(body)
}
