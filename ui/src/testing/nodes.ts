// Nodes for tests: `node('h100-1', { gpus: 8, pods: [['mistral', 2]] })`.
import type { FleetNode, Slot } from '../api/types'

interface Given { gpus?: number; pods?: [string, number][]; pool?: string; ready?: boolean; cordoned?: boolean; labels?: Record<string, string>; product?: string; taints?: FleetNode['taints'] }

export function node(name: string, given: Given = {}): FleetNode {
  const { gpus = 8, pods = [], pool = name.replace(/-\d+$/, ''), ready = true, cordoned = false, labels = {}, taints = [] } = given
  const slots: Slot[] = []
  pods.forEach(([workload, size], index) => {
    for (let i = 0; i < size; i++)
      slots.push({ index: slots.length, pod: `${workload}-${index}`, namespace: 'serving', workload: { kind: 'Deployment', namespace: 'serving', name: workload } })
  })
  const held = slots.length
  while (slots.length < gpus) slots.push({ index: slots.length })
  return {
    name, ready, cordoned, pool, labels, taints,
    gpu: { kind: 'nvidia.com/gpu', total: gpus, free: gpus - held, slots, ...(given.product ? { product: given.product } : {}) },
    cpu: { total: 96, free: 48 },
    memory: { total: 2 ** 40, free: 2 ** 39 },
    pods: pods.length,
  }
}
