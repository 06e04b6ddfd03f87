// The timeline of the pools: how many nodes each had, drawn, and what happened to it, in words.
import { useState } from 'preact/hooks'
import type { Moment, Pool, Timeline } from '../../api/types'
import { Panel } from '../../parts/panel'
import { asked, ask } from '../../router'
import { useNow } from '../../shell/lost-connection'
import { clock, day, ended } from '../../words'
import { areaOf, bestSpan, lanes, SPANS, tell, type Lane } from './moments'

const WIDTH = 200
const HEIGHT = 18
const TICKS = 4
const MOST_LANES = 8
// The rest is one press away.
const FIRST = 10
const REDRAWN_MS = 10_000
const MARKS: Record<Moment['kind'], [string, string]> = {
  made: ['•', 'eq'],
  grown: ['↑', 'up'],
  shrunk: ['↓', 'dn'],
  joined: ['+', 'up'],
  left: ['−', 'dn'],
  lost: ['!', 'bad'],
  problem: ['!', 'wait'],
  removed: ['×', 'eq'],
}

export function PoolTimeline({ timeline, error, pools }: { timeline: Timeline | undefined; error: unknown; pools: readonly Pool[] }) {
  const now = useNow(true, REDRAWN_MS).getTime()
  const moments = timeline?.moments ?? []
  const span = asked('span') in SPANS ? asked('span') : bestSpan(moments, now)
  const from = now - SPANS[span]!
  const drawn = lanes(pools, moments, from, now)
  const chosen = asked('pool')
  return (
    <Panel
      title="Timeline"
      side={
        <span class="seg end" role="group" aria-label="How far back">
          {Object.keys(SPANS).map((name) => (
            <button type="button" key={name} aria-pressed={name === span} onClick={() => ask({ span: name })}>
              {name}
            </button>
          ))}
        </span>
      }
    >
      {error && !timeline ? <p class="none small c-wait">{(error as Error).message}</p> : null}
      {timeline?.notes.map((note) => (
        <p class="none small c-wait">{note}</p>
      ))}
      {drawn.length > 0 && <Lanes drawn={drawn} from={from} to={now} chosen={chosen} />}
      {timeline && <Story key={chosen} moments={moments.filter((each) => !chosen || each.pool === chosen)} chosen={chosen} now={now} />}
    </Panel>
  )
}

function Lanes({ drawn, from, to, chosen }: { drawn: readonly Lane[]; from: number; to: number; chosen: string }) {
  const ticks = Array.from({ length: TICKS }, (_, index) => new Date(from + ((to - from) * index) / (TICKS - 1)))
  const far = to - from > SPANS['24 h']!
  return (
    <div class="lanes">
      {drawn.slice(0, MOST_LANES).map((lane) => (
        <button type="button" key={lane.key} class={lane.gone ? 'gone' : ''} aria-pressed={lane.name === chosen} title={`Only ${lane.name}`} onClick={() => ask({ pool: lane.name === chosen ? '' : lane.name })}>
          <span class="ell">{lane.name}</span>
          <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
            <path d={areaOf(lane, from, to, WIDTH, HEIGHT)} vector-effect="non-scaling-stroke" />
          </svg>
          {lane.marks.map((mark) => (
            <i class="mark" style={{ '--at': (mark.at - from) / (to - from) }} title={mark.text} />
          ))}
          <b>
            {lane.gone ? 'gone' : lane.now}
            <span class="vh">{lane.gone ? '' : lane.now === 1 ? ' node now' : ' nodes now'}, at most {lane.most} in this time</span>
          </b>
        </button>
      ))}
      <div class="ticks" aria-hidden="true">
        {ticks.map((tick) => (
          <span>{far ? day(tick) : clock(tick)}</span>
        ))}
      </div>
      {drawn.length > MOST_LANES && <p class="muted small">and {drawn.length - MOST_LANES} more pools</p>}
    </div>
  )
}

function Story({ moments, chosen, now }: { moments: readonly Moment[]; chosen: string; now: number }) {
  const [all, showAll] = useState(false)
  const told = tell(moments)
  if (!told.length) return <p class="none small muted">{chosen ? `Nothing is known to have happened in ${chosen}.` : 'Nothing has happened yet.'}</p>
  return (
    <>
      <ol class="dec">
        {(all ? told : told.slice(0, FIRST)).map((each) => {
          const [mark, tone] = MARKS[each.kind]
          return (
            <li key={each.key}>
              <span class={`mk ${tone}`} aria-hidden="true">
                {mark}
              </span>
              <div class="h">
                <b class="ell">{each.pool || 'no pool'}</b>
                <time dateTime={each.time}>{now - new Date(each.time).getTime() > SPANS['24 h']! ? day(each.time) : clock(each.time)}</time>
              </div>
              <p>{ended(each.text)}</p>
            </li>
          )
        })}
      </ol>
      {!all && told.length > FIRST && (
        <button type="button" class="btn sm quiet more" onClick={() => showAll(true)}>
          All {told.length}
        </button>
      )}
    </>
  )
}
