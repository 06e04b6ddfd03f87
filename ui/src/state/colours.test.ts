import { expect, test } from 'vitest'
import { codeOf, dressOf } from './colours'

const workload = (name: string) => ({ kind: 'Deployment', namespace: 'serving', name })

test('nine workloads have nine colours, and each keeps its own', () => {
  const names = Array.from({ length: 9 }, (_, i) => `model-${i}`)
  const fills = names.map((name) => dressOf(workload(name)).fill)
  expect(new Set(fills).size).toBe(9)
  expect(names.map((name) => dressOf(workload(name)).fill)).toEqual(fills)
})

test('two workloads of one colour differ by their code', () => {
  const codes = Array.from({ length: 12 }, (_, i) => dressOf(workload(`whisper-${'abcdefghijkl'[i]}`)).code)
  expect(new Set(codes).size).toBe(codes.length)
})

test.each([
  ['mistral-7b', new Set<string>(), 'mis'],
  ['whisper-eval', new Set(['whi']), 'wev'],
])('the code of %s', (name, taken, code) => {
  expect(codeOf(name, taken)).toBe(code)
})

test('thousands of workloads of one name are dressed in no time', () => {
  const began = performance.now()
  for (let i = 0; i < 8000; i++) dressOf(workload(`pod-${i}`))
  expect(performance.now() - began).toBeLessThan(2000)
})
