// Package mooring starts `mooring run` beside the control plane of a suite. It is copied into a copy of upstream's
// module; MOORING names the command, and MOORING_LOG a file for what it says.
package mooring

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	startSeconds = 60
	stopSeconds  = 20
)

// Run is a running `mooring run`.
type Run struct {
	command *exec.Cmd
	folder  string
}

// Start begins a run with these arguments, and comes back when it is ready.
func Start(plane *envtest.Environment, arguments ...string) (*Run, error) {
	folder, err := os.MkdirTemp("", "mooring")
	if err != nil {
		return nil, err
	}
	user, err := plane.AddUser(envtest.User{Name: "mooring", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return nil, err
	}
	access, err := user.KubeConfig()
	if err != nil {
		return nil, err
	}
	kubeconfig := folder + "/kubeconfig"
	if err := os.WriteFile(kubeconfig, access, 0o600); err != nil {
		return nil, err
	}
	health := freeAddress()
	words := append(strings.Fields(os.Getenv("MOORING")), "run", "--kubeconfig", kubeconfig, "--no-leader-elect", "--health", health)
	command := exec.Command(words[0], append(words[1:], arguments...)...)
	output, err := os.OpenFile(os.Getenv("MOORING_LOG"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		return nil, err
	}
	running := &Run{command, folder}
	for end := time.Now().Add(startSeconds * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		answer, err := http.Get("http://" + health + "/readyz")
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return running, nil
			}
		}
	}
	running.Stop()
	return nil, fmt.Errorf("mooring run was not ready within %d s; see %s", startSeconds, os.Getenv("MOORING_LOG"))
}

// Stop ends the run, gently at first.
func (running *Run) Stop() {
	if running == nil {
		return
	}
	_ = running.command.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(stopSeconds*time.Second, func() { _ = running.command.Process.Kill() })
	_ = running.command.Wait()
	timer.Stop()
	_ = os.RemoveAll(running.folder)
}

// FreeURL is an address that nobody listens on.
func FreeURL() string {
	return "https://" + freeAddress()
}

func freeAddress() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}
