import { expect, test } from 'vitest'
import type { Fit } from '../../api/types'
import { verdictWords } from './verdict'

const fit = (given: Partial<Fit>): Fit => ({ verdict: 'cannot', message: '', matching: 4, ready: 3, fits: 1, pods: { wanted: 1, land: 0 }, placements: [], nodes: [], advice: [], warnings: [], ...given })

test('what lands says where, and what else there was', () => {
  expect(verdictWords(fit({ verdict: 'lands', placements: [{ pod: 'p', node: 'n1', gpus: 1 }] }))).toMatchObject({ title: 'It lands: n1', text: '4 nodes match, 3 are ready, 1 has room for a pod.' })
})

test('running pods that would go come first', () => {
  expect(verdictWords(fit({ verdict: 'lands', message: 'would be scheduled: p on n1; 2 running pods would be preempted' })).text).toMatch(/^2 running pods would be preempted\. /)
})

test('what the API server would not take does not wait', () => {
  expect(verdictWords(fit({ message: 'it would be refused: resource.count: Invalid value: 0 nodes match' }))).toMatchObject({ title: 'It would be refused', text: 'resource.count: Invalid value: 0 nodes match.' })
})

test('what lands in part is counted', () => {
  expect(verdictWords(fit({ message: '1 of 3 pods can be scheduled; p-1: 0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: none', pods: { wanted: 3, land: 1 } }))).toMatchObject({
    title: '1 of 3 pods land',
    text: '1 of 3 pods can be scheduled; p-1: 0/4 nodes are available: 4 Insufficient nvidia.com/gpu.',
  })
})
