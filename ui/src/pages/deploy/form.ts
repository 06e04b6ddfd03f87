// The deploy form as the address holds it, so that a link brings the whole form back.
import type { DeploymentConfig, Model } from '../../api/types'
import { asked, ask } from '../../router'

export interface Form {
  model: string
  name: string
  namespace: string
  source: string
  compute: 'gpu' | 'cpu'
  gpus: number
  replicas: number
  labels: [string, string][]
}

export function readForm(models: readonly Model[]): Form {
  const model = models.find((each) => each.id === asked('model')) ?? models[0]
  const source = asked('source') || model?.sources[0] || 'vllm'
  const compute = needsGpu(source) ? 'gpu' : asked('compute') === 'gpu' ? 'gpu' : 'cpu'
  return {
    model: model?.id ?? '',
    name: asked('name', model ? nameOf(model) : ''),
    namespace: asked('namespace', 'default'),
    source,
    compute,
    gpus: Number(asked('gpus')) || Math.max(1, model?.gpu.recommended.gpus ?? 1),
    replicas: Number(asked('replicas', '1')),
    labels: readLabels(asked('labels')),
  }
}

/** vLLM serves on GPUs only. */
export const needsGpu = (source: string): boolean => source === 'vllm' || source === 'preset'

export function nameOf(model: Model): string {
  const last = model.id.split('/').at(-1)!.toLowerCase()
  return last.replace(/[^a-z0-9]+/g, '-').replace(/^[^a-z]+|-+$/g, '').slice(0, 40)
}

const readLabels = (text: string): [string, string][] =>
  text ? text.split(',').map((pair) => [decodeURIComponent(pair.split('=')[0]!), decodeURIComponent(pair.split('=')[1] ?? '')]) : []
const writeLabels = (labels: readonly [string, string][]): string => labels.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join(',')

const NAMES: Record<keyof Form, (value: never) => [string, string]> = {
  model: (value: string) => ['model', value],
  name: (value: string) => ['name', value],
  namespace: (value: string) => ['namespace', value],
  source: (value: string) => ['source', value],
  compute: (value: string) => ['compute', value],
  gpus: (value: number) => ['gpus', String(value)],
  replicas: (value: number) => ['replicas', String(value)],
  labels: (value: [string, string][]) => ['labels', writeLabels(value)],
}

export function change(values: Partial<Form>): void {
  ask(Object.fromEntries(Object.entries(values).map(([key, value]) => NAMES[key as keyof Form](value as never))))
}

/** What the API is asked. Rows without a key are still being typed. */
export function configOf(form: Form, model: Model | undefined): DeploymentConfig {
  const labels = Object.fromEntries(form.labels.filter(([key]) => key))
  return {
    name: form.name,
    namespace: form.namespace,
    modelSource: form.source,
    computeType: form.compute,
    replicas: form.replicas,
    ...(form.source === 'premade' ? { premadeModel: form.model } : { modelId: form.model }),
    ...(form.compute === 'gpu' ? { resources: { gpu: form.gpus } } : {}),
    ...((model?.gpu.recommended.nodes ?? 1) > 1 ? { nodes: model!.gpu.recommended.nodes } : {}),
    ...(Object.keys(labels).length ? { labelSelector: labels } : {}),
  }
}
