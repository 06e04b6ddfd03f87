// The catalogue as a list to search in: name, size, and how many GPUs it wants.
import { useRef, useState } from 'preact/hooks'
import type { Model } from '../../api/types'
import { Icon } from '../../parts/icon'

export function ModelPicker({ models, model, onPick }: { models: readonly Model[]; model: Model | undefined; onPick: (model: Model) => void }) {
  const [text, setText] = useState('')
  const dialog = useRef<HTMLDialogElement>(null)
  const found = models.filter((each) => `${each.id} ${each.name} ${each.parameters ?? ''}`.toLowerCase().includes(text.toLowerCase()))
  const pick = (each: Model) => {
    onPick(each)
    dialog.current?.close()
  }
  return (
    <div class="field">
      <span class="lab" id="model-label">
        Model
      </span>
      <button type="button" class="input model" aria-haspopup="dialog" aria-labelledby="model-label model-name" onClick={() => dialog.current?.showModal()}>
        <span class="grow" id="model-name">
          <span class="lg">{model?.name ?? 'Choose a model'}</span>
          <small>{model ? needs(model) : ''}</small>
        </span>
        <Icon name="down-chev" />
      </button>
      <dialog ref={dialog} class="dialog picker" aria-label="Models">
        <label class="input">
          <Icon name="search" />
          <span class="vh">Search models</span>
          <input autofocus placeholder="Search models" value={text} autocomplete="off" spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} onKeyDown={(event) => event.key === 'Enter' && found[0] && (event.preventDefault(), pick(found[0]))} />
        </label>
        <ul>
          {found.map((each) => (
            <li key={each.id}>
              <button type="button" aria-current={each === model ? 'true' : undefined} onClick={() => pick(each)}>
                <span class="med">{each.name}</span>
                <small>{needs(each)}</small>
              </button>
            </li>
          ))}
          {!found.length && <li class="muted small">No model of the catalogue has this in its name.</li>}
        </ul>
      </dialog>
    </div>
  )
}

function needs(model: Model): string {
  const { gpus, nodes } = model.gpu.recommended
  const where = gpus === 0 ? 'runs on CPU' : nodes > 1 ? `${nodes} nodes with ${gpus} GPUs each` : `${gpus} GPU${gpus === 1 ? '' : 's'} of 80 GiB`
  return [model.parameters && `${model.parameters} parameters`, `${model.weightsGiB} GiB`, where].filter(Boolean).join(', ')
}
