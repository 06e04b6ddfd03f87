// One node in full: who lies there, what is free, what fits there and what keeps others off.
import type { FleetNode } from '../../api/types'
import { Icon } from '../../parts/icon'
import { hulls, Meters, Quay } from '../../parts/quay'
import { fillOf } from '../../state/colours'
import { cores, count, memory } from '../../words'
import { taintText } from './groups'
import { WhatFits } from './what-fits'

const SHOWN_LABELS = /gpu|accelerator|zone|instance-type|pool|node-group/
const MOST_LABELS = 6

export function Inspector({ node, close }: { node: FleetNode; close: () => void }) {
  const labels = Object.entries(node.labels).filter(([key]) => SHOWN_LABELS.test(key))
  return (
    <section class="panel insp" aria-label={`Node ${node.name}`}>
      <header>
        <h2 class="ell">{node.name}</h2>
        {!node.ready ? (
          <span class="state c-bad">
            <Icon name="down" />
            Not ready
          </span>
        ) : node.cordoned ? (
          <span class="state c-wait">
            <Icon name="cordon" />
            Cordoned
          </span>
        ) : (
          <span class="state c-ok">
            <Icon name="ok" />
            Ready
          </span>
        )}
        <span class="end muted small">{node.zone}</span>
        <button type="button" class="btn icon sm quiet" aria-label="Close" onClick={close}>
          <Icon name="x" />
        </button>
      </header>
      <div class={`body${!node.ready || node.cordoned ? ' shut' : ''}`}>
        {node.gpu.total ? <Quay node={node} /> : <Meters node={node} />}
        <ul class="pods">
          {hulls(node.gpu.slots).map((hull) => (
            <li>
              <i class="sw" style={{ backgroundColor: fillOf(hull.workload) }} />
              <a class="ell" href={`/workloads/${hull.workload.kind}/${hull.workload.namespace}/${hull.workload.name}`} title={`${hull.namespace}/${hull.pod}`}>
                {hull.pod}
              </a>
              <span class="end nowrap">{count(hull.gpus, 'GPU')}</span>
            </li>
          ))}
        </ul>
        <dl class="kv">
          <dt>GPUs</dt>
          <dd>
            {node.gpu.total ? (
              <>
                <b class="semi">{node.gpu.free} free</b> of {node.gpu.total}
                {node.gpu.product ? `, ${node.gpu.product.replaceAll('-', ' ')}` : ''}
              </>
            ) : (
              'none'
            )}
          </dd>
          <dt>CPU</dt>
          <dd>
            {cores(node.cpu.free)} free of {cores(node.cpu.total)}
          </dd>
          <dt>Memory</dt>
          <dd>
            {memory(node.memory.free)} free of {memory(node.memory.total)}
          </dd>
          <dt>Pods</dt>
          <dd>{node.pods}</dd>
        </dl>
        <WhatFits node={node} />
        <div class="labs">
          {node.taints.map((taint) => (
            <span class="chip clip" title={taintText(taint)}>
              <span class="pre">taint</span>
              {taintText(taint)}
            </span>
          ))}
          {labels.slice(0, MOST_LABELS).map(([key, value]) => (
            <span class="chip clip" title={`${key}=${value}`}>
              {key}={value}
            </span>
          ))}
        </div>
      </div>
    </section>
  )
}
