// A thousand nodes at once: a strip of cells a node, one canvas a group, drawn again only when something in it changed.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { FleetNode, WorkloadRef } from '../../api/types'
import { hulls, reachable, sameWorkload, spoken } from '../../parts/quay'
import { dressOf } from '../../state/colours'
import { count, number } from '../../words'
import type { Matches } from './filter'
import type { Group } from './groups'

const CELL_PX = 4
const ROW_PX = 9
const GAP_PX = 3
const BAR_PX = 6.5
const FADED = 0.22

interface Props {
  group: Group
  matches: Matches | undefined
  lit: WorkloadRef | undefined
  onSelect: (node: FleetNode) => void
}

export function DensePanel({ group, matches, lit, onSelect }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [width, setWidth] = useState(0)
  const [theme, setTheme] = useState(0)
  const [tip, setTip] = useState<{ x: number; y: number; node: FleetNode } | undefined>()
  const cells = Math.max(1, ...group.nodes.map((node) => node.gpu.total))
  const perRow = Math.max(1, Math.floor((width + GAP_PX) / (cells * CELL_PX + GAP_PX)))
  const step = (width + GAP_PX) / perRow
  const rows = Math.ceil(group.nodes.length / perRow)

  useEffect(() => {
    const element = canvas.current!
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    const repaint = () => setTheme((n) => n + 1)
    addEventListener('themechange', repaint)
    return () => {
      observer.disconnect()
      removeEventListener('themechange', repaint)
    }
  }, [])

  useEffect(() => {
    const element = canvas.current!
    if (!width) return
    const ratio = devicePixelRatio
    element.width = width * ratio
    element.height = rows * ROW_PX * ratio
    const pen = element.getContext('2d')!
    pen.scale(ratio, ratio)
    const style = getComputedStyle(document.documentElement)
    const colour = (name: string) => style.getPropertyValue(name).trim()
    const fills = Array.from({ length: 9 }, (_, i) => colour(`--w${i + 1}`))
    const [line, hatch, meter] = [colour('--berth-line'), colour('--wait'), colour('--ink-3')]
    group.nodes.forEach((node, index) => {
      const x = (index % perRow) * step
      const y = Math.floor(index / perRow) * ROW_PX
      const shown = matches ? matches(node) : true
      pen.globalAlpha = shown ? 1 : FADED
      if (!node.gpu.total) {
        pen.strokeStyle = line
        pen.lineWidth = 0.7
        pen.strokeRect(x + 0.4, y + 0.4, cells * CELL_PX - 1.4, BAR_PX - 0.8)
        pen.fillStyle = meter
        pen.fillRect(x, y, (cells * CELL_PX - 1) * (1 - node.cpu.free / (node.cpu.total || 1)), BAR_PX)
        return
      }
      let cell = 0
      for (const hull of hulls(node.gpu.slots)) {
        pen.globalAlpha = shown && (!lit || sameWorkload(lit, hull.workload)) ? 1 : FADED
        pen.fillStyle = fills[dressOf(hull.workload).fill - 1]!
        pen.fillRect(x + cell * CELL_PX, y, hull.gpus * CELL_PX - 0.7, BAR_PX)
        cell += hull.gpus
      }
      pen.globalAlpha = shown ? 1 : FADED
      const open = reachable(node)
      pen.strokeStyle = open ? line : hatch
      pen.lineWidth = open ? 0.7 : 1
      for (; cell < node.gpu.total; cell++) {
        if (open) pen.strokeRect(x + cell * CELL_PX + 0.4, y + 0.4, CELL_PX - 1.4, BAR_PX - 0.8)
        else {
          pen.beginPath()
          pen.moveTo(x + cell * CELL_PX, y + BAR_PX)
          pen.lineTo(x + cell * CELL_PX + CELL_PX - 0.7, y)
          pen.stroke()
        }
      }
    })
  }, [group.nodes, matches, lit, width, theme, rows])

  const under = (event: MouseEvent) => group.nodes[Math.floor(event.offsetY / ROW_PX) * perRow + Math.floor(event.offsetX / step)]
  return (
    <section class="panel" aria-label={`${group.name}, ${count(group.nodes.length, 'node')}`}>
      <header>
        <h2>{group.name}</h2>
        <span class="muted small">
          {count(group.nodes.length, 'node')}
          {group.product ? ` · ${group.product}` : ''}
        </span>
        <span class="end muted small">{group.total ? `${number(group.free)} of ${number(group.total)} free, largest block ${group.largest}` : 'no GPUs'}</span>
      </header>
      <div class="body dense">
        <canvas
          ref={canvas}
          style={{ height: `${rows * ROW_PX}px` }}
          aria-hidden="true"
          onMouseMove={(event) => {
            const node = under(event)
            setTip(node && { x: event.clientX, y: event.clientY, node })
          }}
          onMouseLeave={() => setTip(undefined)}
          onClick={(event) => {
            const node = under(event)
            if (node) onSelect(node)
          }}
        />
        <ul class="vh">
          {group.nodes.map((node) => (
            <li key={node.name}>{spoken(node)}</li>
          ))}
        </ul>
      </div>
      {tip && (
        <div class="tip" role="tooltip" style={{ left: `${tip.x + 12}px`, top: `${tip.y + 12}px` }}>
          {spoken(tip.node)}
        </div>
      )}
    </section>
  )
}
