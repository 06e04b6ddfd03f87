// The filter of the fleet: words that a node's name, pool, labels or workloads contain, `free>=4`, `is:cordoned`.
// It dims what does not match and removes nothing, so that the drawing stays a map.
import type { FleetNode } from '../../api/types'
import { hulls, reachable } from '../../parts/quay'

export type Matches = (node: FleetNode) => boolean

const IS: Record<string, Matches> = {
  cordoned: (node) => node.cordoned,
  notready: (node) => !node.ready,
  ready: reachable,
  gpu: (node) => node.gpu.total > 0,
  cpu: (node) => node.gpu.total === 0,
  free: (node) => reachable(node) && node.gpu.free > 0,
  full: (node) => node.gpu.total > 0 && node.gpu.free === 0,
}

function term(text: string): Matches {
  const free = /^free>=?(\d+)$/.exec(text)
  if (free) return (node) => reachable(node) && node.gpu.free >= Number(free[1])
  const is = text.startsWith('is:') ? IS[text.slice(3).replace(/-/g, '')] : undefined
  if (is) return is
  return (node) =>
    node.name.includes(text) ||
    node.pool.includes(text) ||
    (node.gpu.product ?? '').toLowerCase().includes(text) ||
    node.taints.some((taint) => taint.key.includes(text)) ||
    hulls(node.gpu.slots).some((hull) => hull.workload.name.includes(text)) ||
    Object.entries(node.labels).some(([key, value]) => `${key}=${value}`.toLowerCase().includes(text))
}

/** Undefined where nothing was typed. */
export function filterOf(text: string): Matches | undefined {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean).map(term)
  return terms.length ? (node) => terms.every((each) => each(node)) : undefined
}
