// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ChangeOnly returns a problem for each field under path that differs between before and after,
// except the fields in mayChange. before and after are pointers to structs. See Changed.
func ChangeOnly(path *field.Path, before, after any, mayChange ...string) field.ErrorList {
	changed, err := Changed(path, before, after, mayChange...)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	var problems field.ErrorList
	for _, one := range changed {
		beside := allowedText(strings.TrimPrefix(one.Path.String(), path.String()+"."), mayChange)
		problems = append(problems, field.Forbidden(one.Path, one.Problem()+beside))
	}
	return problems
}

// SetOnce returns a problem if a value that was set is changed or removed.
func SetOnce[T comparable](path *field.Path, before, after T) field.ErrorList {
	var unset T
	switch {
	case before == unset || before == after:
		return nil
	case after == unset:
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf("was set to %v and must not be removed", before))}
	default:
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf("was set to %v and must not change to %v", before, after))}
	}
}

// allowedText names the fields beside a changed one that may change.
func allowedText(changed string, mayChange []string) string {
	parent := changed[:strings.LastIndex(changed, ".")+1]
	var beside []string
	for _, allowed := range mayChange {
		if rest, below := strings.CutPrefix(allowed, parent); below && !strings.Contains(rest, ".") {
			beside = append(beside, rest)
		}
	}
	if len(beside) == 0 {
		return ""
	}
	return "; these fields may change: " + strings.Join(beside, ", ")
}
