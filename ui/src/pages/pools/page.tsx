// Pools and hosts: how many nodes each pool has within its bounds, which hosts are free, and what happened to them.
import { get } from '../../api/client'
import type { Autoscaler, Host, Pool, Timeline } from '../../api/types'
import { useAnswer } from '../../parts/asked'
import { Icon, type IconName } from '../../parts/icon'
import { Loading } from '../../parts/loading'
import { Blank, Panel } from '../../parts/panel'
import { asked, ask } from '../../router'
import { hosts, pools } from '../../state/live'
import { clock, count } from '../../words'
import { Decisions } from './decisions'
import { PoolTimeline } from './timeline'

const FREE = 'Available'
const SHAPES: Record<string, [IconName, string]> = {
  Available: ['ok', 'ok'],
  Claimed: ['work', 'work'],
  Silent: ['unknown', 'off'],
  Cleaning: ['work', 'off'],
  Failed: ['bad', 'bad'],
}
const KEY = [
  ['', 'node'],
  ['x', 'not ready'],
  ['f', 'free host that fits'],
  ['n', 'up to max'],
]
// Beyond this many cells a bar would be a wall.
const MOST_CELLS = 24

export function PoolsPage() {
  const autoscaler = useAnswer((signal) => get<Autoscaler>('/autoscaler', signal), [pools.all.value, hosts.all.value], 300)
  const timeline = useAnswer((signal) => get<Timeline>('/timeline', signal), [pools.all.value, hosts.all.value], 300)
  const all = pools.all.value
  const machines = hosts.all.value
  document.title = 'Pools · Mooring'
  if (!pools.known.value || !hosts.known.value) return <Loading what="pools" rail />
  const free = machines.filter((host) => host.phase === FREE)
  return (
    <main class="page">
      <div class="pagehead">
        <div class="grow">
          <h1 class="vh">Pools</h1>
          <p class="lead">
            {machines.length ? (
              <>
                <b>
                  {machines.length - free.length} of {count(machines.length, 'host')} {machines.length === 1 ? 'is' : 'are'} taken
                </b>
                {all.length ? ` in ${count(all.length, 'pool')}` : ''}, and {free.length === 0 ? 'none is free' : `${free.length} ${free.length === 1 ? 'is' : 'are'} free`}.
              </>
            ) : (
              <b>No hosts are registered.</b>
            )}
          </p>
        </div>
      </div>
      {!all.length && !machines.length ? (
        <Blank title="Hosts become nodes on demand" text="Run the agent on a machine you own: it registers as a host, and a pool claims it when pods need a node.">
          <pre class="code">mooring agent --kubeconfig agent.kubeconfig</pre>
        </Blank>
      ) : (
        <div class="cols">
          <div>
            <PoolTable pools={all} />
            <Hosts hosts={machines} pools={all} />
          </div>
          <div>
            <PoolTimeline timeline={timeline.value} error={timeline.error} pools={all} />
            <Decisions autoscaler={autoscaler.value} error={autoscaler.error} />
          </div>
        </div>
      )}
    </main>
  )
}

