// What the placement engine says of one node, in sentences.
import type { NodeAnswer } from '../../api/types'
import { cores, count, few, memory } from '../../words'

const GPU = /gpu/i
const MOST_GROUPS = 4

/** "6 GPUs, 58 cores and 480 Gi": quantities as the scheduler counts them. */
function amounts(pod: Readonly<Record<string, string>>): string[] {
  const devices = Object.entries(pod).filter(([name]) => name.includes('/'))
  return [
    ...devices.map(([name, value]) => (GPU.test(name) ? count(Number(value), 'GPU') : `${value} ${name}`)),
    ...(pod.cpu ? [count(Number(cores(Number.parseInt(pod.cpu) / 1000).replaceAll(',', '')), 'core')] : []),
    ...(pod.memory ? [memory(Number(pod.memory))] : []),
  ]
}

export function largest({ largestPod }: NodeAnswer): string {
  const most = amounts(largestPod)
  return most.length ? `A pod of up to ${few(most, most.length)} has room.` : 'No further pod has room.'
}

export const obstacles = ({ keepsOff }: NodeAnswer): string[] =>
  keepsOff.map(({ text, toleratedBy }) => {
    const { count: some, total } = toleratedBy?.waiting ?? { count: 0, total: 0 }
    if (!total) return text
    return `${text}; ${some === 0 ? 'no pod that waits tolerates it' : some === total ? 'every pod that waits tolerates it' : `${some} of ${total} pods that wait tolerate it`}`
  })

export interface Fate { tone: 'ok' | 'work' | 'wait'; pods: string; lines: string[] }

/** What becomes of pods that wait: those that land here, those that have room and go elsewhere, those that are kept off. */
export function fates({ lands, fits, blocked }: NodeAnswer): { shown: Fate[]; more: number } {
  const found: Fate[] = []
  if (lands.length) {
    const leave = lands.flatMap((each) => each.victims)
    found.push({ tone: 'ok', pods: few(lands.map((each) => each.pod)), lines: [leave.length ? `would land here, after ${few(leave)} left` : 'would land here'] })
  }
  if (fits.length)
    found.push({ tone: 'work', pods: few(fits.map((each) => each.pod)), lines: [`${fits.length === 1 ? 'has' : 'have'} room here, and would go to ${few([...new Set(fits.map((each) => each.node))])}`] })
  for (const group of blocked) found.push({ tone: 'wait', pods: few(group.pods), lines: group.causes.map((cause) => cause.text) })
  return { shown: found.slice(0, MOST_GROUPS), more: Math.max(0, found.length - MOST_GROUPS) }
}
