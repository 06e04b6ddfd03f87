// Scaling and deleting a workload. Both show the exact change first.
import { useState } from 'preact/hooks'
import { post, remove } from '../../api/client'
import type { Applied, WorkloadDetail, WorkloadScale } from '../../api/types'
import { writeLines } from '../../parts/changes'
import { Confirm } from '../../parts/confirm'
import { Icon } from '../../parts/icon'
import { go } from '../../router'
import { offerUndo } from '../../state/undo'
import { deleteCommand, deleteLines, scaleCommand, scaleWrite } from './changes'

export function Actions({ detail, changed }: { detail: WorkloadDetail; changed: () => void }) {
  const [open, setOpen] = useState<'scale' | 'delete' | undefined>()
  const close = () => setOpen(undefined)
  const going = detail.workload.state === 'Terminating'
  return (
    <div class="row actions">
      {detail.scale && (
        <button type="button" class="btn" disabled={going} onClick={() => setOpen('scale')}>
          Scale
        </button>
      )}
      <button type="button" class="btn" disabled={going} onClick={() => setOpen('delete')}>
        Delete
      </button>
      {open === 'scale' && detail.scale && <ScaleDialog detail={detail} scale={detail.scale} close={close} changed={changed} />}
      {open === 'delete' && <DeleteDialog detail={detail} close={close} />}
    </div>
  )
}

function ScaleDialog({ detail, scale, close, changed }: { detail: WorkloadDetail; scale: WorkloadScale; close: () => void; changed: () => void }) {
  // What was asked of the dialog is about the number that it opened with.
  const [from] = useState(scale)
  const [wanted, want] = useState(scale.replicas)
  const { workload } = detail
  const valid = Number.isInteger(wanted) && wanted >= 0
  const write = scaleWrite(detail, from, wanted)
  const act = async () => {
    offerUndo(`${workload.name} scaled from ${from.replicas} to ${wanted}`, await post<Applied>('/apply', { writes: [write] }))
    changed()
  }
  const same = wanted === from.replicas
  return (
    <Confirm
      title={`Scale ${workload.name}`}
      lines={same || !valid ? [{ tone: '', text: same ? 'Nothing yet: choose another number.' : 'A whole number, 0 or more, is needed.' }] : writeLines(write)}
      verb={same || !valid ? 'Scale' : `Scale from ${from.replicas} to ${wanted}`}
      doing="Scaling"
      command={same || !valid ? undefined : scaleCommand(workload, from, wanted)}
      blocked={same || !valid}
      act={act}
      close={close}
    >
      <div class="field">
        <span class="lab" id="wanted-label">
          {workload.groups ? 'Groups' : workload.kind === 'Job' ? 'Pods at a time' : 'Replicas'}
        </span>
        <div class="stepper" role="group" aria-labelledby="wanted-label">
          <button type="button" aria-label="One less" disabled={!valid || wanted < 1} onClick={() => want(wanted - 1)}>
            <Icon name="minus" />
          </button>
          <input inputMode="numeric" aria-labelledby="wanted-label" autofocus value={Number.isNaN(wanted) ? '' : wanted} onInput={(event) => want(event.currentTarget.value.trim() ? Number(event.currentTarget.value) : NaN)} />
          <button type="button" aria-label="One more" disabled={!valid} onClick={() => want(wanted + 1)}>
            <Icon name="plus" />
          </button>
        </div>
      </div>
    </Confirm>
  )
}

function DeleteDialog({ detail, close }: { detail: WorkloadDetail; close: () => void }) {
  const { kind, namespace, name } = detail.workload
  const { uid } = (detail.manifest as { metadata: { uid: string } }).metadata
  const act = async () => {
    await remove(`/workloads/${kind}/${namespace}/${name}?uid=${uid}`)
    go('/workloads')
  }
  return (
    <Confirm title={`Delete ${name}`} lines={deleteLines(detail)} verb={`Delete ${name}`} doing="Deleting" grave command={deleteCommand(detail.workload)} act={act} close={close}>
      <p class="soft">This cannot be undone. The manifest on this page is what it takes to make it again.</p>
    </Confirm>
  )
}
