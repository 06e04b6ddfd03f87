// The offer to take back what was applied last. What it writes is shown before, as with everything that writes.
import { useState } from 'preact/hooks'
import { post } from '../api/client'
import { ApiProblem } from '../api/problem'
import { link } from '../api/stream'
import { writeLines } from '../parts/changes'
import { Confirm } from '../parts/confirm'
import { Icon } from '../parts/icon'
import { offer, undone } from '../state/undo'
import { useNow } from './lost-connection'

export function UndoNote() {
  const [asking, ask] = useState(false)
  const now = useNow(offer.value !== undefined, 1_000)
  // A lost connection has its own note in the same place, and nothing could be written.
  if (!offer.value || link.value.state === 'lost') return null
  if (!asking && now.getTime() >= offer.value.until) return null
  const { text, applied } = offer.value
  const writeBack = async () => {
    try {
      await post('/apply', { writes: applied.undo })
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 422) throw new Error(`It has changed since, so nothing was written: ${error.message}`)
      throw error
    }
    offer.value = undefined
    undone.value += 1
  }
  return (
    <>
      <div class="toast" role="status" hidden={asking}>
        <Icon name="ok" tone="ok" />
        <span class="ell">Applied: {text}</span>
        <button type="button" class="btn sm" onClick={() => ask(true)}>
          Undo
        </button>
        <button type="button" class="btn icon sm quiet" aria-label="Dismiss" onClick={() => (offer.value = undefined)}>
          <Icon name="x" />
        </button>
      </div>
      {asking && (
        <Confirm title="Bring back the previous values" lines={applied.undo.flatMap(writeLines)} verb="Write back" doing="Writing" act={writeBack} close={() => ask(false)}>
          <p class="soft">Nothing is written if somebody has changed it since. Pods that were moved or deleted stay so.</p>
        </Confirm>
      )}
    </>
  )
}
