// Who is signed in. The printed address carries the token in its fragment, which no server ever sees; it is kept by the
// browser and taken out of the address before anything else happens.
import { signal } from '@preact/signals'

const KEY = 'mooring.token'

function read(): string {
  try {
    return localStorage.getItem(KEY) ?? ''
  } catch {
    return ''
  }
}

export const token = signal('')
/** Set when the API said that the token is not valid: the sign-in view comes up, and the page stays where it was. */
export const expired = signal(false)

export function startSession(): void {
  const fragment = new URLSearchParams(location.hash.slice(1))
  const given = fragment.get('token')
  if (given) {
    signIn(given)
    history.replaceState(history.state, '', location.pathname + location.search)
  } else token.value = read()
}

export function signIn(given: string): void {
  token.value = given.trim()
  expired.value = false
  try {
    localStorage.setItem(KEY, token.value)
  } catch {
    // It lasts as long as the page then.
  }
}

export function signOut(): void {
  token.value = ''
  try {
    localStorage.removeItem(KEY)
  } catch {
    // Nothing was kept.
  }
}
