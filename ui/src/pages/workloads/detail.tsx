// One workload: its pods and where they are, why some wait, what would help, and what it said.
import { useComputed } from '@preact/signals'
import { get, post } from '../../api/client'
import { ApiProblem } from '../../api/problem'
import type { Condition, Explained, Explanation, PodStatus, Workload, WorkloadDetail } from '../../api/types'
import { useAnswer } from '../../parts/asked'
import { Causes } from '../../parts/causes'
import { EventList } from '../../parts/event-list'
import { Icon, Status } from '../../parts/icon'
import { Loading } from '../../parts/loading'
import { Blank, Panel, Refused } from '../../parts/panel'
import { Proposals } from '../../parts/proposals'
import { useNow } from '../../shell/lost-connection'
import { fillOf } from '../../state/colours'
import { nodes, workloads } from '../../state/live'
import { ago, brief, count } from '../../words'
import { yaml } from '../../yaml'
import { Actions } from './actions'
import { Logs } from './logs'

export function WorkloadPage({ kind, namespace, name }: { kind: string; namespace: string; name: string }) {
  const now = useNow(true, 10_000)
  // What the list knows changes with the stream; whenever it does, the whole is asked for again.
  const known = useComputed(() => workloads.all.value.find((each) => each.kind === kind && each.namespace === namespace && each.name === name)).value
  const target = `/workloads/${kind}/${namespace}/${name}`
  const answer = useAnswer((signal) => get<WorkloadDetail>(target, signal), [target, known], 60)
  const waits = answer.value?.workload.state === 'Pending'
  // Trying changes out takes the engine a moment: it is asked only where something waits, and again when nodes change.
  const why = useAnswer(async (signal) => (waits ? explained(await post<Explained>('/explain', { kind, namespace, name }, signal)) : []), [target, waits, known, nodes.all.value.length], 200)
  document.title = `${name} · Mooring`
  const gone = answer.error instanceof ApiProblem && answer.error.status === 404 && answer.value !== undefined
  if (gone)
    return (
      <main class="page">
        <h1 class="vh">{name}</h1>
        <Blank title={`${name} is gone`} text={`${kind} ${namespace}/${name} was deleted while you looked at it.`}>
          <div class="row">
            <a class="btn primary" href="/workloads">
              All workloads
            </a>
          </div>
        </Blank>
      </main>
    )
  if (answer.error && !answer.value)
    return (
      <main class="page">
        <h1 class="vh">{name}</h1>
        <Refused asked={`${kind} ${namespace}/${name}`} error={answer.error} retry={answer.again} />
      </main>
    )
  if (!answer.value) return <Loading what={name} rail />
  const { workload, pods, conditions, events, manifest } = answer.value
  // What has found its place needs no help, whatever the last answer was.
  const blocked = (waits ? why.value : undefined)?.find((each) => !each.lands)
  const proposals = blocked?.proposals ?? []
  return (
    <main class="page">
      <div class="pagehead">
        <div class="grow">
          <div class="crumb">
            <a href="/workloads">Workloads</a>
            <Icon name="right" />
            <a href={`/workloads?q=${encodeURIComponent(`${namespace}/`)}`}>{namespace}</a>
          </div>
          <div class="row wrap">
            <h1>{name}</h1>
            <Status state={workload.state} />
          </div>
          <p class="muted">
            {kind}, {workload.pods.ready} of {count(workload.pods.wanted, 'pod')} ready
            {workload.gpus ? `, ${count(workload.gpus, 'GPU')}` : ''}. {brief(workload.message)}
          </p>
        </div>
        <Actions detail={answer.value} changed={answer.again} />
      </div>
      <div class="cols rail-344">
        <div>
          <Panel title={workload.groups ? 'Groups' : 'Pods'} side={<span class="muted small">{count(pods.length, 'pod')}</span>}>
            <Pods workload={workload} pods={pods} />
          </Panel>
          {waits && why.error ? <Panel title="Why it waits"><p class="none small c-wait">{(why.error as Error).message}</p></Panel> : null}
          {blocked && (
            <Panel title="What would help" side={<span class="muted small">{proposals.length ? 'Each was tried out on the cluster as it is now.' : 'No change that was tried would help.'}</span>}>
              <Proposals proposals={proposals} wanted={workload.pods.wanted} onApplied={answer.again} />
            </Panel>
          )}
          {blocked && (
            <Panel title="Why it waits" side={<span class="muted small ell">{blocked.pod}</span>}>
              <Causes blocked={blocked.blocked ?? []} />
            </Panel>
          )}
          <Logs target={target} pods={pods} />
        </div>
        <div>
          <Panel title="Conditions">
            <ul class="cond">
              {conditions.length === 0 && <li class="muted">None yet.</li>}
              {conditions.map((condition) => (
                <li key={condition.type}>
                  <ConditionIcon condition={condition} />
                  <b class="med">
                    {condition.type}
                    {condition.reason ? `: ${condition.reason}` : ''}
                  </b>
                  <time>{condition.lastTransitionTime ? ago(condition.lastTransitionTime, now) : ''}</time>
                  <p>{condition.message}</p>
                </li>
              ))}
            </ul>
          </Panel>
          <Panel title="Events">
            <EventList events={[...events].reverse()} />
          </Panel>
          <details class="panel manifest">
            <summary>Manifest</summary>
            <pre class="code" tabIndex={0} aria-label="Manifest">
              {yaml(manifest)}
            </pre>
          </details>
        </div>
      </div>
    </main>
  )
}

