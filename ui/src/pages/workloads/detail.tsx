// One workload: its pods and where they are, why some wait, what would help, and what it said.
import { useComputed } from '@preact/signals'
import { get } from '../../api/client'
import type { PodStatus, WorkloadDetail } from '../../api/types'
import { useAnswer } from '../../parts/asked'
import { Causes } from '../../parts/causes'
import { EventList } from '../../parts/event-list'
import { Icon, Status } from '../../parts/icon'
import { Panel, Refused } from '../../parts/panel'
import { Proposals } from '../../parts/proposals'
import { useNow } from '../../shell/lost-connection'
import { fillOf } from '../../state/colours'
import { workloads } from '../../state/live'
import { ago, count } from '../../words'
import { Logs } from './logs'

export function WorkloadPage({ kind, namespace, name }: { kind: string; namespace: string; name: string }) {
  const now = useNow(true, 10_000)
  // What the list knows changes with the stream; whenever it does, the whole is asked for again.
  const known = useComputed(() => workloads.get(`${kind}/${namespace}/${name}`) ?? workloads.all.value.length).value
  const target = `/workloads/${kind}/${namespace}/${name}`
  const answer = useAnswer((signal) => get<WorkloadDetail>(target, signal), [target, known], 60)
  document.title = `${name} · Mooring`
  if (answer.error && !answer.value)
    return (
      <main class="page">
        <h1 class="vh">{name}</h1>
        <Refused asked={`${kind} ${namespace}/${name}`} error={answer.error} retry={answer.again} />
      </main>
    )
  const workload = answer.value
  if (!workload) return <main class="page" aria-busy="true" />
  const advice = workload.explanation?.advice ?? []
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
            {workload.gpus ? `, ${count(workload.gpus, 'GPU')}` : ''}. {workload.message}
          </p>
        </div>
      </div>
      <div class="cols rail-344">
        <div>
          <Panel title="Pods" side={<span class="muted small">{count(workload.podList.length, 'pod')}</span>}>
            <Pods workload={workload} />
          </Panel>
          {workload.explanation && !workload.explanation.lands && (
            <Panel title="Why it waits" side={<span class="muted small">{workload.explanation.pod}</span>}>
              <Causes blocked={workload.explanation.blocked ?? []} />
            </Panel>
          )}
          {advice.length > 0 && (
            <Panel title="What would help" side={<span class="muted small">Each was tried out on the cluster as it is now.</span>}>
              <Proposals proposals={advice} onApplied={answer.again} />
            </Panel>
          )}
          <Logs target={target} pods={workload.podList} />
        </div>
        <div>
          <Panel title="Conditions">
            <ul class="cond">
              {workload.conditions.length === 0 && <li class="muted">None yet.</li>}
              {workload.conditions.map((condition) => (
                <li key={condition.type}>
                  <Icon name={condition.status === 'True' ? 'ok' : condition.status === 'False' ? 'wait' : 'unknown'} tone={condition.status === 'True' ? 'ok' : condition.status === 'False' ? 'wait' : 'off'} title={condition.status} />
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
            <EventList events={workload.events} />
          </Panel>
        </div>
      </div>
    </main>
  )
}

function Pods({ workload }: { workload: WorkloadDetail }) {
  const groups = new Map<string, PodStatus[]>()
  for (const pod of workload.podList) {
    const key = pod.group === undefined ? '' : `Group ${pod.group}`
    groups.set(key, [...(groups.get(key) ?? []), pod])
  }
  return (
    <>
      {[...groups].map(([title, pods]) => (
        <div class="grp">
          {title && (
            <div class="who">
              <b>{title}</b>
              <Status state={pods.every((pod) => pod.ready) ? 'Ready' : pods.some((pod) => pod.phase === 'Failed') ? 'Failed' : 'Pending'} />
            </div>
          )}
          <div class="pods-grid">
            {pods.map((pod) => (
              <div class="pod" key={pod.name}>
                <div class="nm">
                  <b class="ell">{pod.name}</b>
                  <span class="end">{pod.node ? <a href={`/?node=${pod.node}`}>{pod.node}</a> : 'no node'}</span>
                </div>
                {pod.node ? (
                  <span class="hull" style={{ backgroundColor: fillOf(workload), height: '28px' }}>
                    {[pod.role, pod.gpus ? count(pod.gpus, 'GPU') : pod.phase].filter(Boolean).join(', ')}
                  </span>
                ) : (
                  <span class="ghost" style={{ height: '28px' }}>
                    <span>{pod.reason ?? 'waits'}</span>
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
