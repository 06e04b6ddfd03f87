import { expect, test } from 'vitest'
import { node } from '../../testing/nodes'
import { filterOf } from './filter'

const fleet = [
  node('h100-1', { pods: [['mistral', 2]], product: 'NVIDIA-H100-80GB-HBM3' }),
  node('h100-2', { cordoned: true }),
  node('cpu-1', { gpus: 0, labels: { zone: 'fra-a' } }),
]
const found = (text: string) => fleet.filter(filterOf(text)!).map((each) => each.name)

test.each([
  ['a name', 'h100', ['h100-1', 'h100-2']],
  ['a workload that lies there', 'mistral', ['h100-1']],
  ['free GPUs, on nodes that can be reached', 'free>=4', ['h100-1']],
  ['what is cordoned', 'is:cordoned', ['h100-2']],
  ['a label', 'zone=fra', ['cpu-1']],
  ['the product, whatever its case', 'hbm3', ['h100-1']],
  ['several words that must all hold', 'h100 is:ready', ['h100-1']],
  ['nothing', 'b200', []],
])('the filter finds %s', (_, text, names) => {
  expect(found(text)).toEqual(names)
})

test('an empty filter is none', () => {
  expect(filterOf('  ')).toBeUndefined()
})
