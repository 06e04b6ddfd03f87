// The fleet: every GPU and who holds it, what is free, and what waits.
import { useComputed, useSignal } from '@preact/signals'
import type { ClusterEvent, FleetNode, WorkloadRef } from '../../api/types'
import { Icon } from '../../parts/icon'
import { Blank } from '../../parts/panel'
import { asked, ask } from '../../router'
import { dressOf } from '../../state/colours'
import { events, nodes, waiting } from '../../state/live'
import { brief, clock, count, number } from '../../words'
import { DensePanel } from './dense'
import { filterOf } from './filter'
import { groups, type GroupBy } from './groups'
import { Inspector } from './inspector'
import { PoolPanel } from './pool-panel'
import { Skeleton } from './skeleton'
import { lead, named, summarise, type Summary } from './summary'

// From here on tiles would be a long walk.
const DENSE_FROM = 100
const GROUPINGS: [GroupBy, string][] = [['pool', 'Pool'], ['zone', 'Zone'], ['gpu', 'GPU']]

export function Fleet() {
  const all = nodes.all.value
  const sum = useComputed(() => summarise(nodes.all.value)).value
  const lit = useSignal<WorkloadRef | undefined>(undefined)
  const by = asked('by', 'pool') as GroupBy
  const view = asked('view', all.length > DENSE_FROM ? 'dense' : 'tiles')
  const text = asked('q')
  const selected = asked('node')
  const matches = filterOf(text)
  const hits = matches ? all.filter(matches).length : all.length
  const node = all.find((each) => each.name === selected)
  const select = (each: FleetNode) => ask({ node: each.name === selected ? '' : each.name })
  document.title = 'Fleet · Mooring'
  if (!nodes.known.value) return <Skeleton />
  if (all.length === 0)
    return (
      <main class="page">
        <Lead sum={sum} />
        <Blank title="Bring your first machine" text="Run the agent on a machine you own and it appears here as a host, or start with simulated nodes to try things out.">
          <pre class="code">{'mooring agent --kubeconfig agent.kubeconfig\nmooring up --fleet examples/fleets/lab.yaml'}</pre>
        </Blank>
      </main>
    )
  const parts = groups(all, by)
  return (
    <main class="page" onKeyDown={(event) => event.key === 'Escape' && selected && ask({ node: '' })}>
      <Lead sum={sum} />
      {sum.total > 0 && <Whole sum={sum} lit={lit.value} light={(workload) => (lit.value = workload)} />}
      <div class="tools">
        <label class="input">
          <Icon name="search" />
          <span class="vh">Filter nodes</span>
          <input
            data-filter
            placeholder="Filter: mistral, free>=4, is:cordoned"
            autocomplete="off"
            spellcheck={false}
            value={text}
            onInput={(event) => ask({ q: event.currentTarget.value })}
            onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
          />
          <span class="kbd" aria-hidden="true">
            /
          </span>
        </label>
        <span class="muted small nowrap" role="status">
          {matches ? `${number(hits)} of ${count(all.length, 'node')}` : count(all.length, 'node')}
        </span>
        <span class="row end grp">
          <span class="muted small">Group by</span>
          <span class="seg" role="group" aria-label="Group by">
            {GROUPINGS.map(([name, title]) => (
              <button type="button" aria-pressed={by === name} onClick={() => ask({ by: name === 'pool' ? '' : name })}>
                {title}
              </button>
            ))}
          </span>
        </span>
        <span class="seg" role="group" aria-label="Drawing">
          <button type="button" aria-pressed={view === 'tiles'} onClick={() => ask({ view: 'tiles' })}>
            <Icon name="tiles" />
            Tiles
          </button>
          <button type="button" aria-pressed={view === 'dense'} onClick={() => ask({ view: 'dense' })}>
            <Icon name="dense" />
            Dense
          </button>
        </span>
      </div>
      <div class="split">
        <div>
          {view === 'dense' ? (
            <div class="denses">
              {parts.map((group) => (
                <DensePanel key={group.name} group={group} matches={matches} lit={lit.value} onSelect={select} />
              ))}
            </div>
          ) : (
            <div class="pools">
              {parts.map((group) => (
                <PoolPanel key={group.name} group={group} selected={selected} matches={matches} lit={lit.value} onSelect={select} />
              ))}
            </div>
          )}
          <Key />
        </div>
        <aside class="rail" aria-label="Details">
          {node && <Inspector node={node} close={() => ask({ node: '' })} />}
          {sum.total === 0 && <GpusMissing />}
          <Waiting />
          <LastChanges />
        </aside>
      </div>
    </main>
  )
}

