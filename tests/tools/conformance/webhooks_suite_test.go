// Takes the place of upstream's suite_test.go in a copy of its module: the webhooks are those of `mooring run`, which
// registers them itself. What is here is ours; the stories stay upstream's.
package webhooks

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	leaderworkerset "sigs.k8s.io/lws/api/leaderworkerset/v1"
	"sigs.k8s.io/lws/pkg/webhooks"
	"sigs.k8s.io/lws/test/mooring"
)

var (
	cfg       *rest.Config
	k8sClient client.Client
	testEnv   *envtest.Environment
	ctx       context.Context
	cancel    context.CancelFunc
	pw        *webhooks.PodWebhook
	running   *mooring.Run
)

func TestAPIs(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Webhooks of Mooring")
}

var _ = BeforeSuite(func() {
	logf.SetLogger(zap.New(zap.WriteTo(GinkgoWriter)))
	ctx, cancel = context.WithCancel(context.Background())
	testEnv = &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		// A machine with other things to do takes longer than the ten seconds that are given by default.
		CRDInstallOptions: envtest.CRDInstallOptions{MaxTime: time.Minute},
	}
	var err error
	cfg, err = testEnv.Start()
	Expect(err).NotTo(HaveOccurred())
	Expect(leaderworkerset.AddToScheme(scheme.Scheme)).To(Succeed())
	k8sClient, err = client.New(cfg, client.Options{Scheme: scheme.Scheme})
	Expect(err).NotTo(HaveOccurred())
	// Stories about Volcano set its scheduler here; no webhook acts on it.
	pw = webhooks.NewPodWebhook(nil)
	running, err = mooring.Start(testEnv, "--controllers", "lws-webhook,lws-pod-webhook",
		"--webhook-url", mooring.FreeURL(), "--webhook-certificates", GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(g Gomega) {
		var mutating admissionv1.MutatingWebhookConfigurationList
		var validating admissionv1.ValidatingWebhookConfigurationList
		g.Expect(k8sClient.List(ctx, &mutating)).To(Succeed())
		g.Expect(k8sClient.List(ctx, &validating)).To(Succeed())
		g.Expect(mutating.Items).NotTo(BeEmpty())
		g.Expect(validating.Items).NotTo(BeEmpty())
	}, time.Minute, 100*time.Millisecond).Should(Succeed())
})

var _ = AfterSuite(func() {
	cancel()
	running.Stop()
	Expect(testEnv.Stop()).To(Succeed())
})
