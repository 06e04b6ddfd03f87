// Events as a line of time: the newest first, repeated ones counted.
import { useState } from 'preact/hooks'
import type { ClusterEvent } from '../api/types'
import { brief, clock, ended, number } from '../words'

// The rest is one press away.
const FIRST = 12

export function EventList({ events }: { events: readonly ClusterEvent[] }) {
  const [all, showAll] = useState(false)
  if (!events.length) return <p class="muted small none">No events.</p>
  return (
    <ol class="ev">
      {(all ? events : events.slice(0, FIRST)).map((event) => (
        <li key={event.id} class={event.type === 'Warning' ? 'w' : ''}>
          <time dateTime={event.lastSeen}>{clock(event.lastSeen)}</time>
          <div>
            <b>{event.reason}</b>
            <p>
              {event.count > 1 ? `${ended(brief(event.message))} Seen ${number(event.count)} times.` : brief(event.message)}
            </p>
          </div>
        </li>
      ))}
      {!all && events.length > FIRST && (
        <li class="more">
          <button type="button" class="btn sm quiet" onClick={() => showAll(true)}>
            All {events.length}
          </button>
        </li>
      )}
    </ol>
  )
}
