// What the fleet comes to, in numbers and in one sentence.
import type { FleetNode, WorkloadRef } from '../../api/types'
import { hulls, reachable } from '../../parts/quay'
import { count, few, number } from '../../words'

export interface Holder { workload: WorkloadRef; gpus: number }
export interface Summary {
  nodes: number
  total: number
  free: number
  /** Free, but on nodes that are cordoned or not ready. */
  outOfReach: number
  largest: { gpus: number; node: string } | undefined
  holders: Holder[]
  cordoned: string[]
  notReady: string[]
  /** How many pods of 1, 2, 4 and 8 GPUs fit now. */
  fits: { gpus: number; pods: number }[]
}

const SIZES = [1, 2, 4, 8]
const MOST_NAMED = 30

export function summarise(nodes: readonly FleetNode[]): Summary {
  const holders = new Map<string, Holder>()
  const fits = SIZES.map((gpus) => ({ gpus, pods: 0 }))
  const sum: Summary = { nodes: nodes.length, total: 0, free: 0, outOfReach: 0, largest: undefined, holders: [], cordoned: [], notReady: [], fits }
  for (const node of nodes) {
    const { total, free, slots } = node.gpu
    if (!node.ready) sum.notReady.push(node.name)
    else if (node.cordoned) sum.cordoned.push(node.name)
    sum.total += total
    for (const hull of hulls(slots)) {
      const key = `${hull.workload.kind}/${hull.workload.namespace}/${hull.workload.name}`
      const known = holders.get(key)
      if (known) known.gpus += hull.gpus
      else holders.set(key, { workload: hull.workload, gpus: hull.gpus })
    }
    if (!reachable(node)) {
      sum.outOfReach += free
      continue
    }
    sum.free += free
    if (free > (sum.largest?.gpus ?? 0)) sum.largest = { gpus: free, node: node.name }
    for (const fit of fits) fit.pods += Math.floor(free / fit.gpus)
  }
  sum.holders = [...holders.values()]
  return sum
}

/** The holders that are named one by one, and what the others come to: a legend of thousands is none. */
export function named(holders: readonly Holder[]): { shown: readonly Holder[]; others: number; gpus: number } {
  if (holders.length <= MOST_NAMED) return { shown: holders, others: 0, gpus: 0 }
  const sorted = holders.toSorted((a, b) => b.gpus - a.gpus)
  const rest = sorted.slice(MOST_NAMED)
  return { shown: sorted.slice(0, MOST_NAMED), others: rest.length, gpus: rest.reduce((sum, each) => sum + each.gpus, 0) }
}

/** Why some free GPUs are of no use now: "two nodes are cordoned and one is not ready". */
export function outOfReach(sum: Summary): string {
  const parts: string[] = []
  if (sum.cordoned.length) parts.push(`${few(sum.cordoned)} ${sum.cordoned.length === 1 ? 'is' : 'are'} cordoned`)
  if (sum.notReady.length) parts.push(`${few(sum.notReady)} ${sum.notReady.length === 1 ? 'is' : 'are'} not ready`)
  return parts.join(' and ')
}

export function lead(sum: Summary): { strong: string; rest: string } {
  if (sum.nodes === 0) return { strong: 'This cluster has no nodes yet.', rest: '' }
  if (sum.total === 0)
    return { strong: `${count(sum.nodes, 'node')}, no GPUs.`, rest: ' Models that run on CPU can be deployed; those that need a GPU would wait.' }
  const largest = sum.largest ? `, at most ${sum.largest.gpus} on one node (${sum.largest.node}).` : '.'
  const hidden = sum.outOfReach ? ` Another ${sum.outOfReach === 1 ? 'one is' : `${number(sum.outOfReach)} are`} free but out of reach: ${outOfReach(sum)}.` : ''
  return { strong: `${number(sum.free)} of ${count(sum.total, 'GPU')} are free`, rest: largest + hidden }
}
