// The drawing: a node is a quay, a GPU a berth, a pod the hull that lies across its berths. Kubernetes counts GPUs and does
// not number them, so berths are filled from the left.
import type { FleetNode, Slot, WorkloadRef } from '../api/types'
import { dressOf } from '../state/colours'
import { count } from '../words'

export interface Hull { pod: string; namespace: string; workload: WorkloadRef; gpus: number }

// A node that changes is another object; all others are drawn again with what is known of them.
const known = new WeakMap<readonly Slot[], Hull[]>()

/** The pods on a node, each with how many berths it takes, in their order. */
export function hulls(slots: readonly Slot[]): readonly Hull[] {
  let found = known.get(slots)
  if (!found) known.set(slots, (found = layOut(slots)))
  return found
}

function layOut(slots: readonly Slot[]): Hull[] {
  const found: Hull[] = []
  for (const slot of slots) {
    if (!slot.pod) continue
    const last = found.at(-1)
    if (last && last.pod === slot.pod && last.namespace === slot.namespace) last.gpus += 1
    else {
      const namespace = slot.namespace ?? ''
      found.push({ pod: slot.pod, namespace, gpus: 1, workload: slot.workload ?? { kind: 'Pod', namespace, name: slot.pod } })
    }
  }
  return found
}

export const sameWorkload = (a: WorkloadRef, b: WorkloadRef): boolean =>
  a.kind === b.kind && a.namespace === b.namespace && a.name === b.name

// What a hull has room for depends on its share of the quay.
function label(hull: Hull, total: number): string {
  const { code } = dressOf(hull.workload)
  const share = hull.gpus / total
  return share > 0.4 ? hull.workload.name : share > 0.2 ? code : total > 8 ? '' : code.slice(0, 2)
}

export interface Ghost { name: string; gpus: number }

export function Quay({ node, lit, ghosts = [] }: { node: FleetNode; lit?: WorkloadRef | undefined; ghosts?: readonly Ghost[] }) {
  const { total, free, slots } = node.gpu
  let left = free
  const planned = ghosts.map((ghost) => {
    const gpus = Math.min(ghost.gpus, left)
    left -= gpus
    return { ...ghost, gpus }
  })
  return (
    <span class="quay" style={{ gridTemplateColumns: `repeat(${total}, 1fr)` }}>
      {hulls(slots).map((hull) => (
        <span
          class={`hull fadeable${lit && !sameWorkload(lit, hull.workload) ? ' dim' : ''}`}
          style={{ gridColumn: `span ${hull.gpus}`, backgroundColor: `var(--w${dressOf(hull.workload).fill})` }}
          title={`${hull.namespace}/${hull.pod}, ${count(hull.gpus, 'GPU')}`}
        >
          {label(hull, total)}
        </span>
      ))}
      {planned.map((ghost) => (
        <span class="ghost" style={{ gridColumn: `span ${ghost.gpus}` }} title={`${ghost.name} would land here`}>
          <span>{ghost.gpus / total > 0.2 ? ghost.name : ''}</span>
        </span>
      ))}
      {Array.from({ length: left }, () => (
        <span class="berth" />
      ))}
    </span>
  )
}

/** What the drawing of a node says, for those who cannot see it. */
export function details(node: FleetNode): string {
  const gpus = node.gpu.total ? `${node.gpu.free} of ${node.gpu.total} GPUs free` : 'no GPUs'
  return [gpus, ...hulls(node.gpu.slots).map((hull) => `${hull.workload.name} ${hull.gpus}`)].join(', ')
}

/** A node in one line. */
export const spoken = (node: FleetNode): string => `${node.name}, ${!node.ready ? 'not ready' : node.cordoned ? 'cordoned' : 'ready'}, ${details(node)}`

export const reachable = (node: FleetNode): boolean => node.ready && !node.cordoned

const percent = (amount: { total: number; free: number }): string =>
  `${amount.total ? Math.round(((amount.total - amount.free) / amount.total) * 100) : 0}%`

export function Meters({ node }: { node: FleetNode }) {
  return (
    <span class="meters">
      <span class="meter">
        CPU
        <i style={{ '--v': percent(node.cpu) }} />
      </span>
      <span class="meter">
        Mem
        <i style={{ '--v': percent(node.memory) }} />
      </span>
    </span>
  )
}
