// What will happen when the button is pressed: the plan of the manifests, carried out in memory on the cluster as it is.
import { post } from '../../api/client'
import type { Plan, Preview } from '../../api/types'
import { useAnswer } from '../../parts/asked'
import { Panel } from '../../parts/panel'
import { few } from '../../words'

// A plan takes the simulation a moment: it waits until nobody types.
const TYPING_MS = 600

export interface FutureStep { after: number; text: string }

export function Future({ preview, namespace }: { preview: Preview | undefined; namespace: string }) {
  const manifests = preview?.resources.map((each) => each.manifest)
  const plan = useAnswer(
    async (signal) => (manifests ? post<Plan>('/plan', { manifests, namespace }, signal) : undefined),
    [JSON.stringify(manifests ?? []), namespace],
    TYPING_MS,
  )
  if (!plan.value || !preview) return null
  return (
    <Panel title="What will happen" side={<span class="end muted small">{plan.pending ? 'being planned' : 'simulated'}</span>} class="plan">
      <ol>
        {steps(plan.value, preview).map((step) => (
          <li>
            <time>{step.after === 0 ? 'now' : `+${span(step.after)}`}</time>
            <span>{step.text}</span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}

const span = (seconds: number): string => (seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`)

/** Pods that are bound or run at the same moment are one step. */
export function steps(plan: Plan, preview: Preview): FutureStep[] {
  const made = preview.resources.map((each) => `${each.kind} ${each.name}`)
  const found: FutureStep[] = [{ after: 0, text: `${few(made)} ${made.length === 1 ? 'is' : 'are'} created.` }]
  const bound = new Map<number, string[]>()
  const running = new Map<number, string[]>()
  // Other pods that wait are in the plan as well, and none of this form's business.
  const own = plan.pods.filter((pod) => preview.resources.some((each) => pod.pod.split('/').at(-1)!.startsWith(`${each.name}-`)))
  for (const pod of own) {
    const name = pod.pod.split('/').at(-1)!
    if (pod.boundAfterSeconds !== null) bound.set(pod.boundAfterSeconds, [...(bound.get(pod.boundAfterSeconds) ?? []), `${name} is bound to ${pod.node}`])
    if (pod.runningAfterSeconds !== null) running.set(pod.runningAfterSeconds, [...(running.get(pod.runningAfterSeconds) ?? []), name])
  }
  for (const [after, texts] of bound) found.push({ after, text: `${few(texts)}.` })
  for (const [after, names] of running) found.push({ after, text: `${few(names)} ${names.length === 1 ? 'runs' : 'run'}.` })
  const waiting = own.filter((pod) => pod.node === null).map((pod) => pod.pod.split('/').at(-1)!)
  if (waiting.length) found.push({ after: 1, text: `${few(waiting)} ${waiting.length === 1 ? 'stays' : 'stay'} pending.` })
  for (const said of plan.waiting) found.push({ after: 1, text: said })
  return found.sort((a, b) => a.after - b.after)
}
