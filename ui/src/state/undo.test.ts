import { expect, test } from 'vitest'
import type { Applied } from '../api/types'
import { offer, OFFERED_MS, offerUndo } from './undo'

const write = { verb: 'scale', apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web', body: [] } as const
const applied = (undo: Applied['undo']): Applied => ({ message: '', done: [], undo })

test('what was applied can be taken back for a while', () => {
  offerUndo('Scale web', applied([{ ...write, body: [] }]), 1000)
  expect(offer.value?.until).toBe(1000 + OFFERED_MS)
})

test('what has no way back ends the offer before it', () => {
  offerUndo('Scale web', applied([{ ...write, body: [] }]))
  offerUndo('Evict', applied([]))
  expect(offer.value).toBeUndefined()
})
