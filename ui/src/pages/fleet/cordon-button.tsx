// Cordons a node, or uncordons it, after its exact change was looked at.
import { useState } from 'preact/hooks'
import { post } from '../../api/client'
import { link } from '../../api/stream'
import type { CordonChange } from '../../api/types'
import { writeLines } from '../../parts/changes'
import { Icon } from '../../parts/icon'
import { Copy } from '../../parts/proposals'

export function CordonButton({ change, cordoned, done }: { change: CordonChange; cordoned: boolean; done: () => void }) {
  const [stage, setStage] = useState<'closed' | 'open' | 'applying'>('closed')
  const [problem, setProblem] = useState('')
  const verb = cordoned ? 'Uncordon' : 'Cordon'
  const lost = link.value.state === 'lost'
  const apply = async () => {
    setStage('applying')
    setProblem('')
    try {
      await post('/apply', { writes: change.writes })
      setStage('closed')
      done()
    } catch (error) {
      setProblem((error as Error).message)
      setStage('open')
    }
  }
  return (
    <div>
      <button type="button" class="btn sm" aria-expanded={stage !== 'closed'} onClick={() => setStage(stage === 'closed' ? 'open' : 'closed')}>
        <Icon name={cordoned ? 'ok' : 'cordon'} />
        {stage === 'closed' ? verb : 'Cancel'}
      </button>
      {stage !== 'closed' && (
        <div class="review">
          <h3>{change.text}</h3>
          <pre class="code" tabIndex={0} aria-label="Difference">
            {change.writes.flatMap(writeLines).map(({ tone, text }) => (
              <span class={tone}>{text}</span>
            ))}
          </pre>
          {problem && (
            <p class="said c-bad" role="alert">
              <Icon name="bad" />
              {problem}
            </p>
          )}
          <footer>
            <Copy text={change.command} />
            <button type="button" class="btn sm primary end" disabled={stage === 'applying' || lost} title={lost ? 'The connection is lost' : undefined} onClick={apply}>
              {stage === 'applying' ? 'Applying' : `${verb} it`}
            </button>
          </footer>
        </div>
      )}
    </div>
  )
}
