// Events as a line of time: the newest first, repeated ones counted.
import type { ClusterEvent } from '../api/types'
import { brief, clock, number } from '../words'

export function EventList({ events }: { events: readonly ClusterEvent[] }) {
  if (!events.length) return <p class="muted small none">No events.</p>
  return (
    <ol class="ev">
      {events.map((event) => (
        <li key={event.id} class={event.type === 'Warning' ? 'w' : ''}>
          <time dateTime={event.lastSeen}>{clock(event.lastSeen)}</time>
          <div>
            <b>{event.reason}</b>
            <p>
              {brief(event.message)}
              {event.count > 1 ? ` Seen ${number(event.count)} times.` : ''}
            </p>
          </div>
        </li>
      ))}
    </ol>
  )
}
