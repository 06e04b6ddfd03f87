// The label selector: one row a label, each with how many nodes carry it and what was probably meant.
import { Icon } from '../../parts/icon'
import { nodes } from '../../state/live'
import { count } from '../../words'
import { answerRow } from './near'

interface Props {
  labels: [string, string][]
  problem: string | undefined
  onChange: (labels: [string, string][]) => void
}

export function SelectorEditor({ labels, problem, onChange }: Props) {
  const set = (index: number, key: string, value: string) => onChange(labels.map((row, i) => (i === index ? [key, value] : row)))
  const keys = [...new Set(nodes.all.value.flatMap((node) => Object.keys(node.labels)))].sort()
  return (
    <div class="sel">
      <span class="lab">
        Nodes with these labels<span class="hint">{labels.length > 1 ? 'all must match' : 'optional'}</span>
      </span>
      {labels.map(([key, value], index) => {
        const answer = answerRow(nodes.all.value, key, value)
        const bad = key !== '' && !answer.matching && nodes.known.value
        return (
          <div key={index}>
            <div class={`pair${bad ? ' bad' : ''}`}>
              <label>
                key
                <input value={key} list="label-keys" spellcheck={false} autocomplete="off" onInput={(event) => set(index, event.currentTarget.value, value)} />
              </label>
              <label>
                value
                <input value={value} list={`label-values-${index}`} spellcheck={false} autocomplete="off" aria-invalid={bad} aria-describedby={`label-said-${index}`} onInput={(event) => set(index, key, event.currentTarget.value)} />
              </label>
              <datalist id={`label-values-${index}`}>
                {[...new Set(nodes.all.value.map((node) => node.labels[key]).filter((each) => each !== undefined))].map((each) => (
                  <option value={each} />
                ))}
              </datalist>
              <button type="button" class="btn icon quiet" aria-label={`Remove the label ${key}`} onClick={() => onChange(labels.filter((_, i) => i !== index))}>
                <Icon name="x" />
              </button>
            </div>
            <div class={`said ${bad ? 'c-bad' : 'muted'}`} id={`label-said-${index}`}>
              {bad ? <Icon name="bad" /> : null}
              <span>
                {key === ''
                  ? 'Type a key that your nodes carry.'
                  : answer.matching
                    ? `${count(answer.matching, 'node')} ${answer.matching === 1 ? 'carries' : 'carry'} it.`
                    : answer.knownKey
                      ? 'No node has this value.'
                      : 'No node has this label.'}
                {answer.nearest && (
                  <>
                    {' '}
                    The nearest is <b class="nowrap">{answer.nearest.value}</b>, on {count(answer.nearest.nodes, 'node')}.
                    <br />
                    <button type="button" class="btn sm" onClick={() => set(index, key, answer.nearest!.value)}>
                      Use {answer.nearest.value}
                    </button>
                  </>
                )}
              </span>
            </div>
          </div>
        )
      })}
      <datalist id="label-keys">
        {keys.map((key) => (
          <option value={key} />
        ))}
      </datalist>
      {problem && (
        <p class="said c-bad" role="alert">
          <Icon name="bad" />
          {problem}
        </p>
      )}
      <div>
        <button type="button" class="btn sm quiet" onClick={() => onChange([...labels, ['', '']])}>
          <Icon name="plus" />
          Add a label
        </button>
      </div>
    </div>
  )
}
