// The lines of a change, and what the server said against it.
import type { Line } from './changes'
import { Icon } from './icon'

export function Difference({ lines, problem }: { lines: readonly Line[]; problem?: string }) {
  return (
    <>
      <pre class="code" tabIndex={0} aria-label="Difference">
        {lines.map(({ tone, text }) => (
          <span class={tone}>{text}</span>
        ))}
      </pre>
      {problem && (
        <p class="said c-bad" role="alert">
          <Icon name="bad" />
          {problem}
        </p>
      )}
    </>
  )
}
