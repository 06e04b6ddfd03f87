import { expect, test } from 'vitest'
import type { WorkloadDetail } from '../../api/types'
import { writeLines } from '../../parts/changes'
import { deleteCommand, deleteLines, scaleCommand, scaleWrite } from './changes'

const detail = (pods: [string, number][] = [], kind = 'Deployment'): WorkloadDetail =>
  ({
    workload: { kind, namespace: 'shop', name: 'web' },
    pods: pods.map(([name, gpus]) => ({ name, gpus, node: 'n1' })),
    manifest: { apiVersion: 'apps/v1', kind, metadata: { uid: 'u' } },
  }) as unknown as WorkloadDetail
const scale = { verb: 'scale', path: '/spec/replicas', replicas: 2 } as const

test('a scale tests what it changes, and shows both', () => {
  const write = scaleWrite(detail(), scale, 5)
  expect(write.body).toEqual([{ op: 'test', path: '/spec/replicas', value: 2 }, { op: 'add', path: '/spec/replicas', value: 5 }])
  expect(writeLines(write).map((line) => line.text)).toEqual(['Deployment shop/web', '- /spec/replicas: 2', '+ /spec/replicas: 5'])
})

test('nothing can be tested of what the API leaves out', () => {
  expect(scaleWrite(detail(), { ...scale, replicas: 0 }, 1).body).toHaveLength(1)
})

test('commands do the same', () => {
  expect(scaleCommand(detail().workload, scale, 5)).toBe('kubectl scale deployment web -n shop --replicas=5')
  expect(scaleCommand(detail().workload, { ...scale, verb: 'patch' }, 5)).toBeUndefined()
  expect(deleteCommand(detail().workload)).toBe('kubectl delete deployment web -n shop')
})

test('a deletion says which pods go, and what becomes free', () => {
  expect(deleteLines(detail([['web-1', 4], ['web-2', 4]])).map((line) => line.text)).toEqual(['- Deployment shop/web is deleted', '- with 2 pods: web-1 and web-2', '8 GPUs will be free'])
  expect(deleteLines(detail([['web', 0]], 'Pod'))).toHaveLength(1)
})
