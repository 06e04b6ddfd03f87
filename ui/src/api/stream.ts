// The one stream of changes that a tab holds. It says when it is lost, tries again, and goes on after the last id.
import { signal } from '@preact/signals'
import { headers } from './client'
import { problemOf } from './problem'
import { expired } from './session'
import { SseParser } from './sse'

export interface Change { topic: string; type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'RESET'; object?: unknown }
export type Link =
  | { state: 'connecting' }
  | { state: 'live' }
  | { state: 'lost'; since: Date; nextTry: Date; why: string; status: number }

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 10_000
// The server sends a comment every 15 s: after twice that, silence means that the connection is dead.
const LONGEST_SILENCE_MS = 32_000

export const link = signal<Link>({ state: 'connecting' })
let wake: (() => void) | undefined

/** Try again at once instead of when it is due. */
export const retryNow = (): void => wake?.()

export async function follow(topics: string[], take: (changes: Change[]) => void, ended: AbortSignal): Promise<void> {
  const parser = new SseParser()
  let lastId = ''
  let wait = FIRST_WAIT_MS
  let since = new Date()
  while (!ended.aborted) {
    const attempt = new AbortController()
    const stop = () => attempt.abort()
    ended.addEventListener('abort', stop)
    let silence: ReturnType<typeof setTimeout> | undefined
    const heard = () => {
      clearTimeout(silence)
      silence = setTimeout(stop, LONGEST_SILENCE_MS)
    }
    let why = 'The server does not answer.'
    let status = 0
    try {
      heard()
      const response = await fetch(`/api/stream?topics=${topics.join(',')}`, {
        headers: { Accept: 'text/event-stream', ...headers(), ...(lastId ? { 'Last-Event-ID': lastId } : {}) },
        credentials: 'omit',
        cache: 'no-store',
        signal: attempt.signal,
      })
      if (response.status === 401) {
        expired.value = true
        return
      }
      if (!response.ok || !response.body) {
        status = response.status
        why = (await problemOf(response)).message
        throw new Error(why)
      }
      link.value = { state: 'live' }
      wait = FIRST_WAIT_MS
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      for (;;) {
        const { done, value } = await reader.read()
        if (done) break
        heard()
        const changes = parser.feed(value).map(({ event, data }) => ({ topic: event, ...JSON.parse(data) }) as Change)
        lastId = parser.lastId
        if (changes.length) take(changes)
      }
      why = 'The server ended the connection.'
    } catch {
      // What there is to say is in `why`.
    } finally {
      clearTimeout(silence)
      ended.removeEventListener('abort', stop)
    }
    if (ended.aborted) return
    if (link.value.state !== 'lost') since = new Date()
    link.value = { state: 'lost', since, nextTry: new Date(Date.now() + wait), why, status }
    await new Promise<void>((done) => {
      const timer = setTimeout(done, wait)
      wake = () => {
        clearTimeout(timer)
        done()
      }
      ended.addEventListener('abort', () => wake?.(), { once: true })
    })
    wait = Math.min(wait * 2, LONGEST_WAIT_MS)
  }
}
