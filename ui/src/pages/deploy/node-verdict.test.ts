import { expect, test } from 'vitest'
import type { Fit, FitNode } from '../../api/types'
import { verdictOf } from './node-verdict'

const node = (name: string, given: Partial<FitNode> = {}): FitNode => ({ name, matches: true, ready: true, fits: true, reason: '', ...given })
const fit = (nodes: FitNode[], on: string[] = []) => ({ nodes, placements: on.map((each, index) => ({ pod: `p-${index}`, node: each, gpus: 1 })) }) as unknown as Fit

test('where pods land is counted', () => {
  expect(verdictOf('n1', fit([node('n1')], ['n1', 'n1', 'n2'])).title).toBe('2 pods land on n1')
})

test('a node that would do says who is scored at least as high', () => {
  expect(verdictOf('n1', fit([node('n1')], ['n2']))).toMatchObject({ title: 'A pod would fit on n1', reasons: ['The scheduler scores n2 at least as high.'] })
})

test('every reason of the engine is a line', () => {
  const reason = 'taint team=a:NoSchedule is not tolerated; needs 4 nvidia.com/gpu, 2 of 8 free'
  expect(verdictOf('n1', fit([node('n1', { fits: false, reason })])).reasons).toEqual(['taint team=a:NoSchedule is not tolerated', 'needs 4 nvidia.com/gpu, 2 of 8 free'])
})

test('a node that came since the last answer is not judged', () => {
  expect(verdictOf('new', fit([])).icon).toBe('unknown')
})
