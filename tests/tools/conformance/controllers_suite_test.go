// Takes the place of upstream's suite_test.go in a copy of its module: the same control plane, but instead of upstream's
// manager it starts `mooring run` beside it. What is here is ours; the stories stay upstream's.
package controllers

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	volcanov1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	leaderworkerset "sigs.k8s.io/lws/api/leaderworkerset/v1"
	"sigs.k8s.io/lws/pkg/controllers"
	"sigs.k8s.io/lws/test/mooring"
)

var (
	cfg           *rest.Config
	k8sClient     client.Client
	testEnv       *envtest.Environment
	ctx           context.Context
	cancel        context.CancelFunc
	podController *controllers.PodReconciler
	running       *mooring.Run
)

func TestControllers(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Controllers of Mooring")
}

var _ = BeforeSuite(func() {
	logf.SetLogger(zap.New(zap.WriteTo(GinkgoWriter)))
	ctx, cancel = context.WithCancel(context.Background())
	root := filepath.Join("..", "..", "..")
	testEnv = &envtest.Environment{
		CRDDirectoryPaths: []string{
			filepath.Join(root, "config", "crd", "bases"),
			filepath.Join(root, "test", "integration", "crd"),
		},
		ErrorIfCRDPathMissing: true,
		// A machine with other things to do takes longer than the ten seconds that are given by default.
		CRDInstallOptions: envtest.CRDInstallOptions{MaxTime: time.Minute},
	}
	var err error
	cfg, err = testEnv.Start()
	Expect(err).NotTo(HaveOccurred())
	Expect(leaderworkerset.AddToScheme(scheme.Scheme)).To(Succeed())
	Expect(volcanov1beta1.AddToScheme(scheme.Scheme)).To(Succeed())
	k8sClient, err = client.New(cfg, client.Options{Scheme: scheme.Scheme})
	Expect(err).NotTo(HaveOccurred())
	// Stories about Volcano set its scheduler here; nobody reconciles with it.
	podController = &controllers.PodReconciler{}
	running, err = mooring.Start(testEnv, "--controllers", "lws,lws-groups")
	Expect(err).NotTo(HaveOccurred())
})

var _ = AfterSuite(func() {
	cancel()
	running.Stop()
	Expect(testEnv.Stop()).To(Succeed())
})
