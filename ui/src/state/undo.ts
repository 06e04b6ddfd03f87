// What was applied last and can be taken back for a while: the writes that bring back the previous values.
import { signal } from '@preact/signals'
import type { Applied } from '../api/types'

// Long enough to see what came of it, short enough that the offer is still about what one remembers.
export const OFFERED_MS = 120_000

export interface Offer { text: string; applied: Applied; until: number }

export const offer = signal<Offer | undefined>(undefined)

/** How often something was taken back: what was shown as applied is to be offered anew. */
export const undone = signal(0)

/** Without a way back there is nothing to offer, and what was offered before is out of date. */
export function offerUndo(text: string, applied: Applied, now = Date.now()): void {
  offer.value = applied.undo.length ? { text, applied, until: now + OFFERED_MS } : undefined
}
