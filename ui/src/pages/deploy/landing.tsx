// Where it lands, on the fleet itself: pods that would land are dashed hulls on the nodes that take them. A node that is
// chosen says what the placement engine says of it.
import type { Fit, FleetNode } from '../../api/types'
import { Causes } from '../../parts/causes'
import { NodeTile } from '../../parts/node-tile'
import { asked, ask } from '../../router'
import { nodes } from '../../state/live'
import { count } from '../../words'
import { groups } from '../fleet/groups'
import { ChosenNode } from './chosen-node'

// A form is no place for a thousand tiles: groups beyond this many nodes show those that matter.
const MOST_TILES = 40

export function Landing({ fit, name, pointed }: { fit: Fit | undefined; name: string; pointed: readonly string[] | undefined }) {
  const byName = new Map(fit?.nodes.map((node) => [node.name, node]))
  const landing = new Map<string, { name: string; gpus: number }[]>()
  if (pointed) for (const node of pointed) landing.set(node, [{ name, gpus: fit?.placements[0]?.gpus ?? 1 }])
  else for (const each of fit?.placements ?? []) landing.set(each.node, [...(landing.get(each.node) ?? []), { name, gpus: each.gpus }])
  const chosen = asked('node')
  const drawn = groups(nodes.all.value, 'pool')
  const interesting = (node: FleetNode) => landing.has(node.name) || byName.get(node.name)?.fits
  const gpuWorkload = (fit?.placements[0]?.gpus ?? 1) > 0
  return (
    <>
      <div class="draw">
        {drawn
          .filter((group) => !gpuWorkload || group.total > 0)
          .map((group) => {
            const fitting = group.nodes.filter((node) => byName.get(node.name)?.fits).length
            const shown = group.nodes.length > MOST_TILES ? [...group.nodes].sort((a, b) => Number(interesting(b)) - Number(interesting(a))).slice(0, MOST_TILES) : group.nodes
            const inGroup = group.nodes.find((node) => node.name === chosen)
            return (
              <div key={group.name}>
                <div class="ph">
                  <b class="semi">{group.name}</b>
                  <span class="muted">{group.product}</span>
                  <span class="end">{fit ? (fitting ? `fits on ${fitting} of ${group.nodes.length}` : `none of ${group.nodes.length} fits`) : ''}</span>
                </div>
                <div class="nodes">
                  {shown.map((node) => {
                    const answer = byName.get(node.name)
                    const ghosts = landing.get(node.name)
                    return (
                      <NodeTile
                        key={node.name}
                        node={node}
                        selected={node.name === chosen}
                        onSelect={() => ask({ node: node.name === chosen ? '' : node.name })}
                        {...(ghosts ? { ghosts, note: 'lands here', tone: 'hit' as const } : answer && !answer.fits ? { note: brief(node, answer), tone: 'off' as const } : {})}
                      />
                    )
                  })}
                </div>
                {fit && inGroup && <ChosenNode node={inGroup} fit={fit} close={() => ask({ node: '' })} />}
                {group.nodes.length > shown.length && <p class="muted small">and {count(group.nodes.length - shown.length, 'node')} more</p>}
              </div>
            )
          })}
        {gpuWorkload && drawn.some((group) => group.total === 0) && (
          <p class="cpus">
            {drawn
              .filter((group) => group.total === 0)
              .map((group) => group.name)
              .join(', ')}
            <span>{count(drawn.filter((group) => group.total === 0).reduce((sum, group) => sum + group.nodes.length, 0), 'CPU node')} without GPUs, not drawn</span>
          </p>
        )}
      </div>
      {fit?.blocked && <Causes blocked={fit.blocked} />}
    </>
  )
}

/** One word for the tile; the table below has the rest. */
const brief = ({ cordoned }: FleetNode, node: Fit['nodes'][number]): string => (!node.matches ? 'label' : !node.ready ? 'not ready' : cordoned ? 'cordoned' : /taint/.test(node.reason) ? 'taint' : /nsufficient|free/.test(node.reason) ? 'no room' : 'kept off')
