// Nodes by pool, zone or GPU, with what all nodes of a group share said once.
import type { FleetNode, Taint } from '../../api/types'
import { reachable } from '../../parts/quay'

export type GroupBy = 'pool' | 'zone' | 'gpu'
export interface Group {
  name: string
  nodes: FleetNode[]
  product: string
  taints: Taint[]
  total: number
  free: number
  largest: number
}

// Numbers in names count as numbers. A thousand names are sorted at every change, so what they sort by is kept.
const sortedBy = new Map<string, string>()
function orderOf(name: string): string {
  let order = sortedBy.get(name)
  if (order === undefined) sortedBy.set(name, (order = name.replace(/\d+/g, (digits) => digits.padStart(12, '0'))))
  return order
}
const byName = (a: { name: string }, b: { name: string }): number => {
  const [one, other] = [orderOf(a.name), orderOf(b.name)]
  return one < other ? -1 : one > other ? 1 : 0
}

const keyOf: Record<GroupBy, (node: FleetNode) => string> = {
  pool: (node) => node.pool || 'no pool',
  zone: (node) => node.zone || 'no zone',
  gpu: (node) => node.gpu.product || (node.gpu.total ? 'GPU of unknown kind' : 'no GPU'),
}

const taintKey = (taint: Taint) => `${taint.key}=${taint.value ?? ''}:${taint.effect}`
// They say what the tile shows already.
const SHOWN_OTHERWISE = /^node\.kubernetes\.io\/(not-ready|unreachable|unschedulable)$/

export function groups(nodes: readonly FleetNode[], by: GroupBy): Group[] {
  const found = new Map<string, FleetNode[]>()
  for (const node of nodes) {
    const key = keyOf[by](node)
    const known = found.get(key)
    if (known) known.push(node)
    else found.set(key, [node])
  }
  return [...found].map(([name, members]) => group(name, members)).sort(first)
}

/** Large groups with GPUs, then the small ones, which share rows, then large ones without. */
const rank = (group: Group): number => (group.nodes.length <= 2 ? 1 : group.total > 0 ? 0 : 2)
const first = (a: Group, b: Group): number => rank(a) - rank(b) || Number(b.total > 0) - Number(a.total > 0) || byName(a, b)

function group(name: string, nodes: FleetNode[]): Group {
  nodes.sort(byName)
  const products = new Set(nodes.map((node) => node.gpu.product ?? ''))
  const shared = (nodes[0]?.taints ?? []).filter(
    (taint) => !SHOWN_OTHERWISE.test(taint.key) && nodes.every((node) => node.taints.some((other) => taintKey(other) === taintKey(taint))),
  )
  const open = nodes.filter(reachable)
  return {
    name,
    nodes,
    product: products.size === 1 ? [...products][0]!.replaceAll('-', ' ') : '',
    taints: shared,
    total: nodes.reduce((sum, node) => sum + node.gpu.total, 0),
    free: open.reduce((sum, node) => sum + node.gpu.free, 0),
    largest: Math.max(0, ...open.map((node) => node.gpu.free)),
  }
}

export const taintText = (taint: Taint): string => `${taint.key}${taint.value ? `=${taint.value}` : ''}:${taint.effect}`
