// One group of nodes as tiles. Rows have a fixed height, so those out of view need not exist and scrolling never jumps.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { FleetNode, WorkloadRef } from '../../api/types'
import { NodeTile } from '../../parts/node-tile'
import { count } from '../../words'
import { taintText, type Group } from './groups'
import type { Matches } from './filter'

const ROW_PX = 47 + 17
// Below this a browser draws all of them without noticing.
const VIRTUAL_FROM = 60
const BEYOND_VIEW_PX = 600

interface Props {
  group: Group
  selected: string
  matches: Matches | undefined
  lit: WorkloadRef | undefined
  onSelect: (node: FleetNode) => void
}

export function PoolPanel(props: Props) {
  const { group } = props
  const small = group.nodes.length <= 2
  const sum = group.total ? (
    <>
      <b>{group.free}</b> of {group.total} free{group.largest > 0 && !small ? <>, largest block <b>{group.largest}</b></> : null}
    </>
  ) : (
    count(group.nodes.length, 'node')
  )
  return (
    <section class={`panel pool ${small ? (group.nodes.length === 2 ? 's4' : 's2') : 'wide'}`} aria-label={`${group.name}, ${count(group.nodes.length, 'node')}`}>
      <header>
        <span class="l1">
          <h2 class="ell">{group.name}</h2>
          {!small && (
            <span class="meta">
              {count(group.nodes.length, 'node')}
              {group.product ? ` · ${group.product}` : group.total ? '' : ' · no GPUs'}
            </span>
          )}
          {!small && group.taints.map((taint) => <TaintChip text={taintText(taint)} />)}
          <span class="free">{sum}</span>
        </span>
        {small && group.taints.map((taint) => <TaintChip text={taintText(taint)} />)}
      </header>
      <div class="body">{group.nodes.length > VIRTUAL_FROM ? <VirtualTiles {...props} /> : <Tiles {...props} nodes={group.nodes} />}</div>
    </section>
  )
}

const TaintChip = ({ text }: { text: string }) => (
  <span class="chip clip" title={text}>
    <span class="pre">taint</span>
    {text}
  </span>
)

/** One tab stop for the whole group; arrow keys go between nodes. */
function Tiles({ nodes, selected, matches, lit, onSelect, first = 0 }: Props & { nodes: readonly FleetNode[]; first?: number }) {
  const stop = nodes.some((node) => node.name === selected) ? selected : nodes[0]?.name
  return (
    <div class="nodes" onKeyDown={move} data-first={first}>
      {nodes.map((node) => (
        <NodeTile
          key={node.name}
          node={node}
          selected={node.name === selected}
          dim={matches ? !matches(node) : false}
          lit={lit}
          focusable={node.name === stop}
          onSelect={() => onSelect(node)}
        />
      ))}
    </div>
  )
}

function move(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const tiles = [...event.currentTarget.querySelectorAll<HTMLElement>('.node')]
  const here = tiles.indexOf(document.activeElement as HTMLElement)
  if (here < 0) return
  const columns = tiles.filter((tile) => tile.offsetTop === tiles[0]!.offsetTop).length
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key]
  if (!step) return
  event.preventDefault()
  tiles[Math.min(tiles.length - 1, Math.max(0, here + step))]?.focus()
}

function VirtualTiles(props: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ columns: 5, from: 0, to: 12 })
  const { nodes } = props.group
  useLayoutEffect(() => {
    const look = () => {
      const place = box.current?.getBoundingClientRect()
      if (!place) return
      const columns = Math.max(1, matchMedia('(max-width: 720px)').matches ? 2 : Math.floor((place.width + 20) / (148 + 20)))
      const from = Math.max(0, Math.floor((-place.top - BEYOND_VIEW_PX) / ROW_PX))
      const to = Math.ceil((innerHeight - place.top + BEYOND_VIEW_PX) / ROW_PX)
      setView((old) => (old.columns === columns && old.from === from && old.to === to ? old : { columns, from, to }))
    }
    look()
    addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    return () => {
      removeEventListener('scroll', look)
      removeEventListener('resize', look)
    }
  }, [nodes.length])
  const rows = Math.ceil(nodes.length / view.columns)
  const shown = nodes.slice(view.from * view.columns, Math.max(0, view.to) * view.columns)
  return (
    <div ref={box} style={{ height: `${rows * ROW_PX - 17}px` }}>
      <div style={{ transform: `translateY(${Math.min(view.from, rows) * ROW_PX}px)`, '--columns': view.columns }} class="virtual">
        <Tiles {...props} nodes={shown} first={view.from * view.columns} />
      </div>
    </div>
  )
}
