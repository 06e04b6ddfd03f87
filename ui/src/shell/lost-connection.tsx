// A lost connection: the page stays as it was, and a note counts down to the next try.
import { useEffect, useState } from 'preact/hooks'
import { link, retryNow } from '../api/stream'
import { Icon } from '../parts/icon'
import { clock } from '../words'

// A blip that heals at once is not worth a note.
const QUIET_MS = 1_000

export function LostConnection() {
  const now = useNow(link.value.state === 'lost')
  if (link.value.state !== 'lost' || now.getTime() - link.value.since.getTime() < QUIET_MS) return null
  const { since, nextTry, why } = link.value
  const seconds = Math.max(0, Math.ceil((nextTry.getTime() - now.getTime()) / 1000))
  return (
    <div class="toast" role="alert" title={why}>
      <Icon name="wait" tone="wait" />
      <span>
        Connection lost at {clock(since, true)}. What you see is from then. {seconds ? `Trying again in ${seconds} s.` : 'Trying again.'}
      </span>
      <button type="button" class="btn sm" onClick={retryNow}>
        Try now
      </button>
    </div>
  )
}

export function useNow(running: boolean, everyMs = 500): Date {
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    if (!running) return
    setNow(new Date())
    const timer = setInterval(() => setNow(new Date()), everyMs)
    return () => clearInterval(timer)
  }, [running, everyMs])
  return now
}
