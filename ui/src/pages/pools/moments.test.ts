import { expect, test } from 'vitest'
import type { Host, Moment, Pool } from '../../api/types'
import { areaOf, bestSpan, lanes, tell } from './moments'
import { poolOf } from './page'

const HOUR = 3600e3
const now = Date.parse('2026-01-01T12:00:00Z')
const at = (minutesAgo: number) => new Date(now - minutesAgo * 60e3).toISOString()
const moment = (minutesAgo: number, kind: Moment['kind'], nodes: number, given: Partial<Moment> = {}): Moment => ({ time: at(minutesAgo), namespace: 'default', pool: 'gpu', kind, text: kind, host: '', nodes, ...given })
const pool = (name: string, ready: number) => ({ namespace: 'default', name, ready }) as Pool
const drawn = (moments: Moment[], pools = [pool('gpu', 1)]) => lanes(pools, moments, now - HOUR, now).map((lane) => [lane.name, lane.steps.map((step) => [(now - step.at) / 60e3, step.nodes])])

test('a pool that was made within the span begins there, and steps when a host joins', () => {
  expect(drawn([moment(30, 'made', 0), moment(20, 'joined', 1)])).toEqual([['gpu', [[30, 0], [20, 1], [0, 1]]]])
})

test('a pool that is older begins with the nodes it had', () => {
  expect(drawn([moment(90, 'joined', 3), moment(10, 'left', 2)])).toEqual([['gpu', [[60, 3], [10, 2], [0, 2]]]])
})

test('what is forgotten is taken from the first thing that is known', () => {
  expect(drawn([moment(10, 'left', 2)])[0]![1]).toEqual([[60, 3], [10, 2], [0, 2]])
})

test('a pool of which nothing is known is a line at what it has', () => {
  expect(drawn([])).toEqual([['gpu', [[60, 1], [0, 1]]]])
})

test('a pool that is gone is drawn only while it was there', () => {
  const gone = (minutesAgo: number) => [moment(minutesAgo, 'left', 0, { pool: 'old' })]
  expect(lanes([], gone(10), now - HOUR, now).map((lane) => [lane.name, lane.gone])).toEqual([['old', true]])
  expect(lanes([], gone(90), now - HOUR, now)).toEqual([])
})

test('a lost host is a mark', () => {
  expect(lanes([pool('gpu', 1)], [moment(5, 'lost', 1, { text: 'h1 is silent' })], now - HOUR, now)[0]!.marks).toEqual([{ at: now - 5 * 60e3, text: 'h1 is silent' }])
})

test('hosts that join together are one sentence, the newest first', () => {
  const moments = [moment(30, 'grown', 0, { text: 'from 0 to 2' }), moment(20, 'joined', 1, { host: 'h1' }), moment(20, 'joined', 2, { host: 'h2' }), moment(5, 'joined', 3, { host: 'h3', text: 'h3 joined as a node' })]
  expect(tell(moments).map((each) => each.text)).toEqual(['h3 joined as a node', 'h1 and h2 joined as nodes', 'from 0 to 2'])
})

test('hosts of other pools are other sentences', () => {
  expect(tell([moment(20, 'joined', 1, { host: 'h1' }), moment(20, 'joined', 1, { host: 'h2', pool: 'cpu' })])).toHaveLength(2)
})

test('the span is the shortest with half of what is known', () => {
  expect(bestSpan([moment(5, 'made', 0), moment(500, 'made', 0)], now)).toBe('10 min')
  expect(bestSpan([moment(300, 'made', 0), moment(500, 'made', 0)], now)).toBe('6 h')
  expect(bestSpan([], now)).toBe('10 min')
})

test('the drawing is as high as the most nodes', () => {
  const [lane] = lanes([pool('gpu', 2)], [moment(30, 'joined', 2)], now - HOUR, now)
  expect(areaOf(lane!, now - HOUR, now, 100, 10)).toBe('M0 10H0V5H50V0H100V0V10Z')
})

test('a claimed host is shown with its pool', () => {
  const pools = [pool('gpu', 1), pool('gpu-large', 1)]
  const host = (claimedBy?: string) => ({ namespace: 'default', phase: 'Claimed', claimedBy }) as Host
  expect(poolOf(host('gpu-large-5d8f-abcde'), pools)).toBe('gpu-large')
  expect(poolOf(host('other-5d8f-abcde'), pools)).toBe('other-5d8f-abcde')
  expect(poolOf(host(), pools)).toBeUndefined()
})
