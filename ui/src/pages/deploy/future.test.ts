import { expect, test } from 'vitest'
import type { Plan, Preview } from '../../api/types'
import { steps } from './future'

const preview = { resources: [{ kind: 'Workspace', apiVersion: 'kaito.sh/v1beta1', name: 'phi-4', manifest: {} }] } as Preview
const pod = (name: string, node: string | null, bound: number | null, running: number | null) => ({ pod: `serving/phi-4-${name}`, node, boundAfterSeconds: bound, runningAfterSeconds: running, phase: node ? 'Running' : 'Pending' })
const plan = (pods: Plan['pods'], waiting: string[] = []): Plan => ({ pods, waiting })

test('pods that are bound at one moment are one step, in the order of time', () => {
  expect(steps(plan([pod('a', 'n1', 1, 3), pod('b', 'n2', 1, 3)]), preview)).toEqual([
    { after: 0, text: 'Workspace phi-4 is created.' },
    { after: 1, text: 'phi-4-a is bound to n1 and phi-4-b is bound to n2.' },
    { after: 3, text: 'phi-4-a and phi-4-b run.' },
  ])
})

test('a pod without a node stays pending', () => {
  expect(steps(plan([pod('a', null, null, null)]), preview).at(-1)).toEqual({ after: 1, text: 'phi-4-a stays pending.' })
})

test('what waits before it makes pods is told', () => {
  expect(steps(plan([], ['no node matches']), preview).at(-1)!.text).toBe('no node matches')
})

test('pods of others that wait are not told of', () => {
  const other = { ...pod('a', null, null, null), pod: 'serving/llama-0' }
  expect(steps(plan([other]), preview)).toHaveLength(1)
})
