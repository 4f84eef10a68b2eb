// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// The token of this tab. It is never part of an address that is sent, and ends with the tab.

const key = 'foocloud-token';
const start = '#token=';

// decode decodes a part of the address; one that is not encoded correctly stays as it is.
export function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// takeToken moves a token from the address into this tab. Browsers do not send what follows "#".
export function takeToken() {
  if (location.hash.startsWith(start)) {
    keepToken(decode(location.hash.slice(start.length)));
    history.replaceState(null, '', location.pathname);
  }
  return sessionStorage.getItem(key);
}

export function keepToken(token) {
  sessionStorage.setItem(key, token);
}

export function forgetToken() {
  sessionStorage.removeItem(key);
}
