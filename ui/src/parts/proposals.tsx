// What would help, each tried out before it is shown. Nothing is written before its exact change was looked at.
import { useState } from 'preact/hooks'
import { post } from '../api/client'
import { link } from '../api/stream'
import type { Applied, Proposal } from '../api/types'
import { offerUndo, undone } from '../state/undo'
import { few } from '../words'
import { editLines, writeLines } from './changes'
import { Difference } from './difference'
import { Icon } from './icon'

interface Props {
  proposals: readonly Proposal[]
  /** How many pods the workload wants. */
  wanted: number
  title?: string
  /** Called when one was pointed at, so that a drawing can show it. */
  onPoint?: ((proposal: Proposal | undefined) => void) | undefined
  onApplied?: (() => void) | undefined
}

/** "Both pods land.", "5 of 8 pods land." */
export const brings = ({ brings: land, nodes }: Proposal, wanted: number): string =>
  land === 0 ? 'By itself it lands no pod yet.' : `${land >= wanted ? (wanted === 1 ? 'It lands' : wanted === 2 ? 'Both pods land' : `All ${wanted} pods land`) : `${land} of ${wanted} pods land`}${nodes?.length ? `: ${few(nodes)}` : ''}.`

export function Proposals({ proposals, wanted, title, onPoint, onApplied }: Props) {
  return (
    <div class="props">
      {title && <h3>{title}</h3>}
      {proposals.map((proposal, index) => (
        <One key={`${proposal.text} ${undone.value}`} number={index + 1} proposal={proposal} wanted={wanted} onPoint={onPoint} onApplied={onApplied} />
      ))}
    </div>
  )
}

type Stage = 'closed' | 'open' | 'applying' | 'applied'

function One({ number, proposal, wanted, onPoint, onApplied }: { number: number; proposal: Proposal; wanted: number } & Pick<Props, 'onPoint' | 'onApplied'>) {
  const [stage, setStage] = useState<Stage>('closed')
  const [problem, setProblem] = useState('')
  const writes = proposal.writes ?? []
  const writable = writes.length > 0
  const lines = writable ? writes.flatMap(writeLines) : (proposal.edits ?? []).flatMap(editLines)
  const apply = async () => {
    setStage('applying')
    setProblem('')
    try {
      offerUndo(proposal.text, await post<Applied>('/apply', { writes }))
      setStage('applied')
      onApplied?.()
    } catch (error) {
      setProblem((error as Error).message)
      setStage('open')
    }
  }
  return (
    <div class="prop" onMouseEnter={() => onPoint?.(proposal)} onMouseLeave={() => onPoint?.(undefined)} onFocusCapture={() => onPoint?.(proposal)}>
      <span class="no" aria-hidden="true">
        {stage === 'applied' ? <Icon name="ok" tone="ok" /> : number}
      </span>
      <div>
        <div class="med">{proposal.text}</div>
        <div class="brings">{brings(proposal, wanted)}</div>
        {proposal.disruptive && (
          <div class="brings c-wait">
            <Icon name="wait" /> Somebody is moved for this.
          </div>
        )}
      </div>
      <div class="btns">
        {stage === 'applied' ? (
          <span class="state c-ok" role="status">
            Applied
          </span>
        ) : (
          <button type="button" class="btn sm" aria-expanded={stage !== 'closed'} onClick={() => setStage(stage === 'closed' ? 'open' : 'closed')}>
            {stage === 'closed' ? 'Show change' : 'Hide change'}
          </button>
        )}
      </div>
      {(stage === 'open' || stage === 'applying') && (
        <div class="review">
          <h3>{writable ? 'This is exactly what will be written' : 'What it comes to'}</h3>
          <Difference lines={lines} problem={problem} />
          <footer>
            {proposal.command && <Copy text={proposal.command} />}
            {writable && (
              <button type="button" class="btn sm primary end" disabled={stage === 'applying' || link.value.state === 'lost'} title={link.value.state === 'lost' ? 'The connection is lost' : undefined} onClick={apply}>
                {stage === 'applying' ? 'Applying' : writes.length > 1 ? 'Apply all' : 'Apply'}
              </button>
            )}
          </footer>
        </div>
      )}
    </div>
  )
}

export function Copy({ text, label = 'Copy as kubectl' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <button type="button" class="btn sm quiet" onClick={copy} title={text}>
      <Icon name="copy" />
      {copied ? 'Copied' : label}
    </button>
  )
}
