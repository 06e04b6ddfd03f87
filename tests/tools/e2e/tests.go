// Package e2e names the tests that are built, so that their module stays in go.mod.
package e2e

import _ "k8s.io/kubernetes/test/e2e"