function PoolTable({ pools: all }: { pools: readonly Pool[] }) {
  return (
    <section class="panel" aria-label="Pools">
      <header>
        <h2>Pools</h2>
        <span class="row small muted wrap end bounds-key" aria-hidden="true">
          {KEY.map(([kind, name]) => (
            <span class="row">
              <span class="bounds">
                <i class={kind} />
              </span>
              {name}
            </span>
          ))}
        </span>
      </header>
      <div class="scroll">
        <table class="list pool-table">
          <caption class="vh">Pools with their bounds</caption>
          <thead>
            <tr>
              <th>Pool</th>
              <th>Nodes within bounds</th>
              <th class="r">Free hosts</th>
              <th>Autoscaler</th>
            </tr>
          </thead>
          <tbody>
            {all.length === 0 && (
              <tr>
                <td colSpan={4} class="muted">
                  No pool yet.
                </td>
              </tr>
            )}
            {all.map((pool) => (
              <tr key={`${pool.namespace}/${pool.name}`}>
                <td>
                  <a class="med" href={`/?q=${encodeURIComponent(pool.name)}`}>
                    {pool.name}
                  </a>
                  <small>{pool.namespace}</small>
                </td>
                <td>
                  <Bounds pool={pool} />
                  <small>
                    {pool.ready} ready of {pool.target}
                    {pool.max !== '-' ? `, ${pool.min} to ${pool.max}` : ', not scaled'}
                  </small>
                </td>
                <td class="r num free-hosts">{pool.freeHosts}</td>
                <td class="soft">{pool.state}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function Bounds({ pool }: { pool: Pool }) {
  const most = Math.max(Number(pool.max) || 0, pool.target)
  const least = Number(pool.min) || 0
  const free = Math.max(0, Math.min(pool.freeHosts, most - pool.target))
  const cells = Math.min(most, MOST_CELLS)
  const kind = (index: number) => (index < pool.ready ? '' : index < pool.target ? 'x' : index < pool.target + free ? 'f' : 'n')
  return (
    <span class="bounds" role="img" aria-label={`${pool.ready} ready of ${pool.target} nodes, at least ${pool.min}, at most ${pool.max}, ${free} free hosts fit`}>
      {least > 0 && least <= cells && <u style={{ left: `${least * 13 - 2}px` }} />}
      {Array.from({ length: cells }, (_, index) => (
        <i class={kind(index)} />
      ))}
      {most > cells && <span class="muted small">+{most - cells}</span>}
    </span>
  )
}

function Hosts({ hosts: all, pools }: { hosts: readonly Host[]; pools: readonly Pool[] }) {
  const chosen = asked('hosts')
  const states = [...new Set(all.map((host) => host.phase))].sort()
  const shown = all.filter((host) => !chosen || host.phase === chosen)
  return (
    <Panel
      title="Hosts"
      side={
        <span class="seg end scroll" role="group" aria-label="Show hosts">
          <button type="button" aria-pressed={!chosen} onClick={() => ask({ hosts: '' })}>
            All <span class="muted">{all.length}</span>
          </button>
          {states.map((state) => (
            <button type="button" aria-pressed={chosen === state} onClick={() => ask({ hosts: state })}>
              {state} <span class="muted">{all.filter((host) => host.phase === state).length}</span>
            </button>
          ))}
        </span>
      }
    >
      <div class="body">
        {shown.length === 0 ? (
          <p class="muted small">None.</p>
        ) : (
          <ul class="hosts">
            {shown.map((host) => {
              const [icon, tone] = SHAPES[host.phase] ?? ['unknown', 'off']
              return (
                <li key={`${host.namespace}/${host.name}`} class={`host${host.phase === FREE ? ' free' : ''}`} title={what(host)}>
                  <Icon name={icon} tone={tone} title={host.phase} />
                  <b class="ell">{host.name}</b>
                  <small title={host.claimedBy}>{poolOf(host, pools) ?? host.phase.toLowerCase()}</small>
                </li>
              )
            })}
          </ul>
        )}
      </div>
    </Panel>
  )
}

/** The pool that has claimed a host: the claim has its name and two suffixes. */
export function poolOf({ claimedBy, namespace }: Host, pools: readonly Pool[]): string | undefined {
  const [longest] = pools.filter((pool) => pool.namespace === namespace && claimedBy?.startsWith(`${pool.name}-`)).sort((a, b) => b.name.length - a.name.length)
  return longest?.name ?? claimedBy
}

const what = (host: Host): string =>
  [host.os, ...Object.entries(host.capacity).map(([name, amount]) => `${amount} ${name}`), host.silentSince && `silent since ${clock(host.silentSince)}`].filter(Boolean).join(', ')
