// Command stages answers what kwok makes of templates, queries and Stages: a question a line on stdin, an answer a line.
// tests/nodes/stages/record.py draws the questions and keeps the answers.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/apis/v1alpha1"
	"sigs.k8s.io/kwok/pkg/utils/expression"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
)

type question struct {
	Template *string          `json:"template"`
	Query    *string          `json:"query"`
	Stage    *v1alpha1.Stage  `json:"stage"`
	Stages   []v1alpha1.Stage `json:"stages"`
	Object   json.RawMessage  `json:"object"`
	Now      string           `json:"now"`
}

func main() {
	functions := gotpl.FuncMap{
		"Now":        func() string { return "2026-01-01T12:00:00Z" },
		"StartTime":  func() string { return "2026-01-01T12:00:00Z" },
		"NodeName":   func() string { return "n1" },
		"NodeIP":     func() string { return "10.0.0.1" },
		"NodeIPs":    func() []any { return []any{"10.0.0.1"} },
		"NodeIPWith": func(string) string { return "10.0.0.1" },
		"PodIPWith":  func(string, bool, string, string, string) string { return "10.244.0.9" },
	}
	renderer := gotpl.NewRenderer(functions)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		answer, err := answered(asked, renderer)
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		if err := out.Encode(answer); err != nil {
			panic(err)
		}
	}
}

func answered(asked question, renderer gotpl.Renderer) (any, error) {
	var object any
	if err := json.Unmarshal(asked.Object, &object); err != nil {
		return nil, err
	}
	switch {
	case asked.Template != nil:
		text, err := renderer.ToText(*asked.Template, object)
		return map[string]any{"text": string(text)}, err
	case asked.Query != nil:
		query, err := expression.NewQuery(*asked.Query)
		if err != nil {
			return nil, err
		}
		found, err := query.Execute(context.Background(), object)
		return map[string]any{"values": found}, err
	case asked.Stages != nil:
		return drawn(asked)
	}
	return staged(asked, renderer)
}

// The object as its API type, as kwok's controllers have it.
func typed(asked question, kind string) (any, *lifecycle.Event, error) {
	if kind == "Node" {
		node := &corev1.Node{}
		err := json.Unmarshal(asked.Object, node)
		return node, &lifecycle.Event{Labels: node.Labels, Annotations: node.Annotations, Data: node}, err
	}
	pod := &corev1.Pod{}
	err := json.Unmarshal(asked.Object, pod)
	return pod, &lifecycle.Event{Labels: pod.Labels, Annotations: pod.Annotations, Data: pod}, err
}

func compiled(given []v1alpha1.Stage) (lifecycle.Lifecycle, error) {
	stages := []*internalversion.Stage{}
	for _, each := range given {
		stage, err := internalversion.ConvertToInternalStage(&each)
		if err != nil {
			return nil, err
		}
		stages = append(stages, stage)
	}
	return lifecycle.NewLifecycle(stages)
}

// Which of several Stages may be the next.
func drawn(asked question) (any, error) {
	_, event, err := typed(asked, "Pod")
	if err != nil {
		return nil, err
	}
	stages, err := compiled(asked.Stages)
	if err != nil {
		return nil, err
	}
	found, err := stages.ListAllPossible(context.Background(), event)
	names := []string{}
	for _, each := range found {
		names = append(names, each.Name())
	}
	return map[string]any{"possible": names}, err
}

// Whether one Stage matches, between which milliseconds it is due, and what it makes of the object.
func staged(asked question, renderer gotpl.Renderer) (any, error) {
	kind := asked.Stage.Spec.ResourceRef.Kind
	object, event, err := typed(asked, kind)
	if err != nil {
		return nil, err
	}
	stages, err := compiled([]v1alpha1.Stage{*asked.Stage})
	if err != nil {
		return nil, err
	}
	stage, err := stages.Match(context.Background(), event)
	if err != nil {
		return nil, err
	}
	if stage == nil {
		return map[string]any{"matches": false}, nil
	}
	now, err := time.Parse(time.RFC3339, asked.Now)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"matches": true}
	delays, ok, err := stage.DelayRangePossible(context.Background(), event, now)
	if err != nil {
		return nil, err
	}
	if ok {
		found := []int64{}
		for _, each := range delays {
			found = append(found, each.Milliseconds())
		}
		answer["delays"] = found
	}
	after, err := changed(stage.Next(), object, asked.Object, event, renderer)
	if err != nil {
		answer["error"] = err.Error()
		return answer, nil
	}
	var made any
	if err := json.Unmarshal(after, &made); err != nil {
		return nil, err
	}
	answer["after"] = made
	answer["delete"] = stage.Next().Delete()
	return answer, nil
}

func changed(next *lifecycle.Next, object any, before []byte, event *lifecycle.Event, renderer gotpl.Renderer) ([]byte, error) {
	var finalizers []string
	switch typed := object.(type) {
	case *corev1.Pod:
		finalizers = typed.Finalizers
	case *corev1.Node:
		finalizers = typed.Finalizers
	}
	patches := []*lifecycle.Patch{}
	patch, err := next.Finalizers(finalizers)
	if err != nil {
		return nil, err
	}
	if patch != nil {
		patches = append(patches, patch)
	}
	more, err := next.Patches(object, renderer)
	if err != nil {
		return nil, err
	}
	for _, patch := range append(patches, more...) {
		switch patch.Type {
		case types.JSONPatchType:
			operations, err := jsonpatch.DecodePatch(patch.Data)
			if err != nil {
				return nil, err
			}
			before, err = operations.Apply(before)
			if err != nil {
				return nil, err
			}
		case types.MergePatchType:
			before, err = jsonpatch.MergePatch(before, patch.Data)
		case types.StrategicMergePatchType:
			before, err = strategicpatch.StrategicMergePatch(before, patch.Data, object)
		default:
			err = fmt.Errorf("a patch of type %s", patch.Type)
		}
		if err != nil {
			return nil, err
		}
		// A server would not take what is no such object.
		if err := json.Unmarshal(before, object); err != nil {
			return nil, err
		}
	}
	return before, nil
}
