// What scaling and deleting a workload come to: the write, its lines, and the command that does the same.
import type { Workload, WorkloadDetail, WorkloadScale, Write } from '../../api/types'
import type { Line } from '../../parts/changes'
import { count, few } from '../../words'

const MOST_PODS_NAMED = 4

/** The API leaves out a number that is 0, or does not: it cannot be tested. */
export function scaleWrite({ manifest, workload }: WorkloadDetail, { verb, path, replicas }: WorkloadScale, wanted: number): Write {
  const { apiVersion } = manifest as { apiVersion: string }
  const test = replicas ? [{ op: 'test', path, value: replicas }] : []
  return { verb, apiVersion, kind: workload.kind, namespace: workload.namespace, name: workload.name, body: [...test, { op: 'add', path, value: wanted }] }
}

const place = ({ kind, namespace, name }: Workload): string => `${kind.toLowerCase()} ${name} -n ${namespace}`

export const scaleCommand = (workload: Workload, { verb }: WorkloadScale, wanted: number): string | undefined => (verb === 'scale' ? `kubectl scale ${place(workload)} --replicas=${wanted}` : undefined)

export const deleteCommand = (workload: Workload): string => `kubectl delete ${place(workload)}`

export function deleteLines({ workload, pods }: WorkloadDetail): Line[] {
  const lines: Line[] = [{ tone: 'del', text: `- ${workload.kind} ${workload.namespace}/${workload.name} is deleted` }]
  if (pods.length && workload.kind !== 'Pod') {
    const gpus = pods.reduce((sum, pod) => sum + (pod.node ? pod.gpus : 0), 0)
    lines.push({ tone: 'del', text: `- with ${count(pods.length, 'pod')}: ${few(pods.map((pod) => pod.name), MOST_PODS_NAMED)}` })
    if (gpus) lines.push({ tone: '', text: `${count(gpus, 'GPU')} will be free` })
  }
  return lines
}
