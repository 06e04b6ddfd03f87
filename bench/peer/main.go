// Command peer measures how many pods per second the real scheduler framework places, in process and without an API
// server, on the same kinds of pods and nodes that bench/placement.py uses.
//
//	peer NODES basic|service|anti-affinity|zone-spread
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

const (
	limit   = 3 * time.Second
	maxPods = 5000
	warmUp  = 5
)

// silent drops the events that nobody reads here.
type silent struct{}

func (silent) Eventf(_, _ runtime.Object, _, _, _, _ string, _ ...interface{}) {}
func (s silent) WithLogger(klog.Logger) events.EventRecorderLogger             { return s }

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: peer NODES basic|service|anti-affinity|zone-spread")
		os.Exit(2)
	}
	nodes, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "NODES must be a number:", err)
		os.Exit(2)
	}
	klog.SetLogger(klog.Logger{})
	speed, err := measure(nodes, os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	json.NewEncoder(os.Stdout).Encode(map[string]float64{"podsPerSecond": speed})
}

func measure(nodes int, load string) (float64, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client := fake.NewSimpleClientset()
	informers := scheduler.NewInformerFactory(client, 0)
	everyNode := int32(100)
	recorders := profile.RecorderFactory(func(string) events.EventRecorder { return silent{} })
	sched, err := scheduler.New(ctx, client, informers, nil, recorders, scheduler.WithPercentageOfNodesToScore(&everyNode))
	if err != nil {
		return 0, err
	}
	if load == "service" {
		meta := metav1.ObjectMeta{Name: "s", Namespace: "default"}
		service := &v1.Service{ObjectMeta: meta, Spec: v1.ServiceSpec{Selector: map[string]string{"app": load}}}
		if err := informers.Core().V1().Services().Informer().GetIndexer().Add(service); err != nil {
			return 0, err
		}
	}
	logger := klog.FromContext(ctx)
	for i := range nodes {
		sched.Cache.AddNode(logger, node(i))
	}
	place := func(i int) error {
		pod := pod(load, i)
		result, err := sched.SchedulePod(ctx, sched.Profiles["default-scheduler"], framework.NewCycleState(), pod)
		if err != nil {
			return err
		}
		pod.Spec.NodeName = result.SuggestedHost
		return sched.Cache.AssumePod(logger, pod)
	}
	for i := range warmUp {
		if err := place(i); err != nil {
			return 0, err
		}
	}
	// Anti-affinity by host runs out of nodes.
	count := min(maxPods, nodes*9/10-warmUp)
	started, done := time.Now(), 0
	for ; done < count && time.Since(started) < limit; done++ {
		if err := place(warmUp + done); err != nil {
			return 0, err
		}
	}
	return float64(done) / time.Since(started).Seconds(), nil
}

func node(i int) *v1.Node {
	name := fmt.Sprintf("n%d", i)
	labels := map[string]string{
		"kubernetes.io/hostname":      name,
		"topology.kubernetes.io/zone": fmt.Sprintf("z%d", i%3),
		"pool":                        fmt.Sprintf("p%d", i%10),
	}
	allocatable := v1.ResourceList{
		"cpu":               resource.MustParse("32"),
		"memory":            resource.MustParse("128Gi"),
		"pods":              resource.MustParse("110"),
		"ephemeral-storage": resource.MustParse("100Gi"),
	}
	meta := metav1.ObjectMeta{Name: name, Labels: labels}
	return &v1.Node{ObjectMeta: meta, Status: v1.NodeStatus{Allocatable: allocatable, Capacity: allocatable}}
}

func pod(load string, i int) *v1.Pod {
	name := fmt.Sprintf("%s-%d", load, i)
	requests := v1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("1Gi")}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": load}}
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "default", UID: types.UID(name), Labels: map[string]string{"app": load},
		},
		Spec: v1.PodSpec{
			SchedulerName: "default-scheduler",
			Containers: []v1.Container{{
				Name: "c", Image: "reg/web:v1", Resources: v1.ResourceRequirements{Requests: requests},
			}},
		},
	}
	switch load {
	case "anti-affinity":
		term := v1.PodAffinityTerm{TopologyKey: "kubernetes.io/hostname", LabelSelector: selector}
		pod.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term},
		}}
	case "zone-spread":
		pod.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: "topology.kubernetes.io/zone", WhenUnsatisfiable: v1.DoNotSchedule,
			LabelSelector: selector,
		}}
	}
	return pod
}
