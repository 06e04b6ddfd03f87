// An answer that is asked for again whenever what it depends on changes. The last answer stays until the next is here, and
// one that comes late is dropped.
import { useEffect, useState } from 'preact/hooks'

export interface Answer<T> { value: T | undefined; error: unknown; pending: boolean; again: () => void }

export function useAnswer<T>(ask: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[], delayMs = 0): Answer<T> {
  const [state, setState] = useState<{ value: T | undefined; error: unknown; pending: boolean }>({ value: undefined, error: undefined, pending: true })
  const [round, setRound] = useState(0)
  useEffect(() => {
    const ended = new AbortController()
    setState((old) => ({ ...old, pending: true }))
    const timer = setTimeout(() => {
      ask(ended.signal).then(
        (value) => ended.signal.aborted || setState({ value, error: undefined, pending: false }),
        (error) => ended.signal.aborted || setState((old) => ({ value: old.value, error, pending: false })),
      )
    }, delayMs)
    return () => {
      clearTimeout(timer)
      ended.abort()
    }
  }, [...inputs, round])
  return { ...state, again: () => setRound((n) => n + 1) }
}
