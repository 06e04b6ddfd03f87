// What the autoscaler wrote down about its decisions, in its own words.
import { useState } from 'preact/hooks'
import type { Autoscaler } from '../../api/types'
import { Panel } from '../../parts/panel'
import { clock } from '../../words'

// The rest is one press away.
const FIRST = 10

/** The autoscaler says what it does in words; the mark beside them says which way it goes. */
const markOf = (text: string): [string, string] => (/scale.?down|remov|unneeded|lowering/i.test(text) ? ['↓', 'dn'] : /scale.?up|grow|rais|resize/i.test(text) ? ['↑', 'up'] : ['=', 'eq'])

export function Decisions({ autoscaler, error }: { autoscaler: Autoscaler | undefined; error: unknown }) {
  const [all, showAll] = useState(false)
  const decisions = [...(autoscaler?.decisions ?? [])].reverse()
  return (
    <Panel title="Autoscaler log" side={<span class="end small muted">newest first</span>}>
      {error && !autoscaler ? <p class="none small c-wait">{(error as Error).message}</p> : null}
      {autoscaler?.notes.map((note) => (
        <p class="none small c-wait">{note}</p>
      ))}
      {autoscaler && decisions.length === 0 && <p class="none small muted">The autoscaler has written nothing yet.</p>}
      <ol class="dec">
        {(all ? decisions : decisions.slice(0, FIRST)).map((decision) => {
          const [mark, tone] = markOf(decision.text)
          return (
            <li>
              <span class={`mk ${tone}`} aria-hidden="true">
                {mark}
              </span>
              <p>
                {decision.time && <time dateTime={decision.time}>{clock(decision.time)}</time>}
                {decision.text}
              </p>
            </li>
          )
        })}
      </ol>
      {!all && decisions.length > FIRST && (
        <button type="button" class="btn sm quiet more" onClick={() => showAll(true)}>
          All {decisions.length}
        </button>
      )}
    </Panel>
  )
}
