// The geometry of a page in grey while its first answer is on its way, so that nothing jumps when it comes.
import { useEffect, useState } from 'preact/hooks'

// What comes sooner needs no skeleton.
const QUIET_MS = 150
const ROWS = 6

export function Loading({ what, rail = false }: { what: string; rail?: boolean }) {
  const [shown, show] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => show(true), QUIET_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!shown) return <main class="page" aria-busy="true" aria-label={`Loading ${what}`} />
  const rows = (count: number) => Array.from({ length: count }, () => <i />)
  return (
    <main class="page" aria-busy="true" aria-label={`Loading ${what}`}>
      <h1 class="vh">Loading {what}</h1>
      <div class="bones" aria-hidden="true">
        <b />
        <div class={rail ? 'cols' : ''}>
          <section class="panel">{rows(ROWS)}</section>
          {rail && <section class="panel">{rows(ROWS / 2)}</section>}
        </div>
      </div>
    </main>
  )
}
