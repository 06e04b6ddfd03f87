// The answer of the placement engine in one title and one sentence.
import type { Fit } from '../../api/types'
import type { IconName } from '../../parts/icon'
import { brief, count, few, sentence } from '../../words'

export interface FitVerdict { icon: IconName; tone: string; title: string; text: string }

const REFUSED = 'it would be refused: '

/** Whether the API server itself would not take it; what waits is taken, and a pod of it waits. */
export const isRefused = (fit: Fit): boolean => fit.message.startsWith(REFUSED)

export function verdictWords(fit: Fit): FitVerdict {
  const { wanted, land } = fit.pods
  if (fit.verdict === 'lands') {
    const where = few([...new Set(fit.placements.map((each) => each.node))])
    return { icon: 'ok', tone: 'ok', title: `${wanted === 1 ? 'It lands' : `All ${wanted} pods land`}: ${where}`, text: room(fit) }
  }
  if (fit.verdict === 'may') return { icon: 'unknown', tone: 'off', title: 'It may land', text: sentence(fit.message) }
  if (isRefused(fit)) return { icon: 'bad', tone: 'bad', title: 'It would be refused', text: sentence(fit.message.slice(REFUSED.length)) }
  return { icon: 'wait', tone: 'wait', title: land ? `${land} of ${wanted} pods land` : 'It would wait', text: sentence(brief(fit.message)) }
}

function room({ matching, ready, fits, message }: Fit): string {
  const preempted = /; (\d+ running pods would be preempted)/.exec(message)?.[1]
  const nodes = `${count(matching, 'node')} ${matching === 1 ? 'matches' : 'match'}, ${ready} ${ready === 1 ? 'is' : 'are'} ready, ${fits} ${fits === 1 ? 'has' : 'have'} room for a pod.`
  return preempted ? `${sentence(preempted)} ${nodes}` : nodes
}
