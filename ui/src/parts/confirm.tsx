// A dialog that shows exactly what will be written, with one button that says so. What the server refuses stays in it.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { link } from '../api/stream'
import type { Line } from './changes'
import { Difference } from './difference'
import { Copy } from './proposals'

interface Props {
  title: string
  lines: readonly Line[]
  /** What the button does, as it says. */
  verb: string
  /** What it says while it does. */
  doing: string
  grave?: boolean
  command?: string | undefined
  /** Why it cannot be done as it stands. */
  blocked?: boolean
  children?: ComponentChildren
  act: () => Promise<void>
  close: () => void
}

export function Confirm({ title, lines, verb, doing, grave, command, blocked, children, act, close }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const lost = link.value.state === 'lost'
  useEffect(() => dialog.current?.showModal(), [])
  // What was refused is another matter once something else is asked for.
  useEffect(() => setProblem(''), [verb])
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setProblem('')
    try {
      await act()
      dialog.current?.close()
    } catch (error) {
      setProblem((error as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <dialog ref={dialog} class="dialog confirm" aria-label={title} onClose={close}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        {children}
        <div class="review">
          <h3>This is exactly what will be written</h3>
          <Difference lines={lines} problem={problem} />
        </div>
        <footer>
          {command && <Copy text={command} />}
          <button type="button" class="btn end" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button class={`btn ${grave ? 'grave' : 'primary'}`} disabled={busy || lost || blocked} title={lost ? 'The connection is lost' : undefined}>
            {busy ? doing : verb}
          </button>
        </footer>
      </form>
    </dialog>
  )
}
