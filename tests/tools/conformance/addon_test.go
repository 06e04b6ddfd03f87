// Our one story among upstream's webhook stories: beside upstream's own webhooks, those of `mooring run` carry a
// scheduling policy into both templates, from where upstream's controller copies it to the pods.
package webhooks

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/lws/test/mooring"
)

const (
	nodeGroup  = "example.com/node-group"
	annotation = "leaderworkerset.sigs.k8s.io/replicaUniqueNodeSelector"
)

var _ = Describe("Mooring beside upstream's manager", func() {
	It("writes a scheduling policy into both templates, and takes it away again", func() {
		running, err := mooring.Start(testEnv, "--controllers", "lws-pod-webhook",
			"--webhook-url", mooring.FreeURL(), "--webhook-certificates", GinkgoT().TempDir())
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(running.Stop)
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "addon-"}}
		Expect(k8sClient.Create(ctx, namespace)).To(Succeed())

		var set *unstructured.Unstructured
		// Webhooks count a moment after they are registered.
		Eventually(func(g Gomega) {
			set = withPolicy(namespace.Name)
			g.Expect(k8sClient.Create(ctx, set)).To(Succeed())
			if written(set)[0] == nil {
				g.Expect(k8sClient.Delete(ctx, set)).To(Succeed())
			}
			g.Expect(written(set)).To(Equal([]any{nodeGroup, nodeGroup}))
		}, "60s", "1s").Should(Succeed())
		policy, _, _ := unstructured.NestedString(set.Object, "spec", "leaderWorkerTemplate", "schedulingPolicy", "replicaUniqueNodeSelector")
		Expect(policy).To(Equal(nodeGroup), "upstream's webhook keeps a field that it does not know")

		before := client.MergeFrom(set.DeepCopy())
		unstructured.RemoveNestedField(set.Object, "spec", "leaderWorkerTemplate", "schedulingPolicy")
		Expect(k8sClient.Patch(ctx, set, before)).To(Succeed())
		Expect(written(set)).To(Equal([]any{nil, nil}))
	})
})

func withPolicy(namespace string) *unstructured.Unstructured {
	pods := func() map[string]any {
		return map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "registry.example.com/serve:1"}}}}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "leaderworkerset.x-k8s.io/v1",
		"kind":       "LeaderWorkerSet",
		"metadata":   map[string]any{"name": "serve", "namespace": namespace},
		"spec": map[string]any{"leaderWorkerTemplate": map[string]any{
			"size":             int64(2),
			"leaderTemplate":   pods(),
			"workerTemplate":   pods(),
			"schedulingPolicy": map[string]any{"replicaUniqueNodeSelector": nodeGroup},
		}},
	}}
}

// written is the annotation in the templates of leaders and workers, nil where there is none.
func written(set *unstructured.Unstructured) []any {
	found := []any{}
	for _, name := range []string{"leaderTemplate", "workerTemplate"} {
		annotations, _, _ := unstructured.NestedMap(set.Object, "spec", "leaderWorkerTemplate", name, "metadata", "annotations")
		found = append(found, annotations[annotation])
	}
	return found
}
