// Writes the revisions that upstream's controller makes of LeaderWorkerSets: a JSON object of sets by name comes in,
// and for each the bytes of its revision and the word that stands for them go out.
//
// It is no part of our build: it is run inside a copy of upstream's module.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	leaderworkerset "sigs.k8s.io/lws/api/leaderworkerset/v1"
	"sigs.k8s.io/lws/pkg/utils/revision"
)

type recorded struct {
	Data string `json:"data"`
	Word string `json:"word"`
}

func main() {
	var sets map[string]*leaderworkerset.LeaderWorkerSet
	if err := json.NewDecoder(os.Stdin).Decode(&sets); err != nil {
		log.Fatal(err)
	}
	if err := leaderworkerset.AddToScheme(scheme.Scheme); err != nil {
		log.Fatal(err)
	}
	found := map[string]recorded{}
	for name, set := range sets {
		client := fake.NewClientBuilder().WithScheme(scheme.Scheme).Build()
		made, err := revision.NewRevision(context.Background(), client, set, "")
		if err != nil {
			log.Fatal(err)
		}
		found[name] = recorded{string(made.Data.Raw), revision.GetRevisionKey(made)}
	}
	writer := json.NewEncoder(os.Stdout)
	writer.SetIndent("", " ")
	writer.SetEscapeHTML(false)
	if err := writer.Encode(found); err != nil {
		log.Fatal(err)
	}
}
