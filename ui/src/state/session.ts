// What the API says of the caller and of the cluster it stands before.
import { signal } from '@preact/signals'
import { get } from '../api/client'
import type { Session } from '../api/types'

export const session = signal<Session | undefined>(undefined)

export async function loadSession(): Promise<void> {
  session.value = await get<Session>('/session')
}
