// One node of the landing, chosen: what the placement engine says of the pod on it.
import type { Fit, FleetNode } from '../../api/types'
import { Icon } from '../../parts/icon'
import { count } from '../../words'
import { taintText } from '../fleet/groups'
import { verdictOf } from './node-verdict'

export function ChosenNode({ node, fit, close }: { node: FleetNode; fit: Fit; close: () => void }) {
  const { icon, tone, title, reasons } = verdictOf(node.name, fit)
  return (
    <section class="chosen" aria-label={`Node ${node.name}`}>
      <header>
        <Icon name={icon} tone={tone} />
        <h3>{title}</h3>
        <button type="button" class="btn icon sm quiet end" aria-label="Close" onClick={close}>
          <Icon name="x" />
        </button>
      </header>
      {reasons.length > 0 && (
        <ul>
          {reasons.map((reason) => (
            <li>{reason}</li>
          ))}
        </ul>
      )}
      <p class="muted">
        {node.gpu.total ? `${node.gpu.free} of ${count(node.gpu.total, 'GPU')} free` : 'no GPUs'}
        {node.taints.length ? `, ${node.taints.map((taint) => `taint ${taintText(taint)}`).join(', ')}` : ', no taint'}.{' '}
        <a href={`/?node=${node.name}`}>Show it in the fleet</a>
      </p>
    </section>
  )
}
