// Addresses: the page, its object, and in the query everything else that a link should bring back.
import { computed, signal } from '@preact/signals'

const here = () => ({ path: location.pathname, query: new URLSearchParams(location.search) })
export const place = signal(here())
export const path = computed(() => place.value.path)

addEventListener('popstate', () => {
  place.value = here()
})

export function go(to: string, replace = false): void {
  if (to === location.pathname + location.search) return
  history[replace ? 'replaceState' : 'pushState'](null, '', to)
  place.value = here()
  if (!replace) scrollTo(0, 0)
}

/** A value in the query. Writing the default takes it out of the address. */
export function asked(name: string, fallback = ''): string {
  return place.value.query.get(name) ?? fallback
}

export function ask(values: Record<string, string>, replace = true): void {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(values)) value ? query.set(name, value) : query.delete(name)
  const text = query.toString()
  go(location.pathname + (text ? `?${text}` : ''), replace)
}

/** Links are plain anchors; a click with nothing held down stays in the page. */
addEventListener('click', (event) => {
  const anchor = (event.target as Element | null)?.closest?.('a[href^="/"]')
  if (!anchor || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  if (anchor.hasAttribute('download') || anchor.getAttribute('href')!.startsWith('/api/')) return
  event.preventDefault()
  go(anchor.getAttribute('href')!)
})
