// Notebook jobs, and one job with its cells and its difference from the golden notebook.
import { get } from '../../api/client'
import type { Cell, CellDifference, NotebookDetail, NotebookJob, State } from '../../api/types'
import { useAnswer } from '../../parts/asked'
import { EventList } from '../../parts/event-list'
import { Icon, Status, type IconName } from '../../parts/icon'
import { Loading } from '../../parts/loading'
import { Blank, Panel, Refused } from '../../parts/panel'
import { useNow } from '../../shell/lost-connection'
import { events, notebooks } from '../../state/live'
import { ago, count } from '../../words'

export function NotebookList() {
  const now = useNow(true, 10_000)
  const all = notebooks.all.value
  document.title = 'Notebooks · Mooring'
  if (!notebooks.known.value) return <Loading what="notebooks" />
  if (!all.length)
    return (
      <main class="page">
        <h1 class="vh">Notebooks</h1>
        <Blank title="No notebook was validated yet" text="A NotebookValidationJob runs a notebook on the nodes that fit it, cell by cell, and compares it with a golden one.">
          <pre class="code">kubectl apply -f examples/notebook-hello.yaml</pre>
        </Blank>
      </main>
    )
  const failed = all.filter((job) => stateOf(job) === 'Failed').length
  return (
    <main class="page">
      <div class="pagehead">
        <div>
          <h1 class="vh">Notebooks</h1>
          <p class="lead">
            <b>{count(all.length, 'notebook job')}</b>
            {failed ? `, ${failed} of them failed.` : ', none failed.'}
          </p>
        </div>
      </div>
      <section class="panel scroll" aria-label="Notebook jobs">
        <table class="list cards">
          <caption class="vh">Notebook jobs with their cells</caption>
          <thead>
            <tr>
              <th>Name</th>
              <th>State</th>
              <th>Cells</th>
              <th>What it says</th>
              <th class="r">Age</th>
            </tr>
          </thead>
          <tbody>
            {all.map((job) => (
              <tr key={`${job.namespace}/${job.name}`}>
                <td>
                  <a class="med" href={`/notebooks/${job.namespace}/${job.name}`}>
                    {job.name}
                  </a>
                  <small>{job.namespace}</small>
                </td>
                <td>
                  <Status state={stateOf(job)}>{job.phase}</Status>
                </td>
                <td class="num nowrap">
                  {cells(job)}
                </td>
                <td class="soft">{job.message}</td>
                <td class="r nowrap muted">{ago(job.createdAt, now)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </main>
  )
}

const cells = ({ cells: { total, succeeded, failed } }: NotebookJob): string => (total ? `${succeeded} of ${count(total, 'cell')} passed${failed ? `, ${failed} failed` : ''}` : '')

const STATES: Record<string, State> = { Pending: 'Pending', Running: 'Progressing', Succeeded: 'Succeeded', Failed: 'Failed' }
const stateOf = (job: NotebookJob): State => STATES[job.phase] ?? 'Progressing'

const SHAPES: Record<string, [IconName, string, string]> = {
  Success: ['ok', 'ok', 'passed'],
  Failure: ['bad', 'bad', 'failed'],
  Skipped: ['unknown', 'off', 'skipped'],
  Running: ['work', 'work', 'running'],
}

export function NotebookPage({ namespace, name }: { namespace: string; name: string }) {
  const known = notebooks.all.value.find((job) => job.namespace === namespace && job.name === name)
  const answer = useAnswer((signal) => get<NotebookDetail>(`/notebooks/${namespace}/${name}`, signal), [namespace, name, known], 60)
  document.title = `${name} · Mooring`
  if (answer.error && !answer.value)
    return (
      <main class="page">
        <h1 class="vh">{name}</h1>
        <Refused asked={`the notebook job ${namespace}/${name}`} error={answer.error} retry={answer.again} />
      </main>
    )
  if (!answer.value) return <Loading what={name} rail />
  const { job, cells: ran, comparison } = answer.value
  const about = events.all.value
    .filter(({ object }) => object.namespace === namespace && (object.name === name || object.name === job.pod))
    .sort((a, b) => b.lastSeen.localeCompare(a.lastSeen))
  return (
    <main class="page">
      <div class="pagehead">
        <div class="grow">
          <div class="crumb">
            <a href="/notebooks">Notebooks</a>
            <Icon name="right" />
            {namespace}
          </div>
          <div class="row wrap">
            <h1>{name}</h1>
            <Status state={stateOf(job)}>{job.phase}</Status>
          </div>
          <p class="muted">{[job.notebook, cells(job), job.message].filter(Boolean).join('. ')}</p>
        </div>
      </div>
      <div class="cols rail-344">
        <div>
          <Panel title="Cells" side={<span class="muted small">{count(ran.length, 'cell')}</span>}>
            <ol class="cells">
              {ran.map((cell) => (
                <CellRow key={cell.cellIndex} cell={cell} difference={comparison?.diffs.find((each) => each.cellIndex === cell.cellIndex)} />
              ))}
              {!ran.length && <li class="muted">No cell has run yet.</li>}
            </ol>
          </Panel>
        </div>
        <div>
          {comparison && (
            <Panel title="Golden notebook" side={<Status state={comparison.result === 'matched' ? 'Succeeded' : comparison.result === 'failed' ? 'Failed' : 'Unknown'}>{comparison.result}</Status>}>
              <p class="none small soft">
                {comparison.matchedCells} of {count(comparison.totalCells, 'cell')} alike, compared {comparison.strategy}.
              </p>
            </Panel>
          )}
          <Panel title="Events">
            <EventList events={about} />
          </Panel>
        </div>
      </div>
    </main>
  )
}

function CellRow({ cell, difference }: { cell: Cell; difference: CellDifference | undefined }) {
  const [shape, colour, said] = SHAPES[cell.status] ?? ['unknown', 'off', cell.status]
  // What ran and came out otherwise is not all well.
  const [icon, tone]: [IconName, string] = difference && cell.status === 'Success' ? ['wait', 'wait'] : [shape, colour]
  return (
    <li>
      <span class="ix">[{cell.cellIndex}]</span>
      <span class={`state small c-${tone}`}>
        <Icon name={icon} />
        {said}
        {difference ? ', differs' : ''}
      </span>
      <span class="end muted small">{cell.executionTime}</span>
      {cell.errorMessage && <pre class="code c-bad">{cell.errorMessage}</pre>}
      {!cell.errorMessage && !difference && cell.output && <pre class="code">{cell.output}</pre>}
      {difference && (
        <pre class="code" aria-label="Difference from the golden notebook">
          {difference.expected && <span class="del">- {difference.expected}</span>}
          {difference.actual && <span class="add">+ {difference.actual}</span>}
        </pre>
      )}
    </li>
  )
}
