// Command operator is an operator as people write them on controller-runtime. It reconciles Berths, a custom kind without Go
// types, into Deployments through a cached client, talks protobuf for built-in kinds, holds a Lease while it leads, and
// keeps a finalizer on what it manages. The tests look at the objects it leaves behind.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	finalizer = "operator.mooring.dev/harbour-master"
	owner     = client.FieldOwner("operator")
	namespace = "operator"
)

var berthKind = schema.GroupVersionKind{Group: "operator.mooring.dev", Version: "v1", Kind: "Berth"}

func newBerth() *unstructured.Unstructured {
	berth := &unstructured.Unstructured{}
	berth.SetGroupVersionKind(berthKind)
	return berth
}

type reconciler struct {
	client.Client
}

// Reconcile makes the world look like one Berth: a Deployment of its size, a counter in a ConfigMap, its own status.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	berth := newBerth()
	if err := r.Get(ctx, request.NamespacedName, berth); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !berth.GetDeletionTimestamp().IsZero() {
		return ctrl.Result{}, r.leave(ctx, berth)
	}
	if controllerutil.AddFinalizer(berth, finalizer) {
		return ctrl.Result{}, r.Update(ctx, berth)
	}
	deployment, err := r.deploy(ctx, berth)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.count(ctx, berth); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.report(ctx, berth, deployment)
}

// leave records the departure where it outlives the Berth, then lets go of the finalizer by a patch with a lock.
func (r *reconciler) leave(ctx context.Context, berth *unstructured.Unstructured) error {
	if !controllerutil.ContainsFinalizer(berth, finalizer) {
		return nil
	}
	record := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: berth.GetNamespace(), Name: berth.GetName() + "-left"}}
	if err := r.Create(ctx, record); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	before := berth.DeepCopy()
	controllerutil.RemoveFinalizer(berth, finalizer)
	return client.IgnoreNotFound(r.Patch(ctx, berth, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// deploy goes the typed way: cached read, protobuf create, protobuf update.
func (r *reconciler) deploy(ctx context.Context, berth *unstructured.Unstructured) (*appsv1.Deployment, error) {
	size, _, err := unstructured.NestedInt64(berth.Object, "spec", "size")
	if err != nil {
		return nil, err
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: berth.GetNamespace(), Name: berth.GetName()}}
	labels := map[string]string{"berth": berth.GetName()}
	_, err = controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		deployment.Spec.Replicas = ptr.To(int32(size))
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		if len(deployment.Spec.Template.Spec.Containers) == 0 {
			deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "ship", Image: "registry.example/ship:1"}}
		}
		return controllerutil.SetControllerReference(berth, deployment, r.Scheme())
	})
	return deployment, err
}

// count goes the server-side apply way.
func (r *reconciler) count(ctx context.Context, berth *unstructured.Unstructured) error {
	book := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   map[string]any{"namespace": berth.GetNamespace(), "name": berth.GetName() + "-book"},
		"data":       map[string]any{"generation": fmt.Sprint(berth.GetGeneration())},
	}}
	return r.Apply(ctx, client.ApplyConfigurationFromUnstructured(book), owner, client.ForceOwnership)
}

// report patches the status sub-resource of the custom kind, and only when it says something new.
func (r *reconciler) report(ctx context.Context, berth *unstructured.Unstructured, deployment *appsv1.Deployment) error {
	before := berth.DeepCopy()
	for field, value := range map[string]int64{
		"observedGeneration": berth.GetGeneration(),
		"ships":              int64(deployment.Status.Replicas),
	} {
		if err := unstructured.SetNestedField(berth.Object, value, "status", field); err != nil {
			return err
		}
	}
	patch := client.MergeFrom(before)
	if changes, err := patch.Data(berth); err != nil || string(changes) == "{}" {
		return err
	}
	return r.Status().Patch(ctx, berth, patch)
}

// pods shows that an informer of a typed kind, filled through protobuf or JSON, sees every pod of a Deployment.
func (r *reconciler) pods(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(request.Namespace), client.MatchingLabels{"seen": "yes"}); err != nil {
		return ctrl.Result{}, err
	}
	var pod corev1.Pod
	if err := r.Get(ctx, request.NamespacedName, &pod); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if pod.Labels["seen"] == "yes" {
		return ctrl.Result{}, nil
	}
	patch := client.StrategicMergeFrom(pod.DeepCopy())
	pod.Labels["seen"] = "yes"
	return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, &pod, patch))
}

func run() error {
	ctrl.SetLogger(zap.New(zap.UseDevMode(true)))
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "harbour",
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
		Client:                        client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		GracefulShutdownTimeout:       ptr.To(5 * time.Second),
	})
	if err != nil {
		return err
	}
	operator := &reconciler{Client: manager.GetClient()}
	if err := ctrl.NewControllerManagedBy(manager).For(newBerth()).Owns(&appsv1.Deployment{}).Complete(operator); err != nil {
		return err
	}
	seen := ctrl.NewControllerManagedBy(manager).For(&corev1.Pod{}).Named("pods")
	if err := seen.Complete(reconcileFunc(operator.pods)); err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	if err := preflight(ctx, manager.GetAPIReader()); err != nil {
		return err
	}
	return manager.Start(ctx)
}

type reconcileFunc func(context.Context, ctrl.Request) (ctrl.Result, error)

func (f reconcileFunc) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return f(ctx, request)
}

// preflight reads without a cache, as operators do before their caches run.
func preflight(ctx context.Context, reader client.Reader) error {
	var here corev1.Namespace
	if err := reader.Get(ctx, types.NamespacedName{Name: namespace}, &here); err != nil {
		return fmt.Errorf("reading the namespace that holds the Lease: %w", err)
	}
	log.FromContext(ctx).Info("preflight done", "namespace", here.Name, "uid", here.UID)
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
