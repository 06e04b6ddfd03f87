// What was probably meant: the label value of this fleet that is nearest to the typed one.
import type { FleetNode } from '../../api/types'

export interface RowAnswer { matching: number; nearest?: { value: string; nodes: number }; knownKey: boolean }

export function answerRow(nodes: readonly FleetNode[], key: string, value: string): RowAnswer {
  const values = new Map<string, number>()
  for (const node of nodes) {
    const found = node.labels[key]
    if (found !== undefined) values.set(found, (values.get(found) ?? 0) + 1)
  }
  const matching = values.get(value) ?? 0
  if (matching || !values.size) return { matching, knownKey: values.size > 0 }
  const [best] = [...values].map(([each, count]) => ({ value: each, nodes: count, far: distance(each, value) })).sort((a, b) => a.far - b.far || b.nodes - a.nodes)
  return { matching, knownKey: true, ...(best && best.far <= Math.max(2, value.length * 0.4) ? { nearest: { value: best.value, nodes: best.nodes } } : {}) }
}

/** Edits that make one of the other, where two neighbours that changed places are one edit. */
export function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => [i, ...new Array<number>(b.length).fill(0)])
  for (let j = 1; j <= b.length; j++) rows[0]![j] = j
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, rows[i - 1]![j - 1]! + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, rows[i - 2]![j - 2]! + 1)
      rows[i]![j] = best
    }
  return rows[a.length]![b.length]!
}
