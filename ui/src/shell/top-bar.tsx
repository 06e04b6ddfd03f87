// The bar at the top (at the bottom when narrow): pages, whether the page is live, theme, and the one thing to do.
import { useEffect, useState } from 'preact/hooks'
import { link } from '../api/stream'
import { Icon } from '../parts/icon'
import { path } from '../router'
import { session } from '../state/session'
import { nodes, waiting } from '../state/live'
import { clock } from '../words'
import { Brand } from './brand'

const PAGES: [string, string][] = [
  ['/', 'Fleet'],
  ['/workloads', 'Workloads'],
  ['/pools', 'Pools'],
  ['/notebooks', 'Notebooks'],
  ['/installation', 'Installation'],
]

const isHere = (target: string) => (target === '/' ? path.value === '/' : path.value.startsWith(target))

export function TopBar() {
  return (
    <header class="top">
      <a class="brand" href="/">
        <Brand />
      </a>
      <nav class="nav" aria-label="Main">
        {PAGES.map(([target, name]) => (
          <a href={target} aria-current={isHere(target) ? 'page' : undefined}>
            {name}
            {name === 'Workloads' && waiting.value.length > 0 && (
              <span class="count" title={`${waiting.value.length} waiting`}>
                {waiting.value.length}
              </span>
            )}
          </a>
        ))}
      </nav>
      <div class="side">
        <Connection />
        <ThemeSwitch />
        {path.value !== '/deploy' && (
          <a class="btn primary" href="/deploy">
            <span>
              Deploy<span class="wide"> a model</span>
            </span>
          </a>
        )}
      </div>
    </header>
  )
}

function Connection() {
  const now = link.value
  const lost = now.state === 'lost'
  return (
    <span class={`live wide${lost ? ' lost' : now.state === 'live' ? '' : ' yet'}`} role="status">
      {lost ? (nodes.known.value ? 'Lost' : 'Not connected') : now.state === 'live' ? 'Live' : 'Connecting'}{' '}
      <span class="muted">{lost && !nodes.known.value ? '' : lost ? `as of ${clock(now.since, true)}` : (session.value?.server.replace('https://', '') ?? '')}</span>
    </span>
  )
}

function ThemeSwitch() {
  const [, redraw] = useState(0)
  useEffect(() => {
    const system = matchMedia('(prefers-color-scheme: dark)')
    const changed = () => redraw((n) => n + 1)
    system.addEventListener('change', changed)
    return () => system.removeEventListener('change', changed)
  }, [])
  const flip = () => {
    const root = document.documentElement
    const dark = (root.dataset['theme'] ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'
    root.dataset['theme'] = dark ? 'light' : 'dark'
    dispatchEvent(new Event('themechange'))
    try {
      localStorage.setItem('mooring.theme', root.dataset['theme'])
    } catch {
      // It lasts as long as the page then.
    }
  }
  return (
    <button type="button" class="btn icon quiet" aria-label="Switch between light and dark" onClick={flip}>
      <Icon name="theme" />
    </button>
  )
}
