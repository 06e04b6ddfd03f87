// The end of a pod's log, asked for again every few seconds while it is followed.
import { useEffect, useState } from 'preact/hooks'
import { get } from '../../api/client'
import type { PodStatus } from '../../api/types'
import { useAnswer } from '../../parts/asked'

const EVERY_MS = 2_000
const TAIL = 200
const MOST_PODS = 8

export function Logs({ target, pods }: { target: string; pods: readonly PodStatus[] }) {
  const running = pods.filter((pod) => pod.node)
  const [chosen, choose] = useState('')
  const [following, follow] = useState(true)
  const [round, next] = useState(0)
  const pod = running.find((each) => each.name === chosen) ?? running[0]
  useEffect(() => {
    if (!following) return
    const timer = setInterval(() => next((n) => n + 1), EVERY_MS)
    return () => clearInterval(timer)
  }, [following])
  const answer = useAnswer(
    async (signal) => (pod ? (await get<{ logs: string }>(`${target}/logs?pod=${pod.name}&tailLines=${TAIL}`, signal)).logs : ''),
    [target, pod?.name, round],
  )
  if (!running.length) return null
  return (
    <section class="panel logs" aria-label="Logs">
      <header>
        <h2>Logs</h2>
        <span class="seg scroll" role="group" aria-label="Pod">
          {running.slice(0, MOST_PODS).map((each) => (
            <button type="button" aria-pressed={each === pod} onClick={() => choose(each.name)}>
              {each.name}
            </button>
          ))}
        </span>
        <button type="button" class="btn sm end" onClick={() => follow(!following)}>
          {following ? 'Pause' : 'Follow'}
        </button>
      </header>
      <pre class="code" tabIndex={0} aria-label={`Log of ${pod?.name}`}>
        {answer.error ? (answer.error as Error).message : answer.value || 'It has said nothing yet.'}
      </pre>
    </section>
  )
}