const explained = (answer: Explained): Explanation[] => ('pods' in answer && Array.isArray(answer.pods) ? answer.pods : [answer as Explanation])

// Conditions that say what is going on: where they are false, nothing is, and all is well.
const ACTIVITIES = /^(Progressing|UpdateInProgress|RollingOut|Scaling|Deleting|Paused|Suspended|Disrupt)/

function ConditionIcon({ condition: { type, status } }: { condition: Condition }) {
  const idle = status === 'False' && ACTIVITIES.test(type)
  const [icon, tone] = status === 'True' ? (['ok', 'ok'] as const) : status === 'False' && !idle ? (['wait', 'wait'] as const) : (['unknown', 'off'] as const)
  return <Icon name={icon} tone={tone} title={status} />
}

/** By group where pods are of use only together, with the pods of a group in their order. */
function Pods({ workload, pods }: { workload: Workload; pods: readonly PodStatus[] }) {
  if (!pods.length) return <p class="none small muted">No pod yet.</p>
  const groups = workload.groups?.length ? workload.groups.map((group): [string, PodStatus[]] => [`Group ${group.name}`, pods.filter((pod) => pod.group === group.name)]) : [['', [...pods]] as [string, PodStatus[]]]
  return (
    <>
      {groups.map(([title, members]) => (
        <div class="unit" key={title}>
          {title && (
            <div class="who">
              <b>{title}</b>
              <Status state={members.every((pod) => pod.ready) ? 'Ready' : members.some((pod) => pod.phase === 'Failed') ? 'Failed' : 'Pending'} />
            </div>
          )}
          <div class="pods-grid">
            {members.map((pod) => (
              <div class="pod" key={pod.name}>
                <div class="nm">
                  <b class="ell" title={pod.name}>
                    {pod.name}
                  </b>
                  <span class="end">{pod.node ? <a href={`/?node=${pod.node}`}>{pod.node}</a> : 'no node'}</span>
                </div>
                {pod.node ? (
                  <span class="hull" style={{ backgroundColor: fillOf(workload), height: '28px' }}>
                    {pod.gpus ? count(pod.gpus, 'GPU') : pod.phase}
                  </span>
                ) : (
                  <span class="ghost" style={{ height: '28px' }}>
                    <span>{pod.gpus ? `waits for ${count(pod.gpus, 'GPU')}` : 'waits'}</span>
                  </span>
                )}
                {pod.restarts > 0 && <small class="c-wait">{count(pod.restarts, 'restart')}</small>}
              </div>
            ))}
          </div>
        </div>
      ))}
    </>
  )
}
