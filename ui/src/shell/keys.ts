// Keys that work on every page: `g` and a letter goes to a page, `d` deploys, `/` filters, `?` lists them.
import { signal } from '@preact/signals'
import { go } from '../router'

export const helpOpen = signal(false)

export const KEYS: [string, string][] = [
  ['/', 'Filter'],
  ['Arrow keys', 'Between nodes of a pool'],
  ['Enter', 'Open a node'],
  ['Esc', 'Close'],
  ['g f', 'Fleet'],
  ['g w', 'Workloads'],
  ['g p', 'Pools'],
  ['g n', 'Notebooks'],
  ['g i', 'Installation'],
  ['d', 'Deploy a model'],
  ['Ctrl or Cmd + Enter', 'Submit a form'],
  ['?', 'This list'],
]

const PLACES: Record<string, string> = { f: '/', w: '/workloads', p: '/pools', n: '/notebooks', i: '/installation' }
// How long `g` waits for its letter.
const PREFIX_MS = 1_200

export function listenToKeys(): () => void {
  let prefixed = 0
  const pressed = (event: KeyboardEvent) => {
    if (event.key === 'Escape') helpOpen.value = false
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
    const place = event.timeStamp - prefixed < PREFIX_MS ? PLACES[event.key] : undefined
    prefixed = event.key === 'g' ? event.timeStamp : 0
    if (place) go(place)
    else if (event.key === 'd') go('/deploy')
    else if (event.key === '?') helpOpen.value = !helpOpen.value
    else if (event.key === '/') {
      const filter = document.querySelector<HTMLInputElement>('input[data-filter]')
      if (!filter) return
      filter.focus()
    } else return
    event.preventDefault()
  }
  addEventListener('keydown', pressed)
  return () => removeEventListener('keydown', pressed)
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
