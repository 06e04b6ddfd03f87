import { expect, test } from 'vitest'
import type { Model, Proposal } from '../../api/types'
import { configOf, nameOf, type Form } from './form'
import { yaml } from '../../yaml'
import { inForm } from './page'

const form: Form = { model: 'm', name: 'm', namespace: 'default', source: 'vllm', compute: 'gpu', gpus: 4, replicas: 2, labels: [['gpu.product', 'HMB3']] }
const model: Model = { id: 'meta-llama/Llama-3.3-70B', name: 'Llama', description: '', weightsGiB: 140, contextLength: 1, engines: [], sources: ['vllm'], gpu: { memoryGiB: 160, recommended: { gpus: 4, nodes: 1 } } }
const proposal = (path: string, after: unknown): Proposal => ({ text: 't', brings: 1, disruptive: false, edits: [{ target: 'pod', op: 'replace', path, before: 'x', after }] })

test('a proposal that corrects a label corrects the form', () => {
  expect(inForm(proposal('/spec/nodeSelector/gpu.product', 'HBM3'), form)).toEqual({ labels: [['gpu.product', 'HBM3']] })
})

test('one that drops a label takes the row away', () => {
  expect(inForm(proposal('/spec/nodeSelector/gpu.product', null), form)).toEqual({ labels: [] })
})

test('one that corrects a key replaces the row', () => {
  const edit = { target: 'pod', op: '', before: null, after: null }
  const edits = [{ ...edit, path: '/spec/nodeSelector/gpu.product', before: 'HMB3' }, { ...edit, path: '/spec/nodeSelector/a.b~1gpu', after: 'HBM3' }]
  expect(inForm({ ...proposal('', null), edits }, form)).toEqual({ labels: [['a.b/gpu', 'HBM3']] })
})

test('one that changes the cluster cannot be said in the form', () => {
  expect(inForm(proposal('/metadata/labels/zone', 'a'), form)).toBeUndefined()
})

test('an empty selector is none, and rows without a key are still being typed', () => {
  expect(configOf({ ...form, labels: [['', 'x']] }, model)).not.toHaveProperty('labelSelector')
})

test('the name of a deployment is a name that Kubernetes takes', () => {
  expect(nameOf({ ...model, id: 'meta-llama/Llama-3.3-70B-Instruct' })).toBe('llama-3-3-70b-instruct')
})

test('manifests read back as what they were', () => {
  expect(yaml({ a: 'true', b: true, c: ['x', { d: '1', e: null }], f: {}, g: 'a: b', h: [] })).toBe('a: "true"\nb: true\nc:\n- x\n- d: "1"\n  e: null\nf: {}\ng: "a: b"\nh: []\n')
})
