import { expect, test } from 'vitest'
import { node } from '../../testing/nodes'
import { groups } from './groups'

test('what all nodes of a pool share is said on the pool, and only that', () => {
  const shared = { key: 'nvidia.com/gpu', effect: 'NoSchedule' }
  const [pool] = groups([node('h100-1', { taints: [shared] }), node('h100-2', { taints: [shared, { key: 'team', effect: 'NoSchedule' }] })], 'pool')
  expect(pool!.taints).toEqual([shared])
})

test('nodes are in the order in which people count', () => {
  const [pool] = groups([node('h100-10'), node('h100-9'), node('h100-1')], 'pool')
  expect(pool!.nodes.map((each) => each.name)).toEqual(['h100-1', 'h100-9', 'h100-10'])
})

test('large pools with GPUs come first, small pools share rows, CPU pools are last', () => {
  const fleet = [...['1', '2', '3'].map((n) => node(`cpu-${n}`, { gpus: 0 })), node('solo-1'), ...['1', '2', '3'].map((n) => node(`h100-${n}`))]
  expect(groups(fleet, 'pool').map((each) => each.name)).toEqual(['h100', 'solo', 'cpu'])
})

test('the largest block is on one node that can be reached', () => {
  const [pool] = groups([node('h100-1', { cordoned: true }), node('h100-2', { pods: [['x', 3]] })], 'pool')
  expect(pool).toMatchObject({ free: 5, largest: 5, total: 16 })
})
