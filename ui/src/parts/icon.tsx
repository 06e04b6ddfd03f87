// Icons and the shapes of status: the shape alone tells the state, colour only helps.
import type { State } from '../api/types'

export type IconName =
  | 'ok' | 'work' | 'wait' | 'bad' | 'cordon' | 'down' | 'unknown' | 'taint' | 'search' | 'x' | 'plus' | 'minus'
  | 'down-chev' | 'right' | 'arrow' | 'copy' | 'theme' | 'tiles' | 'dense'

export function Icon({ name, tone, title }: { name: IconName; tone?: string; title?: string }) {
  return <i class={`i i-${name}${tone ? ` c-${tone}` : ''}`} {...(title ? { title, role: 'img', 'aria-label': title } : { 'aria-hidden': true })} />
}

const SHAPES: Record<State, [IconName, string]> = {
  Ready: ['ok', 'ok'],
  Succeeded: ['ok', 'ok'],
  Progressing: ['work', 'work'],
  Pending: ['wait', 'wait'],
  Failed: ['bad', 'bad'],
  Terminating: ['work', 'off'],
  Unknown: ['unknown', 'off'],
}

export function Status({ state, children }: { state: State; children?: preact.ComponentChildren }) {
  const [icon, tone] = SHAPES[state] ?? SHAPES.Unknown
  return (
    <span class={`state c-${tone}`}>
      <Icon name={icon} />
      {children ?? state}
    </span>
  )
}

export const toneOf = (state: State): string => (SHAPES[state] ?? SHAPES.Unknown)[1]
export const iconOf = (state: State): IconName => (SHAPES[state] ?? SHAPES.Unknown)[0]
