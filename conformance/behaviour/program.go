// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// stopTime is how long a program and its children may take to stop.
const stopTime = 10 * time.Second

// logTail is how much of a program's log an error shows.
const logTail = 4000

// process is a running program.
type process struct {
	name string
	log  string
	// arguments are its command as it was started, in a folder and with an environment.
	arguments   []string
	folder      string
	environment []string
	// kinds are those that its components define.
	kinds []schema.GroupKind
	// variables are what its command may contain.
	variables map[string]string
	grace     time.Duration
	cancel    context.CancelFunc
	// exited is closed when it ended.
	exited chan struct{}
}

// certificate is what all programs serve with, in a folder with files named as controller-runtime
// wants them.
type certificate struct {
	folder string
	ca     []byte
}

func newCertificate(folder string) (*certificate, error) {
	chain, key, err := cert.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	return &certificate{folder: folder, ca: chain}, errors.Join(
		os.WriteFile(filepath.Join(folder, "tls.crt"), chain, 0o600),
		os.WriteFile(filepath.Join(folder, "tls.key"), key, 0o600),
	)
}

// launcher starts programs and stops them in reverse.
type launcher struct {
	config      *Config
	environment *Environment
	// folder is for the files of this run.
	folder      string
	certificate *certificate
	processes   []*process
	// kinds has what the components of each program define, by the program's name.
	kinds map[string][]schema.GroupKind
	// grace is how long a program may take to stop; stopTime by default.
	grace time.Duration
}

// start installs the components of a program, starts it, and waits until it is ready.
func (l *launcher) start(ctx context.Context, program Program) error {
	variables, err := l.prepare(ctx, program)
	if err != nil {
		return fmt.Errorf("program %s: %w", program.Name, err)
	}
	p, err := l.run(program, variables)
	if err != nil {
		return fmt.Errorf("program %s: %w", program.Name, err)
	}
	l.processes = append(l.processes, p)
	if program.Ready == "" {
		return nil
	}
	return p.untilReady(ctx, expand(program.Ready, variables))
}

// prepare returns the variables of a program.
func (l *launcher) prepare(ctx context.Context, program Program) (map[string]string, error) {
	ports, err := freePorts(ctx, 3)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(l.folder, program.Name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	variables := map[string]string{
		"DIR": l.folder, "CERT_DIR": l.certificate.folder, "CERT_NAME": "tls.crt", "KEY_NAME": "tls.key", "CA_FILE": filepath.Join(l.certificate.folder, "tls.crt"),
		"WEBHOOK_PORT": ports[0], "HEALTH_ADDRESS": "127.0.0.1:" + ports[1], "DIAGNOSTICS_ADDRESS": "127.0.0.1:" + ports[2],
		"KUBECONFIG": filepath.Join(folder, "kubeconfig"), "KUBERNETES_VERSION": l.config.KubernetesVersion,
	}
	user := ""
	if len(program.Components) > 0 {
		var paths []string
		for _, path := range program.Components {
			paths = append(paths, l.config.resolve(path))
		}
		objects, err := readManifests(paths)
		if err != nil {
			return nil, err
		}
		l.kinds[program.Name] = definedKinds(objects)
		for _, object := range objects {
			redirect(object, "https://127.0.0.1:"+ports[0], l.certificate.ca)
		}
		if err := errors.Join(aggregate(objects), l.environment.install(ctx, objects)); err != nil {
			return nil, err
		}
		if user, err = serviceAccount(objects, program.ServiceAccount); err != nil {
			return nil, err
		}
	}
	return variables, l.writeKubeconfig(variables["KUBECONFIG"], user)
}

// writeKubeconfig writes a kubeconfig for a user; for an administrator if the name is empty.
func (l *launcher) writeKubeconfig(path, user string) error {
	identity := envtest.User{Name: "conformance", Groups: []string{"system:masters"}}
	if user != "" {
		identity = envtest.User{Name: user, Groups: groupsOf(user)}
	}
	account, err := l.environment.server.AddUser(identity, nil)
	if err != nil {
		return err
	}
	content, err := account.KubeConfig()
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// groupsOf returns the groups of a ServiceAccount, by its user name.
func groupsOf(user string) []string {
	namespace, _, _ := strings.Cut(strings.TrimPrefix(user, "system:serviceaccount:"), ":")
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
}

func (l *launcher) run(program Program, variables map[string]string) (*process, error) {
	log := filepath.Join(l.folder, program.Name+".log")
	output, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = output.Close() }() // the program has its own copy
	var arguments []string
	for _, argument := range program.Command {
		arguments = append(arguments, expand(argument, variables))
	}
	if strings.ContainsRune(arguments[0], filepath.Separator) {
		arguments[0] = l.config.resolve(arguments[0])
	}
	environment := os.Environ()
	for name, value := range program.Environment {
		environment = append(environment, name+"="+expand(value, variables))
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{
		name: program.Name, log: log, arguments: arguments, folder: l.config.folder, environment: environment,
		kinds: l.kinds[program.Name], variables: variables, grace: cmp.Or(l.grace, stopTime), cancel: cancel, exited: make(chan struct{}),
	}
	command := p.command(ctx)
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		_ = command.Wait() // the log says why it ended
		p.endChildren(command)
		close(p.exited)
	}()
	return p, nil
}

// command returns the program's command with more arguments. It ends with the context.
func (p *process) command(ctx context.Context, more ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, p.arguments[0], slices.Concat(p.arguments[1:], more)...)
	command.Dir, command.Env = p.folder, p.environment
	// A program such as "go run" has children, which must not outlive it.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.WaitDelay = p.grace
	return command
}

