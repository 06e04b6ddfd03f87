import { describe, expect, it } from 'vitest'
import type { Write } from '../api/types'
import { editLines, writeLines } from './changes'

const write = (verb: Write['verb'], kind: string, name: string, body: Write['body'] = []): string[] =>
  writeLines({ verb, apiVersion: 'v1', kind, ...(kind === 'Node' ? {} : { namespace: 'shop' }), name, body }).map((line) => line.text)

describe('what a write does, as lines', () => {
  it('says what is there before, from the tests', () => {
    const path = '/spec/template/spec/nodeSelector/gpu'
    const body = [{ op: 'test', path, value: 'h10' }, { op: 'replace', path, value: 'h100' }]
    expect(write('patch', 'Deployment', 'web', body)).toEqual(['Deployment shop/web', `- ${path}: h10`, `+ ${path}: h100`])
  })
  it('puts the tested parts of an object together', () => {
    const body = [
      { op: 'test', path: '/spec/taints/0/key', value: 'team' },
      { op: 'test', path: '/spec/taints/0/effect', value: 'NoSchedule' },
      { op: 'remove', path: '/spec/taints/0' },
    ]
    expect(write('patch', 'Node', 'gpu-1', body)).toEqual(['Node gpu-1', '- /spec/taints/0: {"key":"team","effect":"NoSchedule"}'])
  })
  it('shows nothing before what was not there', () => {
    const body = [{ op: 'test', path: '/metadata/labels/rack', value: null }, { op: 'add', path: '/metadata/labels/rack', value: 'r7' }]
    expect(write('patch', 'Node', 'gpu-1', body)).toEqual(['Node gpu-1', '+ /metadata/labels/rack: r7'])
  })
  it('writes a slash in a name as a slash', () => {
    expect(write('patch', 'Node', 'gpu-1', [{ op: 'add', path: '/metadata/labels/example.com~1rack', value: 'r7' }])[1]).toBe('+ /metadata/labels/example.com/rack: r7')
  })
  it('tells of pods that go', () => {
    expect(write('evict', 'Pod', 'idle')).toEqual(['- Pod shop/idle is evicted'])
    expect(write('delete', 'Pod', 'web-0')).toEqual(['- Pod shop/web-0 is deleted, if it still waits'])
  })
})

describe('an edit of what is not in the cluster', () => {
  it('has what goes and what comes', () => {
    const lines = editLines({ target: 'pod', op: 'replace', path: '/spec/priority', before: 1, after: 2 })
    expect(lines).toEqual([{ tone: 'del', text: '- pod /spec/priority: 1' }, { tone: 'add', text: '+ pod /spec/priority: 2' }])
  })
})
