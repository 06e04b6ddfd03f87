// A panel with a head, and the designed states that a panel can be in.
import type { ComponentChildren } from 'preact'
import { ApiProblem } from '../api/problem'

export function Panel({ title, side, children, class: extra }: { title: string; side?: ComponentChildren; children: ComponentChildren; class?: string }) {
  return (
    <section class={`panel ${extra ?? ''}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {side}
      </header>
      {children}
    </section>
  )
}

/** Nothing is there yet: a dashed quay, one sentence, the command to paste. */
export function Blank({ title, text, children }: { title: string; text: ComponentChildren; children?: ComponentChildren }) {
  return (
    <section class="panel blank">
      <div class="quay" aria-hidden="true">
        {Array.from({ length: 8 }, () => (
          <span class="berth" />
        ))}
      </div>
      <h2>{title}</h2>
      <p>{text}</p>
      {children}
    </section>
  )
}

/** What was asked, the server's sentence, and the next step. */
export function Refused({ asked, error, retry }: { asked: string; error: unknown; retry: () => void }) {
  const problem = error instanceof ApiProblem ? error : new ApiProblem(0, String(error))
  return (
    <Blank title={problem.status === 403 ? `You may not see ${asked}` : `${asked[0]!.toUpperCase()}${asked.slice(1)} cannot be shown`} text={problem.message}>
      <div class="row">
        <button type="button" class="btn primary" onClick={retry}>
          Try again
        </button>
      </div>
    </Blank>
  )
}