// endChildren ends what is left of the process group of a command that has ended.
func (p *process) endChildren(command *exec.Cmd) {
	group := -command.Process.Pid
	signal := syscall.SIGTERM
	for deadline := time.Now().Add(p.grace); syscall.Kill(group, signal) == nil; signal = 0 {
		if time.Now().After(deadline) {
			_ = syscall.Kill(group, syscall.SIGKILL) // it may have ended just now
			return
		}
		pause(context.Background(), pollInterval)
	}
}

// stop stops all programs, the last one first.
func (l *launcher) stop() {
	for i := len(l.processes) - 1; i >= 0; i-- {
		l.processes[i].cancel()
		<-l.processes[i].exited
	}
}

// check returns an error if a program has ended.
func (l *launcher) check() error {
	for _, p := range l.processes {
		if err := p.check(); err != nil {
			return err
		}
	}
	return nil
}

func (p *process) check() error {
	select {
	case <-p.exited:
		return fmt.Errorf("program %s ended; the end of its log:\n%s", p.name, p.tail())
	default:
		return nil
	}
}

func (p *process) tail() string {
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(content[max(0, len(content)-logTail):])
}

func (p *process) untilReady(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		err := healthy(ctx, url)
		if err == nil {
			return nil
		}
		if ended := p.check(); ended != nil {
			return ended
		}
		if !pause(ctx, 100*time.Millisecond) {
			return fmt.Errorf("program %s: %s is not ready: %w; the end of its log:\n%s", p.name, url, err, p.tail())
		}
	}
}

func healthy(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// pause waits, and returns false if the context ended first.
func pause(ctx context.Context, duration time.Duration) bool {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// expand replaces $(NAME) by the variable.
func expand(text string, variables map[string]string) string {
	for name, value := range variables {
		text = strings.ReplaceAll(text, "$("+name+")", value)
	}
	return text
}

// freePorts returns ports of this machine that nothing listens on.
func freePorts(ctx context.Context, count int) ([]string, error) {
	var ports []string
	for range count {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = listener.Close() }() // all at once, so that they differ
		if address, ok := listener.Addr().(*net.TCPAddr); ok {
			ports = append(ports, strconv.Itoa(address.Port))
		}
	}
	return ports, nil
}
