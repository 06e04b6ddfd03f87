// What happened in the pools, made ready to be drawn and told: a line of node counts for each pool, and sentences.
import type { Moment, Pool } from '../../api/types'
import { few } from '../../words'

export interface Step { at: number; nodes: number }
export interface Lane {
  key: string
  name: string
  steps: Step[]
  /** What is worth a mark on the line. */
  marks: { at: number; text: string }[]
  most: number
  now: number
  gone: boolean
}
export interface Told { key: string; time: string; pool: string; poolKey: string; kind: Moment['kind']; text: string }

export const SPANS: Record<string, number> = { '10 min': 600e3, '1 h': 3600e3, '6 h': 6 * 3600e3, '24 h': 24 * 3600e3, '7 days': 7 * 24 * 3600e3 }
// Hosts that join or leave a pool within this long are one sentence.
const TOGETHER_MS = 60_000

const keyOf = (each: { namespace: string; pool: string }): string => `${each.namespace}/${each.pool}`
const time = (each: Moment): number => new Date(each.time).getTime()

/** The shortest span that has at least half of what is known; of nothing the shortest. */
export function bestSpan(moments: readonly Moment[], now: number): string {
  const enough = Math.ceil(moments.length / 2)
  return Object.keys(SPANS).find((name) => moments.filter((each) => time(each) >= now - SPANS[name]!).length >= enough) ?? '7 days'
}

/** One lane for each pool that there is, and for each that is gone and was there in the span. */
export function lanes(pools: readonly Pool[], moments: readonly Moment[], from: number, to: number): Lane[] {
  const known = new Map<string, Moment[]>(pools.map((pool) => [`${pool.namespace}/${pool.name}`, []]))
  const there = new Set(known.keys())
  for (const each of moments) {
    if (!each.pool) continue
    const key = keyOf(each)
    if (!known.has(key)) known.set(key, [])
    known.get(key)!.push(each)
  }
  const found: Lane[] = []
  for (const [key, own] of known) {
    const gone = !there.has(key)
    if (gone && (own.length === 0 || time(own.at(-1)!) < from)) continue
    const pool = pools.find((each) => `${each.namespace}/${each.name}` === key)
    const steps = stepsOf(own, from, to, pool?.ready ?? 0)
    const marks = own.filter((each) => time(each) >= from && (each.kind === 'lost' || each.kind === 'problem')).map((each) => ({ at: time(each), text: each.text }))
    found.push({ key, name: key.slice(key.indexOf('/') + 1), steps, marks, most: Math.max(...steps.map((step) => step.nodes)), now: steps.at(-1)!.nodes, gone })
  }
  return found
}

/** How many nodes a pool had, from the beginning of the span on; a pool that was made within it begins there. */
function stepsOf(own: readonly Moment[], from: number, to: number, ready: number): Step[] {
  const first = own[0]
  if (!first) return [{ at: from, nodes: ready }, { at: to, nodes: ready }]
  const before = own.filter((each) => time(each) < from).at(-1)
  const start = before ? before.nodes : first.kind === 'joined' ? first.nodes - 1 : first.kind === 'left' ? first.nodes + 1 : first.nodes
  const steps: Step[] = before || first.kind !== 'made' ? [{ at: from, nodes: start }] : []
  for (const each of own) if (time(each) >= from && steps.at(-1)?.nodes !== each.nodes) steps.push({ at: time(each), nodes: each.nodes })
  return [...steps, { at: to, nodes: steps.at(-1)!.nodes }]
}

/** The newest first; hosts that come or go together are told together. */
export function tell(moments: readonly Moment[]): Told[] {
  const found: (Told & { hosts: string[]; last: number })[] = []
  for (const each of moments) {
    const joins = each.kind === 'joined' || each.kind === 'left'
    const last = found.findLast((other) => other.poolKey === keyOf(each))
    if (joins && last?.kind === each.kind && time(each) - last.last <= TOGETHER_MS) {
      last.hosts.push(each.host)
      last.last = time(each)
      last.text = `${few(last.hosts)} ${each.kind === 'joined' ? 'joined as nodes' : 'left, and are free again'}`
    } else found.push({ key: `${each.time} ${keyOf(each)} ${each.kind} ${each.text}`, time: each.time, pool: each.pool, poolKey: keyOf(each), kind: each.kind, text: each.text, hosts: [each.host], last: time(each) })
  }
  return found.reverse()
}

/** The line as the path of a drawing of this size, closed along its bottom. */
export function areaOf({ steps, most }: Lane, from: number, to: number, width: number, height: number): string {
  const x = (at: number) => ((Math.min(Math.max(at, from), to) - from) / (to - from)) * width
  const y = (nodes: number) => height - (nodes / Math.max(1, most)) * height
  let path = `M${x(steps[0]!.at)} ${height}`
  for (const step of steps) path += `H${x(step.at)}V${y(step.nodes)}`
  return `${path}V${height}Z`
}
