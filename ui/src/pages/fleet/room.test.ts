import { expect, test } from 'vitest'
import type { NodeAnswer } from '../../api/types'
import { fates, largest, obstacles } from './room'

const answer = (given: Partial<NodeAnswer>): NodeAnswer => ({
  node: 'h100-1', ready: true, cordoned: false, largestPod: {}, keepsOff: [], lands: [], fits: [], blocked: [], notes: [],
  cordon: { text: 'Cordon node h100-1', command: 'kubectl cordon h100-1', writes: [] },
  ...given,
})

test('the largest pod is told in GPUs, cores and memory', () => {
  expect(largest(answer({ largestPod: { cpu: '58500m', memory: String(480 * 2 ** 30), 'ephemeral-storage': '1', 'nvidia.com/gpu': '6' } }))).toBe('A pod of up to 6 GPUs, 58.5 cores and 480 Gi has room.')
  expect(largest(answer({ largestPod: { cpu: '1000m', memory: String(2 ** 30) } }))).toBe('A pod of up to 1 core and 1 Gi has room.')
  expect(largest(answer({}))).toBe('No further pod has room.')
})

test('other devices keep their own names', () => {
  expect(largest(answer({ largestPod: { cpu: '2000m', 'example.com/fpga': '2' } }))).toBe('A pod of up to 2 example.com/fpga and 2 cores has room.')
})

test('what keeps pods off says how many of those that wait tolerate it', () => {
  const kept = { text: 'taint a=b:NoSchedule', toleratedBy: { waiting: { count: 1, total: 5 }, running: { count: 0, total: 0 } } }
  expect(obstacles(answer({ keepsOff: [kept, { text: 'it is full: 110 of 110 pods' }] }))).toEqual(['taint a=b:NoSchedule; 1 of 5 pods that wait tolerate it', 'it is full: 110 of 110 pods'])
})

test('all and none are said so', () => {
  const kept = (some: number) => ({ text: 'it is cordoned', toleratedBy: { waiting: { count: some, total: 2 }, running: { count: 0, total: 0 } } })
  expect(obstacles(answer({ keepsOff: [kept(0), kept(2)] }))).toEqual(['it is cordoned; no pod that waits tolerates it', 'it is cordoned; every pod that waits tolerates it'])
})

test('pods that wait land here, go elsewhere, or are kept off', () => {
  const told = answer({
    lands: [{ pod: 'a/one', victims: ['b/old'] }],
    fits: [{ pod: 'a/two', node: 'h100-2', behind: 3 }],
    blocked: [{ pods: ['a/big', 'a/bigger'], causes: [{ plugin: 'NodeResourcesFit', text: 'needs 8 nvidia.com/gpu, 2 of 8 free' }] }],
  })
  expect(fates(told).shown).toEqual([
    { tone: 'ok', pods: 'a/one', lines: ['would land here, after b/old left'] },
    { tone: 'work', pods: 'a/two', lines: ['has room here, and would go to h100-2'] },
    { tone: 'wait', pods: 'a/big and a/bigger', lines: ['needs 8 nvidia.com/gpu, 2 of 8 free'] },
  ])
})

test('many groups are counted and not shown', () => {
  const blocked = Array.from({ length: 7 }, (_, i) => ({ pods: [`a/${i}`], causes: [{ plugin: '', text: `cause ${i}` }] }))
  const { shown, more } = fates(answer({ blocked }))
  expect([shown.length, more]).toEqual([4, 3])
})
