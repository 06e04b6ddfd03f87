// What the page knows of the cluster, live: one stream, one collection per topic, at most one redraw a frame.
import { batch, computed } from '@preact/signals'
import { follow, type Change } from '../api/stream'
import type { ClusterEvent, FleetNode, Host, Installation, NotebookJob, Pool, Workload } from '../api/types'
import { Collection } from './collection'

const named = (object: { kind?: string; namespace?: string; name: string }) =>
  `${object.kind ?? ''}/${object.namespace ?? ''}/${object.name}`

export const nodes = new Collection<FleetNode>('nodes', (node) => node.name)
export const workloads = new Collection<Workload>('workloads', named)
export const pools = new Collection<Pool>('pools', named)
export const hosts = new Collection<Host>('hosts', named)
export const notebooks = new Collection<NotebookJob>('notebooks', named)
export const installations = new Collection<Installation>('installation', (each) => each.name)
export const events = new Collection<ClusterEvent>('events', (event) => event.id)

const collections = new Map<string, Collection<never>>(
  [nodes, workloads, pools, hosts, notebooks, installations, events].map((each) => [each.topic, each as unknown as Collection<never>]),
)

export const waiting = computed(() => workloads.all.value.filter((each) => each.state === 'Pending'))

let pending: Change[] = []

/** Apply what has come since the last frame. */
function draw(): void {
  const changes = pending
  pending = []
  const touched = new Set<Collection<never>>()
  batch(() => {
    for (const change of changes) {
      const collection = collections.get(change.topic)
      if (!collection) continue
      collection.take(change)
      touched.add(collection)
    }
    for (const each of touched) each.publish()
  })
}

export function take(changes: Change[]): void {
  // A hidden tab has no frames; it catches up when it is looked at, and holds little until then.
  if (pending.length === 0) (document.hidden ? setTimeout : requestAnimationFrame)(draw)
  pending.push(...changes)
}

export function live(ended: AbortSignal): void {
  void follow([...collections.keys()], take, ended)
}
