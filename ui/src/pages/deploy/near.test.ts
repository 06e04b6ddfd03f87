import { expect, test } from 'vitest'
import { node } from '../../testing/nodes'
import { answerRow, distance } from './near'

const fleet = [1, 2].map((n) => node(`h100-${n}`, { labels: { 'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3' } }))

test('two letters that changed places are one edit', () => {
  expect(distance('HMB3', 'HBM3')).toBe(1)
})

test('a misspelt value is told what was probably meant', () => {
  expect(answerRow(fleet, 'nvidia.com/gpu.product', 'NVIDIA-H100-80GB-HMB3')).toEqual({ matching: 0, knownKey: true, nearest: { value: 'NVIDIA-H100-80GB-HBM3', nodes: 2 } })
})

test('a value that is nothing like any has no nearest', () => {
  expect(answerRow(fleet, 'nvidia.com/gpu.product', 'tpu').nearest).toBeUndefined()
})

test('a key that no node has is told apart from a wrong value', () => {
  expect(answerRow(fleet, 'nvidia.com/gpu.prodct', 'x')).toEqual({ matching: 0, knownKey: false })
})
