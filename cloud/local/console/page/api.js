// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// The calls of the cloud's API.

// silence is how long an event stream may send nothing, not even a keepalive, before it counts as
// lost, in milliseconds.
const silence = 45_000;

// A call that comes too early is made again, so often, if the cloud asks for no longer wait, in
// seconds.
const attempts = 10;
const maxRetryAfter = 5;

// CallError is an answer that is an error, or a call without an answer, which has status 0.
export class CallError extends Error {
  constructor(status, message, retryAfterSeconds = 0) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get unauthorized() { return this.status === 401; }

  get notFound() { return this.status === 404; }
}

export class API {
  #token;

  constructor(token) { this.#token = token; }

  get(path) { return this.#call('GET', path).then((response) => response.json()); }

  list(path) { return this.get(path).then((list) => list.items); }

  async order(method, path, body) { await this.#call(method, path, { body }); }

  // watch calls connected once the stream is open, and event for each event, until the stream ends.
  async watch(event, signal) {
    const ended = new AbortController();
    signal.addEventListener('abort', () => ended.abort(), { once: true });
    let watchdog = setTimeout(() => ended.abort(), silence);
    try {
      let rest = '';
      await this.stream('/v1/watch', (text) => {
        clearTimeout(watchdog);
        watchdog = setTimeout(() => ended.abort(), silence);
        const lines = (rest + text).split('\n');
        rest = lines.pop();
        lines.filter((line) => line.trim()).forEach((line) => event(JSON.parse(line)));
      }, ended.signal);
    } finally {
      clearTimeout(watchdog);
    }
  }

  // stream passes on the text of an answer as it arrives, until the answer ends.
  async stream(path, text, signal) {
    const response = await this.#call('GET', path, { signal });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        text(value);
      }
    } catch (error) {
      if (error instanceof TypeError || error.name === 'AbortError') throw new CallError(0, 'the connection was lost');
      throw error;
    }
  }

  async #call(method, path, options) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#send(method, path, options);
      } catch (error) {
        if (error.status !== 429 || error.retryAfterSeconds > maxRetryAfter || attempt === attempts) throw error;
        await new Promise((done) => { setTimeout(done, error.retryAfterSeconds * 1000 * (1 + Math.random())); });
      }
    }
  }

  async #send(method, path, { body, signal } = {}) {
    const headers = { Authorization: `Bearer ${this.#token}` };
    if (body) headers['Content-Type'] = 'application/json';
    let response;
    try {
      response = await fetch(path, { method, headers, signal, body: body && JSON.stringify(body), cache: 'no-store', credentials: 'omit' });
    } catch {
      throw new CallError(0, 'the cloud does not answer');
    }
    if (!response.ok) throw await failure(response);
    return response;
  }
}

async function failure(response) {
  let sent = {};
  try {
    sent = await response.json();
  } catch {
    // Something between the page and the cloud answered.
  }
  return new CallError(response.status, sent.message || `the cloud answered ${response.status}`, sent.retryAfterSeconds);
}
