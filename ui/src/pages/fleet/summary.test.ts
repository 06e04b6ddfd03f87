import { expect, test } from 'vitest'
import { node } from '../../testing/nodes'
import { lead, named, summarise } from './summary'

test('free GPUs of cordoned and lost nodes are out of reach', () => {
  const sum = summarise([node('h100-1', { pods: [['mistral', 2]] }), node('h100-2', { cordoned: true }), node('h100-3', { ready: false, pods: [['qwen', 4]] })])
  expect(sum).toMatchObject({ total: 24, free: 6, outOfReach: 12, largest: { gpus: 6, node: 'h100-1' } })
  expect(lead(sum)).toEqual({
    strong: '6 of 24 GPUs are free',
    rest: ', at most 6 on one node (h100-1). Another 12 are free but out of reach: h100-2 is cordoned and h100-3 is not ready.',
  })
})

test('pods that fit are counted node by node, not from the sum', () => {
  const sum = summarise([node('a', { pods: [['x', 5]] }), node('b', { pods: [['x', 5]] })])
  expect(sum.fits).toEqual([{ gpus: 1, pods: 6 }, { gpus: 2, pods: 2 }, { gpus: 4, pods: 0 }, { gpus: 8, pods: 0 }])
})

test('a workload is counted over all its nodes', () => {
  const sum = summarise([node('a', { pods: [['x', 2], ['y', 1]] }), node('b', { pods: [['x', 4]] })])
  expect(sum.holders.map((each) => [each.workload.name, each.gpus])).toEqual([['x', 6], ['y', 1]])
})

test('a fleet without GPUs and one without nodes say so', () => {
  expect(lead(summarise([node('cpu-1', { gpus: 0 })])).strong).toBe('1 node, no GPUs.')
  expect(lead(summarise([])).strong).toBe('This cluster has no nodes yet.')
})

test('of very many workloads the largest are named, and the others counted', () => {
  const pods = Array.from({ length: 40 }, (_, i) => [`w${i}`, i === 39 ? 4 : 1] as [string, number])
  const { shown, others, gpus } = named(summarise(pods.map((pod, i) => node(`n${i}`, { pods: [pod] }))).holders)
  expect([shown.length, others, gpus]).toEqual([30, 10, 10])
  expect(shown[0]!.workload.name).toBe('w39')
})
