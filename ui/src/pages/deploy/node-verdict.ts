// What the placement engine says of one node, in a sentence and its reasons.
import type { Fit } from '../../api/types'
import type { IconName } from '../../parts/icon'
import { count, few } from '../../words'

export interface NodeVerdict { icon: IconName; tone: string; title: string; reasons: string[] }

export function verdictOf(name: string, fit: Fit): NodeVerdict {
  const answer = fit.nodes.find((node) => node.name === name)
  const here = fit.placements.filter((each) => each.node === name).length
  if (here) return { icon: 'ok', tone: 'ok', title: `${here === 1 ? 'A pod lands' : `${count(here, 'pod')} land`} on ${name}`, reasons: [] }
  if (!answer) return { icon: 'unknown', tone: 'off', title: `Nothing is known of ${name} yet`, reasons: [] }
  if (answer.fits) {
    const others = few([...new Set(fit.placements.map((each) => each.node))])
    return { icon: 'ok', tone: 'ok', title: `A pod would fit on ${name}`, reasons: others ? [`The scheduler scores ${others} at least as high.`] : [] }
  }
  const reasons = answer.reason.split('; ').filter(Boolean)
  return { icon: 'cordon', tone: 'wait', title: `${name} takes no pod of it`, reasons: reasons.length ? reasons : [answer.matches ? 'it is not ready' : 'it has not the labels'] }
}
