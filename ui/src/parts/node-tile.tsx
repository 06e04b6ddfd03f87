// One node as a button: its name, what differs from its pool, and its berths.
import type { FleetNode, WorkloadRef } from '../api/types'
import { Icon } from './icon'
import { details, Meters, Quay, type Ghost } from './quay'

export function Freedom({ node }: { node: FleetNode }) {
  if (!node.ready) return <>not ready</>
  if (node.cordoned) return <>cordoned</>
  if (!node.gpu.total) return <>0 GPUs</>
  if (!node.gpu.free) return <>full</>
  return (
    <>
      <b>{node.gpu.free}</b> free
    </>
  )
}

export interface TileProps {
  node: FleetNode
  selected?: boolean
  dim?: boolean
  lit?: WorkloadRef | undefined
  ghosts?: readonly Ghost[]
  note?: string
  tone?: 'hit' | 'off'
  focusable?: boolean
  onSelect?: () => void
}

export function NodeTile({ node, selected, dim, lit, ghosts, note, tone, focusable = true, onSelect }: TileProps) {
  const classes = ['node', 'fadeable']
  if (!node.ready || node.cordoned) classes.push('shut')
  if (!node.ready) classes.push('lost')
  if (dim) classes.push('dim')
  if (tone) classes.push(tone)
  return (
    <button
      type="button"
      class={classes.join(' ')}
      data-node={node.name}
      aria-pressed={selected ?? false}
      tabIndex={focusable ? 0 : -1}
      onClick={onSelect}
    >
      <span class="nm">
        <span class="ell">{node.name}</span>
        {!node.ready ? <Icon name="down" tone="bad" title="not ready" /> : node.cordoned ? <Icon name="cordon" tone="wait" title="cordoned" /> : null}
        <span class="fr">{note ?? <Freedom node={node} />}</span>
      </span>
      <span aria-hidden="true">{node.gpu.total ? <Quay node={node} lit={lit} {...(ghosts ? { ghosts } : {})} /> : <Meters node={node} />}</span>
      <span class="vh">{details(node)}</span>
    </button>
  )
}
