// A workload keeps its colour on every page, in both themes and after a reload. There are nine; the tenth workload starts
// again at the least used, and the three-letter code beside it tells the two apart, so colour is never alone.
import type { WorkloadRef } from '../api/types'

const KEY = 'mooring.colours'
const FILLS = 9
const MOST_KEPT = 500
// So many workloads of one name with a number each; those beyond share a code.
const MOST_NUMBERED = 99

export interface Dress { fill: number; code: string }

const dressed = new Map<string, Dress>()
const used = new Array<number>(FILLS).fill(0)
const codes = new Set<string>()

function wear(key: string, dress: Dress): void {
  dressed.set(key, dress)
  used[dress.fill - 1]! += 1
  codes.add(dress.code)
}

function load(): void {
  try {
    for (const [key, dress] of JSON.parse(localStorage.getItem(KEY) ?? '[]') as [string, Dress][]) wear(key, dress)
  } catch {
    // They are chosen anew.
  }
}
load()

let saving = false
function save(): void {
  if (saving) return
  saving = true
  setTimeout(() => {
    saving = false
    try {
      localStorage.setItem(KEY, JSON.stringify([...dressed].slice(-MOST_KEPT)))
    } catch {
      // They last as long as the page then.
    }
  })
}

export function dressOf(workload: WorkloadRef): Dress {
  const key = `${workload.kind}/${workload.namespace}/${workload.name}`
  const known = dressed.get(key)
  if (known) return known
  const dress = { fill: used.indexOf(Math.min(...used)) + 1, code: codeOf(workload.name, codes) }
  wear(key, dress)
  save()
  return dress
}

/** The first three letters, or the first of each word, or two and a later one, or a number: the first that nobody has. */
export function codeOf(name: string, taken: ReadonlySet<string>): string {
  const letters = name.replace(/[^a-z0-9]/g, '')
  const initials = name.split(/[^a-z0-9]+/).filter(Boolean)
  const tries = [letters.slice(0, 3)]
  if (initials.length > 1) tries.push((initials[0]!.slice(0, 1) + initials[1]!.slice(0, 2)).slice(0, 3))
  for (let i = 3; i < letters.length; i++) tries.push(letters.slice(0, 2) + letters[i]!)
  const found = tries.find((code) => code.length === 3 && !taken.has(code))
  for (let n = 2; !found; n++) {
    const numbered = `${letters.slice(0, 3 - String(n).length)}${n}`
    if (n === MOST_NUMBERED || !taken.has(numbered)) return numbered
  }
  return found
}

export const fillOf = (workload: WorkloadRef): string => `var(--w${dressOf(workload).fill})`
