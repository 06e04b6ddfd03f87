// All workloads in one table: what each is, how far it is, and why it waits.
import { Blank } from '../../parts/panel'
import { Status } from '../../parts/icon'
import { Loading } from '../../parts/loading'
import { asked, ask } from '../../router'
import { fillOf } from '../../state/colours'
import { workloads } from '../../state/live'
import { ago, brief, count } from '../../words'
import { useNow } from '../../shell/lost-connection'

const ORDER = ['Failed', 'Pending', 'Progressing', 'Unknown', 'Terminating', 'Ready', 'Succeeded']

export function WorkloadList() {
  const now = useNow(true, 10_000)
  const all = workloads.all.value
  const text = asked('q').toLowerCase()
  const kind = asked('kind')
  const kinds = [...new Set(all.map((each) => each.kind))].sort()
  const shown = all
    .filter((each) => (!kind || each.kind === kind) && (!text || `${each.namespace}/${each.name} ${each.state} ${each.message}`.toLowerCase().includes(text)))
    .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || a.namespace.localeCompare(b.namespace) || a.name.localeCompare(b.name))
  document.title = 'Workloads · Mooring'
  const pending = all.filter((each) => each.state === 'Pending').length
  const failed = all.filter((each) => each.state === 'Failed').length
  if (!workloads.known.value) return <Loading what="workloads" />
  if (!all.length)
    return (
      <main class="page">
        <h1 class="vh">Workloads</h1>
        <Blank title="Nothing runs here yet" text="Deploy a model from the catalogue and watch it land, or apply a manifest of your own.">
          <div class="row">
            <a class="btn primary" href="/deploy">
              Deploy a model
            </a>
          </div>
        </Blank>
      </main>
    )
  return (
    <main class="page">
      <div class="pagehead">
        <div>
          <h1 class="vh">Workloads</h1>
          <p class="lead">
            <b>{count(all.length, 'workload')}</b>
            {pending || failed ? `: ${[pending && `${pending} waiting`, failed && `${failed} failed`].filter(Boolean).join(', ')}.` : ', all of them land.'}
          </p>
        </div>
      </div>
      <div class="tools">
        <label class="input">
          <span class="vh">Filter workloads</span>
          <input data-filter placeholder="Filter: name, namespace, pending" autocomplete="off" spellcheck={false} value={asked('q')} onInput={(event) => ask({ q: event.currentTarget.value })} />
          <span class="kbd" aria-hidden="true">
            /
          </span>
        </label>
        <span class="muted small nowrap" role="status">
          {count(shown.length, 'workload')}
        </span>
        <span class="seg end scroll" role="group" aria-label="Kind">
          <button type="button" aria-pressed={!kind} onClick={() => ask({ kind: '' })}>
            All
          </button>
          {kinds.map((each) => (
            <button type="button" aria-pressed={kind === each} onClick={() => ask({ kind: each })}>
              {each}
            </button>
          ))}
        </span>
      </div>
      <section class="panel scroll" aria-label="Workloads">
        <table class="list cards">
          <caption class="vh">Workloads with their state</caption>
          <thead>
            <tr>
              <th>Name</th>
              <th>State</th>
              <th class="r">Pods</th>
              <th class="r">GPUs</th>
              <th>Where, or why not</th>
              <th class="r">Age</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((each) => (
              <tr key={`${each.kind}/${each.namespace}/${each.name}`}>
                <td>
                  <span class="row">
                    {each.gpus > 0 && <i class="sw" style={{ backgroundColor: fillOf(each) }} />}
                    <span>
                      <a class="med" href={`/workloads/${each.kind}/${each.namespace}/${each.name}`}>
                        {each.name}
                      </a>
                      <small>
                        {each.kind}, {each.namespace}
                      </small>
                    </span>
                  </span>
                </td>
                <td>
                  <Status state={each.state} />
                </td>
                <td class="r num">
                  {each.pods.ready} of {each.pods.wanted}
                  <span class="narrow">
                    {' '}
                    {each.pods.wanted === 1 ? 'pod' : 'pods'}
                    {each.gpus ? `, ${count(each.gpus, 'GPU')}` : ''}
                  </span>
                </td>
                <td class="r num gpus">{each.gpus || ''}</td>
                <td class="soft">{each.state === 'Ready' && each.nodes.length ? each.nodes.slice(0, 4).join(', ') + (each.nodes.length > 4 ? ` and ${each.nodes.length - 4} more` : '') : brief(each.message)}</td>
                <td class="r nowrap muted">{ago(each.createdAt, now)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </main>
  )
}
