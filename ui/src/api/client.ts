// One way to ask the API: with the caller's token, and with errors in one shape.
import { ApiProblem, problemOf } from './problem'
import { expired, token } from './session'

export const headers = (): Record<string, string> => (token.value ? { Authorization: `Bearer ${token.value}` } : {})

async function ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const init: RequestInit = { method, headers: { Accept: 'application/json', ...headers() }, credentials: 'omit' }
  if (body !== undefined) {
    init.body = JSON.stringify(body)
    init.headers = { ...init.headers, 'Content-Type': 'application/json' }
  }
  if (signal) init.signal = signal
  let response: Response
  try {
    response = await fetch(`/api${path}`, init)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiProblem(0, 'The server does not answer.')
  }
  if (response.status === 401) expired.value = true
  if (!response.ok) throw await problemOf(response)
  return (await response.json()) as T
}

export const get = <T>(path: string, signal?: AbortSignal) => ask<T>('GET', path, undefined, signal)
export const post = <T>(path: string, body: unknown, signal?: AbortSignal) => ask<T>('POST', path, body, signal)
export const remove = <T>(path: string) => ask<T>('DELETE', path)