function Lead({ sum }: { sum: Summary }) {
  const { strong, rest } = lead(sum)
  return (
    <div class="pagehead">
      <div>
        <h1 class="vh">Fleet</h1>
        <p class="lead">
          <b>{strong}</b>
          {rest}
        </p>
      </div>
      {sum.total > 0 && (
        <dl class="fits" aria-label="Pods that fit right now, by GPUs per pod">
          <div class="cap">
            <dt>
              Pods that
              <br />
              fit now
            </dt>
            <dd class="vh">by GPUs per pod</dd>
          </div>
          {sum.fits.map(({ gpus, pods }) => (
            <div>
              <dt>{count(gpus, 'GPU')}</dt>
              <dd>{number(pods)}×</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  )
}

/** All GPUs as one bar, and who holds them; pointing at a workload finds it in the drawing. */
function Whole({ sum, lit, light }: { sum: Summary; lit: WorkloadRef | undefined; light: (workload: WorkloadRef | undefined) => void }) {
  const held = sum.total - sum.free - sum.outOfReach
  const { shown, others, gpus: theirs } = named(sum.holders)
  return (
    <>
      <div class="whole" role="img" aria-label={`${count(sum.total, 'GPU')}: ${number(held)} held, ${number(sum.free)} free, ${number(sum.outOfReach)} out of reach`}>
        {shown.map(({ workload, gpus }) => (
          <span style={{ flex: gpus, backgroundColor: `var(--w${dressOf(workload).fill})` }} />
        ))}
        {others > 0 && <span class="others" style={{ flex: theirs }} />}
        {sum.free > 0 && <span class="free" style={{ flex: sum.free }} />}
        {sum.outOfReach > 0 && <span class="out" style={{ flex: sum.outOfReach }} />}
      </div>
      <div class="legend" role="group" aria-label="Workloads that hold GPUs; focus one to find it">
        {shown.map(({ workload, gpus }) => (
          <a
            class="wl"
            href={`/workloads/${workload.kind}/${workload.namespace}/${workload.name}`}
            aria-current={lit === workload ? 'true' : undefined}
            onMouseEnter={() => light(workload)}
            onMouseLeave={() => light(undefined)}
            onFocus={() => light(workload)}
            onBlur={() => light(undefined)}
          >
            <span class="code3" style={{ backgroundColor: `var(--w${dressOf(workload).fill})` }} aria-hidden="true">
              {dressOf(workload).code}
            </span>
            {workload.name}
            <span class="n">{number(gpus)}</span>
          </a>
        ))}
        {others > 0 && (
          <a class="wl" href="/workloads">
            {count(others, 'other workload')}
            <span class="n">{number(theirs)}</span>
          </a>
        )}
      </div>
    </>
  )
}

const Key = () => (
  <div class="key">
    <span>
      <i class="hull" style={{ backgroundColor: 'var(--w1)' }} />
      held, one bar per pod
    </span>
    <span>
      <i class="berth" />
      free
    </span>
    <span class="shut">
      <i class="berth" />
      free, out of reach
    </span>
    <span>
      <Icon name="cordon" tone="wait" />
      cordoned
    </span>
    <span>
      <Icon name="down" tone="bad" />
      not ready
    </span>
    <span class="end">A berth is a count, not a device number.</span>
  </div>
)

const GpusMissing = () => (
  <section class="panel waiting" aria-label="GPUs missing?">
    <header>
      <h2>GPUs missing?</h2>
    </header>
    <ul>
      <li>
        <p>
          No node offers <code>nvidia.com/gpu</code>. If a machine has cards, its driver or device plugin is not running yet.
        </p>
      </li>
    </ul>
  </section>
)

function Waiting() {
  const list = waiting.value
  const gpus = list.reduce((sum, each) => sum + each.gpus, 0)
  return (
    <section class="panel waiting" aria-label="Waiting">
      <header>
        <h2>Waiting</h2>
        <span class="end">{list.length ? `${count(list.length, 'workload')}${gpus ? `, ${count(gpus, 'GPU')}` : ''}` : 'nothing'}</span>
      </header>
      <ul>
        {list.slice(0, 6).map((each) => (
          <li key={`${each.kind}/${each.namespace}/${each.name}`}>
            <div class="t">
              <Icon name="wait" tone="wait" />
              <a class="ell" href={`/workloads/${each.kind}/${each.namespace}/${each.name}`}>
                {each.name}
              </a>
              {each.gpus > 0 && <span class="end nowrap">{count(each.gpus, 'GPU')}</span>}
            </div>
            <p>{brief(each.message)}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}

// What every pod says on its way to running is no news.
const isNews = (event: ClusterEvent): boolean => (event.object.kind !== 'Pod' && event.reason !== 'SuccessfulCreate') || (event.type === 'Warning' && event.reason !== 'FailedScheduling')

function LastChanges() {
  const list = events.all.value.filter(isNews).sort((a, b) => (a.lastSeen < b.lastSeen ? 1 : -1)).slice(0, 6)
  return (
    <section class="panel feed" aria-label="Last changes">
      <header>
        <h2>Last changes</h2>
      </header>
      <ul>
        {list.map((event) => (
          <li key={event.id}>
            <time dateTime={event.lastSeen}>{clock(event.lastSeen)}</time>
            <span>
              <b class="med">{event.object.name}</b> {brief(event.message)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
