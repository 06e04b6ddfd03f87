// What fits on the node that is open, why pods that wait do not go there, and the change that cordons it.
import { get } from '../../api/client'
import type { FleetNode, NodeAnswer } from '../../api/types'
import { useAnswer } from '../../parts/asked'
import { Icon } from '../../parts/icon'
import { count } from '../../words'
import { CordonButton } from './cordon-button'
import { fates, largest, obstacles } from './room'

// Pods come and go in bursts; the engine is asked once after each.
const SETTLED_MS = 300
const ICONS = { ok: 'ok', work: 'work', wait: 'wait' } as const

export function WhatFits({ node }: { node: FleetNode }) {
  const asked = useAnswer((signal) => get<NodeAnswer>(`/nodes/${encodeURIComponent(node.name)}`, signal), [node.name, node.ready, node.cordoned, node.pods, node.gpu.free], SETTLED_MS)
  // The answer about the node that was open before is of no use.
  const answer = asked.value?.node === node.name ? asked.value : undefined
  return (
    <section class="here" aria-label="What fits here" aria-busy={asked.pending}>
      <h3>What fits here</h3>
      {answer ? (
        <Told answer={answer} />
      ) : asked.error ? (
        <p class="said c-bad" role="alert">
          <Icon name="bad" />
          {(asked.error as Error).message}
        </p>
      ) : (
        <p class="small muted">Asking the placement engine</p>
      )}
      {answer && answer.cordoned === node.cordoned && <CordonButton key={`${node.name} ${node.cordoned}`} change={answer.cordon} cordoned={node.cordoned} done={asked.again} />}
    </section>
  )
}

function Told({ answer }: { answer: NodeAnswer }) {
  const { shown, more } = fates(answer)
  const kept = obstacles(answer)
  return (
    <>
      <p class="small">{largest(answer)}</p>
      {kept.length > 0 && (
        <ul class="small soft" aria-label="What keeps pods off">
          {kept.map((text) => (
            <li>{text}</li>
          ))}
        </ul>
      )}
      {shown.length > 0 && (
        <ul class="fates" aria-label="Pods that wait">
          {shown.map(({ tone, pods, lines }) => (
            <li>
              <Icon name={ICONS[tone]} tone={tone} />
              <div>
                <b class="med">{pods}</b>
                {lines.map((line) => (
                  <div class="soft">{line}</div>
                ))}
              </div>
            </li>
          ))}
        </ul>
      )}
      {more > 0 && <p class="small muted">and {count(more, 'more group')} of pods that wait</p>}
      {answer.notes.map((note) => (
        <p class="small muted">{note}</p>
      ))}
    </>
  )
}
